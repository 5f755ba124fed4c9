import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { createQuarantine } from '../../../../worker/pipeline/quarantine.ts';
import { closeloop } from '../../../support/processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('the process for suspected jobs runs by the configuration that was started, not by what the file holds by now (audit 21)', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-quarantine-'));
  const feedback = await startFeedbackStandin({ seed: true });
  const file = join(dir, 'closeloop.yaml');
  const started = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
sources:
  jobs:
    connector: webhook
    signature: { kind: token, header: x-token, secrets: [a-token-of-some-length] }
    event: { record: id, id: id, closed: 'state = "closed"' }
    rules: [{ name: all, campaign: 12, contact: email }]
`;
  // Edited since, and not started.
  writeFileSync(file, started.replace('demo-key', 'another-key').replace('jobs:', 'renamed:'));
  const command = [process.execPath, closeloop, 'quarantine', '--config', file, '--data', dir] as const;
  const quarantine = createQuarantine([...command], started);
  onTestFinished(async () => {
    quarantine.close();
    await feedback.close();
    rmSync(dir, { recursive: true, force: true });
  });
  expect(await quarantine.run({ source: 'collect', stage: 'collect', data: { campaign: 12 } })).toEqual({ do: 'done' });
  // A source that only the file has by now is unknown to it.
  const unknown = quarantine.run({ source: 'renamed', stage: 'plan', data: {} });
  await expect(unknown).rejects.toThrow('source renamed has no stage plan');
});

/** A child that was told its configuration, and whose parent ends before it has opened anything. */
async function startedAndLeft(socket: string): Promise<{ ending: unknown; said: string }> {
  const config = `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${socket} }
sources:
  jobs:
    connector: webhook
    signature: { kind: token, header: x-token, secrets: [a-token-of-some-length] }
    event: { record: id, id: id, closed: 'state = "closed"' }
    rules: [{ name: all, campaign: 12, contact: email }]
`;
  const child = spawn(process.execPath, [closeloop, 'quarantine', '--config', 'started.yaml'], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (!child.stderr) return expect.unreachable();
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const ended = Promise.all([once(child, 'exit'), once(child.stderr, 'close')]);
  await new Promise((resolve) => child.send({ config }, resolve));
  child.disconnect();
  const [ending] = await ended;
  return { ending, said };
}

test('the process for suspected jobs ends without a word when its parent is killed while it starts', async () => {
  expect(await startedAndLeft(redis.socket)).toEqual({ ending: [0, null], said: '' });
});

test('the process for suspected jobs ends with its parent also where Redis is gone', async () => {
  expect(await startedAndLeft(join(tmpdir(), 'nobody-listens-here.sock'))).toMatchObject({ ending: [0, null] });
});
