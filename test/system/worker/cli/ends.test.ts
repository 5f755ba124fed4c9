import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { deskConfiguration } from '../../../support/configurations.ts';
import { testFolder } from '../../../support/folder.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const [runtime, connectors] = ['worker/cli/runtime.ts', 'connectors/built-in.ts'].map((file) =>
  resolve(import.meta.dirname, '../../../..', file),
);

/** What a command does with Redis, and then what still keeps its process alive. */
const script = `
import { once } from 'node:events';
import { builtIn as connectors } from '${connectors}';
import { openForNow } from '${runtime}';
const runtime = await openForNow({ config: process.argv[1], data: '.', connectors });
const closed = once(runtime.redis, 'end');
await runtime.close();
await closed;
process.stdout.write(JSON.stringify(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')));
`;

test('a command ends as soon as its work is done: no timer is left of its waiting for Redis', async () => {
  const dir = testFolder();
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, deskConfiguration(redis));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, config]);
  expect(JSON.parse(stdout)).toEqual([]);
});
