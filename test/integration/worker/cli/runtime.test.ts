import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { maskContact } from '../../../../worker/cli/contact.ts';
import { openRedis, openRuntime } from '../../../../worker/cli/runtime.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { useFolder } from '../../../support/folder.ts';
import { memoryLog, until } from '../../../support/loop.ts';
import { serverCache } from '../../../support/redis-cache.ts';
import { startService } from '../../../support/service.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const dir = useFolder();

const { connector, builtIn } = new ToyVendor();
const text = `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: key, timeZone: Europe/Tallinn }
sources: { shop: { connector: toy, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] } }
`;
const config = loadConfig(text, { env: {}, connectors: [connector] });

test('a command that does one thing gives up when Redis does not answer; a start goes on trying', async () => {
  const file = join(dir, 'closeloop.yaml');
  writeFileSync(file, `${text}redis: redis://127.0.0.1:9/0\n`);
  const options = { config: file, data: dir, connectors: [builtIn], json: true };
  await expect(check(options)).rejects.toThrow(/Redis does not answer: check "redis"/);
  const { log, told } = memoryLog();
  const runtime = await openRuntime(options, log);
  // A line of its log, as all that a process tells: readers of JSON lines know no other.
  const line = await until(() => told[0]);
  expect(line).toMatchObject({ level: 'warn', message: expect.stringMatching(/^Redis does not answer .*trying on/) });
  await runtime.close();
});

test('an erased address leaves the file of the embedded Redis', async () => {
  const data = join(dir, 'embedded');
  const runtime = await openRedis(config, data, { cache: serverCache, say: () => undefined });
  const files = join(data, 'data', 'appendonlydir');
  const written = () =>
    readdirSync(files)
      .map((name) => readFileSync(join(files, name), 'latin1'))
      .join('');
  await runtime.redis.set('anything', 'erika@example.com');
  await runtime.redis.del('anything');
  expect(written()).toContain('erika@example.com');
  const service = await startService();
  const file = join(dir, 'mask.yaml');
  writeFileSync(file, text.replace('http://127.0.0.1:9', service.url).replace('apiKey: key', 'apiKey: demo-key'));
  const options = { config: file, data, connectors: [builtIn], json: true };
  await maskContact({ ...options, contact: 'erika@example.com', yes: true });
  await until(() => !written().includes('erika@example.com'));
  await runtime.close();
});
