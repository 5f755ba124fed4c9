import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { replayJourneys } from '../../../../worker/cli/repair.ts';
import { status } from '../../../../worker/cli/status.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('status shows journeys by state, what waits and what webhooks missed', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.asked('a');
  await redis.handle.client.hset(`{cl:${loop.store.source}}:poll`, 'missed', 3, 'doneAt', Date.now());
  const { rows, code } = await printed(() => status(beside(loop)));
  expect(code).toBe(1);
  expect(rows).toMatchObject([
    {
      source: loop.store.source,
      journeys: { asked: 1 },
      paused: [],
      poll: { missed: 3 },
      queues: { plan: { waiting: 0, running: 0, delayed: 0 } },
    },
    { processes: [], problems: ['no process runs: "closeloop start" does the work'] },
  ]);
});

test('status shows what waits for a person, and why; what waits to be planned stands in a queue (audit 36) (audit 37)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { source } = loop.store;
  loop.vendor.results.push({ ok: true, findings: ['the field Score has no option 4: add it.'] });
  const { requestId } = await loop.asked('a');
  loop.feedback.standin.answer({ request: Number(requestId), grade: 4 });
  await loop.journey('a.1', 'parked');
  const why = 'the record does not hold all of the answer: the field Score has no option 4: add it.';
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows[0]).toMatchObject({ journeys: { parked: 1 }, parked: [{ journey: `${source}/a.1`, why }] });
  const { out } = await printed(() => status({ ...beside(loop), json: false }));
  expect(stripVTControlCharacters(out)).toContain(`parked      ${source}/a.1: ${why}`);
  expect(out).toContain('queue       nothing waits to be planned');
  // Mended, it is taken up again with all that are parked.
  await printed(() => replayJourneys({ ...beside(loop), source, state: 'parked' }));
  await loop.journey('a.1', 'written');
});

test('status shows how many of seven days were asked, and how many of them answered', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  for (const id of ['a', 'b', 'c']) await loop.post(loop.vendor.close(id).delivery);
  for (const id of ['a', 'b', 'c']) await loop.journey(`${id}.1`, 'asked');
  loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
  await loop.journey('a.1', 'written');
  // Asked eight days ago.
  const key = `{cl:${loop.store.source}}:counts:${new Date(Date.now() - 8 * 86_400_000).toISOString().slice(0, 10)}`;
  await redis.handle.client.hset(key, 'asked:41:12', 1);
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows[0]).toMatchObject({ lastWeek: { asked: 3, answered: 1, responseRate: 1 / 3 } });
  const { out } = await printed(() => status({ ...beside(loop), json: false }));
  expect(out).toContain('7 days      asked 3 · answered 1 · response rate 33 %');
});

test('status counts the deliveries that were refused, by reason, and shows that grades stand still (audit 29)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  for (let i = 0; i < 3; i++) await loop.post('[]', { 'x-toy-secret': 'forged' });
  await loop.post('[]', { 'x-toy-secret': '' });
  await loop.app.close();
  await redis.handle.client.hset('{cl}:paused', 'collect', JSON.stringify({ why: 'no key', at: new Date() }));
  const { rows } = await until(async () => {
    const shown = await printed(() => status(beside(loop)));
    return /does not match":4/.test(shown.out) && shown;
  });
  await redis.handle.client.del('{cl}:paused');
  const forged = 'the signature does not match';
  expect(rows).toMatchObject([
    { source: loop.store.source, refused: { [forged]: 4 }, lastRefusal: { why: forged } },
    { source: 'collect', paused: [{ stage: 'collect', why: 'no key' }] },
    { processes: [] },
  ]);
});
