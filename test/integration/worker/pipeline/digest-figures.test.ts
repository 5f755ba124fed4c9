import { expect, test } from 'vitest';
import { figuresOf } from '../../../../worker/pipeline/sweeping.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const dayMs = 86_400_000;

test('a week has those who were asked in it, who answered, what was given up, and what waits for a person', async () => {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, { source: 'weekly' });
  for (const id of ['a', 'b']) {
    await loop.post(loop.vendor.close(id).delivery);
    await loop.journey(`${id}.1`, 'asked');
  }
  loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
  await loop.journey('a.1', 'written');
  const pipeline = loop.app.engine.pipelines.get('weekly');
  await pipeline?.pauses.set('erase', 'the key is inactive');
  const around = (days: number) => {
    const until = new Date(Date.now() + days * dayMs);
    return { from: new Date(until.getTime() - 7 * dayMs), until };
  };
  const { pipelines } = loop.app.engine;
  const now = { givenUp: 0, parked: 0, stopped: ['erase: the key is inactive'] };
  expect(await figuresOf(pipelines, around(1))).toEqual([
    { source: 'weekly', asked: 2, answered: 1, rate: 0.5, ...now },
  ]);
  expect(await figuresOf(pipelines, around(-1))).toEqual([
    { source: 'weekly', asked: 0, answered: 0, rate: null, ...now },
  ]);
  await loop.close();
});
