import { expect, test } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../../../../standins/feedback/standin.ts';
import { askedInKey, seenKey } from '../../../../../worker/redis/keys.ts';
import { startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';

const redis = useRedis();

/** The last pass over campaign 12 would tell a change from this. */
async function seen(): Promise<string | undefined> {
  const stored = await redis.handle.client.get(seenKey(12));
  return stored === null ? undefined : JSON.parse(stored).stats;
}

const strangers: [what: string, request: object][] = [
  ['another contact', { campaign: 12, email: 'stranger@example.com' }],
  ['another campaign', { campaign: 112, email: 'a@example.com' }],
];
test.each(strangers)(
  'an answer is left, and told, whose request is of %s than its journey (audit 9)',
  async (_, given) => {
    await redis.handle.client.flushall();
    const loop = await startLoop(redis, { source: 'collect', general: alerting });
    loop.feedback.standin.addCampaign({ account: 'acme', id: 112, name: 'Other', type: 'mixed' });
    for (const id of ['a', 'whole']) {
      await loop.post(loop.vendor.close(id).delivery);
      await loop.journey(`${id}.1`, 'asked');
    }
    const made = await fetch(`${loop.feedback.url}/api/appeals/`, {
      method: 'POST',
      headers: { authorization: 'Token demo-key', 'content-type': 'application/json' },
      body: JSON.stringify({ ...given, scheduled: new Date(Date.now() - 3_600_000).toISOString() }),
    });
    const { id } = Made.parse(await made.json());
    // As where the journey's id was given in another account.
    await loop.store.update('a.1', (now) => ({ journey: { ...now, requestId: String(id) }, trace: [] }));
    await redis.handle.client.zadd(askedInKey, Date.now(), '112');
    loop.feedback.standin.answer({ request: id, grade: 1, comment: 'I have never been there' });
    loop.feedback.standin.answer({ contact: 'whole@example.com', grade: 4 });
    await loop.journey('whole.1', 'written');
    const told = await until(() =>
      loop.told.find(({ message }) => message.includes('answers were left at the service')),
    );
    expect(told).toMatchObject({ level: 'error', fields: { answers: 1, journeys: ['collect/a.1'] } });
    expect(JSON.stringify(told)).not.toMatch(/stranger|never been/);
    // Raised just after that line.
    const alerts = await until(async () => {
      const raised = await redis.handle.client.hvals('{cl}:alerts:what');
      return raised.length > 0 && raised;
    });
    expect(alerts).toMatchObject([expect.stringContaining('answers were left at the service')]);
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'asked' });
    expect(loop.vendor.written.map(({ recordId }) => recordId)).toEqual(['whole']);
    await loop.close();
  },
);
const Made = z.object({ id: z.number() });
const alerting = 'alerts: { url: "http://127.0.0.1:9/", secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLhSN] }';

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
  await redis.handle.client.set('{cl:collect}:journey:broken.1', '9 asked of-another-version');
  for (const id of ['broken', 'whole']) loop.feedback.standin.answer({ contact: `${id}@example.com`, grade: 4 });
  await loop.journey('whole.1', 'written');
  const isTold = ({ fields }: { fields: Record<string, unknown> }) => fields.journey === 'collect/broken.1';
  await until(() => loop.told.filter(({ level }) => level === 'error').some(isTold));
  await loop.close();
});

test.each(['not even JSON', '{"stats":7}'])(
  'what was remembered of the last pass and can not be read is set aside, and the pass reads all: %s (audit 18)',
  async (text) => {
    await redis.handle.client.flushall();
    // What a service's earlier passes left is forgotten with the first loop on it.
    const feedback = await startFeedbackStandin({ seed: true });
    await (await startLoop(redis, { source: 'aside', feedback })).close();
    await redis.handle.client.set(seenKey(12), text);
    const loop = await startLoop(redis, { source: 'aside', feedback });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
    await loop.journey('a.1', 'written');
    expect(await redis.handle.client.get(`${seenKey(12)}:unreadable`)).toBe(text);
    expect(loop.told).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringMatching(/begun anew/) }),
    );
    await loop.close();
    await feedback.close();
  },
);
