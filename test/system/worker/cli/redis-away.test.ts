import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shopConfiguration } from '../../../support/configurations.ts';
import { testFolder } from '../../../support/folder.ts';
import { background, command } from '../../../support/processes.ts';
import { startService } from '../../../support/service.ts';
import { startServer } from '../../redis-outages/servers.ts';

/** Of deploy/: whoever ends a process waits so long before it is killed. */
const killedAfterMs = 35_000;

const ways = ['kill', 'freeze'] as const;
test.each(ways)("with one's own Redis away (%s) the page and commands say so; a process ends", async (away) => {
  const server = await startServer();
  const feedback = await startService();
  const dir = testFolder();
  const config = join(dir, 'closeloop.yaml');
  const key = Buffer.alloc(32, 1).toString('base64');
  writeFileSync(config, `${shopConfiguration(server, feedback.url)}secretsKey: ${key}\ndashboard: { port: 0 }\n`);
  const where = ['--config', config, '--data', dir];
  const running = background(['start', ...where]);
  onTestFinished(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
    await server.stop();
  });
  await running.says(/"msg":"started"/);
  const page = /"dashboard":"([^"]+)"/.exec(running.output())?.[1] ?? expect.fail('no page');
  expect((await fetch(page)).status).toBe(200);
  await server[away]();

  const shown = await fetch(page);
  expect([shown.status, await shown.text()]).toEqual([503, expect.stringContaining('Redis does not answer')]);

  const { code, err } = await command(['status', ...where]);
  expect([code, err]).toEqual([5, expect.stringContaining('Redis does not answer: check "redis"')]);

  const late = setTimeout(() => running.child.kill('SIGKILL'), killedAfterMs);
  expect(await running.stop()).toBe(0);
  clearTimeout(late);
});
