import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storedAsKey } from '../../../worker/redis/keys.ts';
import { storedNames } from '../../../worker/sources/stored-names.ts';
import { shopConfiguration } from '../../support/configurations.ts';
import { testFolder } from '../../support/folder.ts';
import { startLoop, until } from '../../support/loop.ts';
import { background } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { sealOf } from '../../support/seal.ts';
import { startService } from '../../support/service.ts';

const redis = useRedis();
const dataKey = '{cl}:data-key';

test('Redis is emptied under a running loop: it goes on, and a loop that starts beside it reads what it stores (audit twice)', async () => {
  const loop = await startLoop(redis, { source: 'emptied' });
  await loop.asked('a');
  await redis.handle.client.flushall();
  await until(() => loop.told.some(({ level, message }) => level === 'error' && message.includes('was emptied')));
  const { delivery } = loop.vendor.close('b');
  expect((await loop.post(delivery)).status).toBe(202);
  await loop.journey('b.1', 'asked');
  const other = await startLoop(redis, { source: 'emptied', vendor: loop.vendor, feedback: loop.feedback });
  expect(await other.store.get('b.1')).toMatchObject({ state: 'asked' });
  // Told of once more, at the other one's door, by another webhook.
  await other.post(loop.vendor.delivery([{ kind: 'closed', id: 'b', at: new Date(), key: 'again' }]));
  await until(async () => (await other.store.trace('b.1')).some(({ text }) => text.includes('another webhook')));
  expect(await other.store.lists.counts()).toMatchObject({ asked: 1, received: 0, waiting: 0 });
});

test('what a renamed source is stored as is put back with the key, long before a sweep', async () => {
  const { client } = redis.handle;
  await client.hset(storedAsKey, 'renamed', 'first-name');
  const loop = await startLoop(redis, { source: 'renamed', sweepEveryMs: 3_600_000 });
  // The first sweep, which also stores it, is over by then.
  await loop.asked('c');
  await client.flushall();
  await until(async () => (await storedNames(client)).get('renamed') === 'first-name');
});

test('a process whose Redis began anew with another key ends, and says what to do (audit twice)', async () => {
  const { client } = redis.handle;
  await client.flushall();
  const service = await startService();
  const dir = testFolder();
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, shopConfiguration(redis, service.url));
  await sealOf(client);
  const anew = (await client.get(dataKey)) ?? expect.fail('no key');
  await client.del(dataKey);
  const running = background(['start', '--config', config, '--data', dir]);
  await running.says(/started/);
  const its = await sealOf(client);
  await client.multi().flushall().set(dataKey, anew).exec();
  expect([await running.ended, running.errors()]).toEqual([2, expect.stringMatching(/start this process again/)]);
  expect((await sealOf(client)).open(its.seal('text'))).toBe('text');
});
