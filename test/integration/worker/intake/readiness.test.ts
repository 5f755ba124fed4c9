import { expect, test } from 'vitest';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

const refusals: [what: string, begin: string[][], end: string[][]][] = [
  ['its memory is full', [['CONFIG', 'SET', 'maxmemory', '1']], [['CONFIG', 'SET', 'maxmemory', '0']]],
  [
    'it has too few replicas',
    [['CONFIG', 'SET', 'min-replicas-to-write', '1']],
    [['CONFIG', 'SET', 'min-replicas-to-write', '0']],
  ],
  ['it is a replica now', [['REPLICAOF', '127.0.0.1', '1']], [['REPLICAOF', 'NO', 'ONE']]],
];
test.each(refusals)('a Redis that answers but takes no writes is not ready: %s (audit 31)', async (_, begin, end) => {
  const loop = await startLoop(redis, { source: 'unwritable' });
  const ready = async () => {
    const answer = await fetch(`${loop.app.url}/readyz`);
    return [answer.status, await answer.json()];
  };
  const { client } = redis.handle;
  expect(await ready()).toEqual([200, { ok: true, reasons: [] }]);
  try {
    for (const [name = '', ...args] of begin) await client.call(name, ...args);
    const refused = await until(async () => {
      const [status, body] = await ready();
      return status === 503 && body;
    });
    expect(refused).toEqual({ ok: false, reasons: [expect.stringMatching(/^redis-(takes-no-writes|away)$/)] });
    expect((await loop.post(loop.vendor.close('x').delivery)).status).toBe(503);
  } finally {
    for (const [name = '', ...args] of end) await client.call(name, ...args);
  }
  await until(async () => (await ready())[0] === 200);
});

test('/readyz tells nobody the names of sources, nor why something is stopped (audit 31)', async () => {
  const loop = await startLoop(redis, { source: 'acme-secret-project' });
  const { pauses } = loop.app.engine.pipelines.get('acme-secret-project') ?? expect.fail('no pipeline');
  await pauses.set('plan', 'the key of acme-secret-project has been revoked');
  const answer = await fetch(`${loop.app.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([200, { ok: false, reasons: ['paused'] }]);
});

test('however often it is asked, one look at a time is made (audit 31)', async () => {
  const loop = await startLoop(redis, { source: 'asked-often' });
  const writes = async () =>
    Number(/cmdstat_set:calls=(\d+)/.exec(await redis.handle.client.info('commandstats'))?.[1] ?? 0);
  const before = await writes();
  await Promise.all(Array.from({ length: 200 }, () => fetch(`${loop.app.url}/readyz`)));
  expect((await writes()) - before).toBeLessThan(50);
});
