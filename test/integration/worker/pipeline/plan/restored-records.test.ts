import { expect, test } from 'vitest';
import { type Loop, startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';

const redis = useRedis();
const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';

const idle = (loop: Loop) => until(async () => (await loop.app.engine.busy()) === 0);
const lines = async (loop: Loop, id: string) => (await loop.store.trace(id)).map(({ text }) => text).join('\n');
const requests = (loop: Loop, id: string) => loop.feedback.standin.requests({ contact: `${id}@example.com` });

test('a record that was deleted before its customer was asked, and is back, asks once (audit 22)', async () => {
  const loop = await startLoop(redis, { source: 'restored-1', rule });
  const { at, delivery } = loop.vendor.close('a1');
  await loop.post(delivery);
  await loop.journey('a1.1', 'waiting');
  const record = loop.vendor.records.get('a1') ?? expect.fail('no record');
  loop.vendor.records.delete('a1');
  await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'a1', at: new Date(at.getTime() + 1) }]));
  await loop.journey('a1.1', 'cancelled');
  // Late repetitions find it deleted still.
  await loop.post(delivery);
  await idle(loop);
  expect((await loop.store.records.journeysOf('a1')).map(({ id, state }) => [id, state])).toEqual([
    ['a1.1', 'cancelled'],
  ]);
  loop.vendor.records.set('a1', record);
  const back = [2, 3].map((ms) => ({ kind: 'closed' as const, id: 'a1', at: new Date(at.getTime() + ms) }));
  await Promise.all(back.map((event) => loop.post(loop.vendor.delivery([event]))));
  await loop.journey('a1.1', 'waiting');
  await loop.hoursPass(1);
  await loop.journey('a1.1', 'asked');
  await idle(loop);
  expect(requests(loop, 'a1')).toHaveLength(1);
  expect((await lines(loop, 'a1.1')).match(/taken up again/g)).toHaveLength(1);
  await loop.close();
});

test('a record that is found deleted when its customer is to be asked, and is back, asks once (audit 22)', async () => {
  const loop = await startLoop(redis, { source: 'restored-2', rule });
  const { at, delivery } = loop.vendor.close('b1');
  await loop.post(delivery);
  await loop.journey('b1.1', 'waiting');
  const record = loop.vendor.records.get('b1') ?? expect.fail('no record');
  loop.vendor.records.delete('b1');
  await loop.hoursPass(1);
  await loop.journey('b1.1', 'cancelled');
  loop.vendor.records.set('b1', record);
  await loop.post(loop.vendor.delivery([{ kind: 'closed', id: 'b1', at: new Date(at.getTime() + 1) }]));
  await loop.journey('b1.1', 'asked');
  expect(requests(loop, 'b1')).toHaveLength(1);
  await loop.close();
});

test('a record whose customer was asked before it was deleted does not ask again when it is back (audit 22)', async () => {
  const loop = await startLoop(redis, { source: 'restored-3' });
  const { at, delivery } = loop.vendor.close('c1');
  await loop.post(delivery);
  await loop.journey('c1.1', 'asked');
  const record = loop.vendor.records.get('c1') ?? expect.fail('no record');
  loop.vendor.records.delete('c1');
  await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'c1', at: new Date(at.getTime() + 1) }]));
  await idle(loop);
  loop.vendor.records.set('c1', record);
  await loop.post(loop.vendor.delivery([{ kind: 'closed', id: 'c1', at: new Date(at.getTime() + 2) }]));
  await idle(loop);
  expect(requests(loop, 'c1')).toHaveLength(1);
  expect((await loop.store.records.journeysOf('c1')).map(({ id }) => id)).toEqual(['c1.1']);
  await loop.close();
});
