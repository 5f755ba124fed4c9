import { expect, test } from 'vitest';
import { seenKey } from '../../../worker/stages/collect.ts';
import { useRedis } from '../../redis.ts';
import { startLoop, until } from '../harness.ts';

const redis = useRedis();

/** The last pass over campaign 12 would tell a change from this. */
async function seen(): Promise<string | undefined> {
  const stored = await redis.handle.client.get(seenKey(12));
  return stored === null ? undefined : JSON.parse(stored).stats;
}

const ages: [what: string, minutes: number, isRemembered: boolean][] = [
  ['a request that was just made: its journey may not know it yet', 0, false],
  ["a request that was made long ago: it is somebody else's", 60, true],
];
test.each(ages)('it looks again, or not, when it meets the answer to %s', async (_, minutes, isRemembered) => {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, { source: `collect-${minutes}` });
  const email = `c${minutes}@example.com`;
  const scheduled = new Date(Date.now() - minutes * 60_000).toISOString();
  const made = await fetch(`${loop.feedback.url}/api/appeals/`, {
    method: 'POST',
    headers: { authorization: 'Token demo-key', 'content-type': 'application/json' },
    body: JSON.stringify({ campaign: 12, email, scheduled }),
  });
  expect(made.status).toBe(201);
  loop.feedback.standin.answer({ contact: email, grade: 4 });
  const stats = await until(async () => {
    const now = await seen();
    return (isRemembered ? now !== undefined && /^\[1,/.test(now) : now === '') && { now };
  });
  expect(stats.now === '').toBe(!isRemembered);
  await loop.close();
});

test('a journey that can not be read keeps no grade from the others', async () => {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, { source: 'collect' });
  for (const id of ['broken', 'whole']) {
    await loop.post(loop.vendor.close(id).delivery);
    await loop.journey(`${id}.1`, 'asked');
  }
  await redis.handle.client.hset('{cl:collect}:journey:broken.1', 'data', '{"state":"of another version"}');
  for (const id of ['broken', 'whole']) loop.feedback.standin.answer({ contact: `${id}@example.com`, grade: 4 });
  await loop.journey('whole.1', 'written');
  const isTold = ({ fields }: { fields: Record<string, unknown> }) => fields.journey === 'collect/broken.1';
  expect(loop.told.filter(({ level }) => level === 'error').some(isTold)).toBe(true);
  await loop.close();
});

test.each(['not even JSON', '{"stats":7}'])(
  'what was remembered of the last pass and can not be read is set aside, and the pass reads all: %s (audit 18)',
  async (text) => {
    await redis.handle.client.flushall();
    await redis.handle.client.set(seenKey(12), text);
    const loop = await startLoop(redis, { source: 'aside' });
    await redis.handle.client.set(seenKey(12), text);
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
    await loop.journey('a.1', 'written');
    expect(await redis.handle.client.get(`${seenKey(12)}:unreadable`)).toBe(text);
    expect(loop.told).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringMatching(/begun anew/) }),
    );
    await loop.close();
  },
);
