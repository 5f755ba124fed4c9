import { Queue } from 'bullmq';
import { describe, expect, test } from 'vitest';
import { Pauses } from '../../../../worker/operations/pauses.ts';
import { memoryLog } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
let sources = 0;

function fresh() {
  const source = `pauses-${++sources}`;
  const tag = `{cl:${source}}`;
  const open = () => {
    const { log, told } = memoryLog();
    return { pauses: new Pauses(redis.handle.client, tag, source, log), told };
  };
  const queue = new Queue('plan', { prefix: tag, connection: redis.handle.bull() });
  /** As if it had been stopped that long ago. */
  const age = async (ms: number) => {
    const at = new Date(Date.now() - ms);
    await redis.handle.client.hset(`${tag}:paused`, 'plan', JSON.stringify({ why: 'the key is inactive', at }));
  };
  return { source, open, queue, age };
}

test('it tells a reason once over all processes, and a new one again', async () => {
  const { source, open } = fresh();
  const [one, other] = [open(), open()];
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).pauses.set('plan', 'the key is inactive')),
  );
  expect([...one.told, ...other.told]).toEqual([
    {
      level: 'error',
      fields: { source, stage: 'plan', why: 'the key is inactive' },
      message: expect.stringContaining('paused'),
    },
  ]);
  await one.pauses.set('plan', 'the campaign is gone');
  await one.pauses.set('ask', 'the campaign is gone');
  expect([...one.told, ...other.told]).toHaveLength(3);
  expect((await other.pauses.list()).map(({ stage, why }) => [stage, why]).sort()).toEqual([
    ['ask', 'the campaign is gone'],
    ['plan', 'the campaign is gone'],
  ]);
});

test('clear lets everything run again, and the same reason be told again', async () => {
  const { open, queue } = fresh();
  const { pauses, told } = open();
  await queue.pause();
  await pauses.set('plan', 'the key is inactive');
  await pauses.clear([queue]);
  expect([await queue.isPaused(), await pauses.list()]).toEqual([false, []]);
  await pauses.set('plan', 'the key is inactive');
  expect(told).toHaveLength(2);
  await queue.close();
});

test('it tells the same reason again when it had gone well in between', async () => {
  const { open } = fresh();
  const { pauses, told } = open();
  await pauses.set('poll', 'the key is inactive');
  await pauses.lift('poll');
  await pauses.set('poll', 'the key is inactive');
  expect(told.filter(({ level }) => level === 'error')).toHaveLength(2);
});

test('it tells whoever wants to know at least once, though Redis was lost in between', async () => {
  const { source } = fresh();
  const heard: string[] = [];
  let isLost = true;
  const pauses = new Pauses(redis.handle.client, `{cl:${source}}`, source, memoryLog().log, async (stage, why) => {
    if (isLost) throw new Error('Connection is closed.');
    heard.push(`${stage}: ${why}`);
  });
  await expect(pauses.set('plan', 'the key is inactive')).rejects.toThrow('closed');
  isLost = false;
  for (let i = 0; i < 3; i++) await pauses.set('plan', 'the key is inactive');
  expect(heard).toEqual(['plan: the key is inactive']);
});

describe('probe', () => {
  test('it has the same reason told again once a round went well', async () => {
    const { open, queue, age } = fresh();
    const { pauses, told } = open();
    await queue.pause();
    await pauses.set('plan', 'the key is inactive');
    await age(3_600_000);
    for (let i = 0; i < 2; i++) await pauses.probe([queue]);
    expect(await pauses.list()).toEqual([]);
    await pauses.set('plan', 'the key is inactive');
    expect(told.filter(({ level }) => level === 'error')).toHaveLength(2);
    await queue.close();
  });

  test('it tries a stage again though the clock was set back since it stopped', async () => {
    const { open, queue, age } = fresh();
    const { pauses } = open();
    await queue.pause();
    await age(-5 * 3_600_000);
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(false);
    await queue.close();
  });

  test('it leaves a stage alone that was stopped a moment ago', async () => {
    const { open, queue, age } = fresh();
    const { pauses } = open();
    await queue.pause();
    await age(60_000);
    await pauses.probe([queue]);
    expect([await queue.isPaused(), (await pauses.list()).length]).toEqual([true, 1]);
    await queue.close();
  });

  test('it tries one stopped long ago again, says nothing when that fails, and forgets it when it goes well', async () => {
    const { open, queue, age } = fresh();
    const { pauses, told } = open();
    await queue.pause();
    await pauses.set('plan', 'the key is inactive');
    expect(told.splice(0)).toHaveLength(1);
    await age(3_600_000);
    await pauses.probe([queue]);
    expect([await queue.isPaused(), (await pauses.list()).length]).toEqual([false, 1]);

    await queue.pause();
    await pauses.set('plan', 'the key is inactive');
    await pauses.probe([queue]);
    expect([await queue.isPaused(), told]).toEqual([true, []]);

    await age(3_600_000);
    await pauses.probe([queue]);
    await pauses.probe([queue]);
    expect([await queue.isPaused(), await pauses.list()]).toEqual([false, []]);
    await queue.close();
  });

  test('it makes a stage known that stands still and that nobody knows of, and lets it try again in its time', async () => {
    const { open, queue, age } = fresh();
    const { pauses, told } = open();
    // Another start cleared what was told of before the one who told it got to stop the queue.
    await pauses.set('plan', 'the key is inactive');
    await pauses.clear([queue]);
    await queue.pause();
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(true);
    expect(await pauses.list()).toMatchObject([{ stage: 'plan', why: expect.stringContaining('stood still') }]);
    expect(told.filter(({ level }) => level === 'error')).toHaveLength(2);
    await age(3_600_000);
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(false);
    await queue.close();
  });

  test('it takes no reason away from a stage that stops in the middle of it', async () => {
    const { open, queue } = fresh();
    const { pauses } = open();
    const { isPaused } = queue;
    queue.isPaused = async () => {
      await pauses.set('plan', 'the key is inactive');
      await queue.pause();
      return await isPaused.call(queue);
    };
    await pauses.probe([queue]);
    expect(await pauses.list()).toMatchObject([{ stage: 'plan', why: 'the key is inactive' }]);
    await queue.close();
  });

  test('it leaves the stages of others alone', async () => {
    const { open, age } = fresh();
    const { pauses } = open();
    await age(3_600_000);
    await pauses.probe([]);
    expect(await pauses.list()).toHaveLength(1);
  });
});
