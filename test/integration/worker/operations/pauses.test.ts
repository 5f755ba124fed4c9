import { Queue } from 'bullmq';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
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
  onTestFinished(() => queue.close());
  /** As if its last attempt had been long ago. */
  const age = async () => await redis.handle.client.del(`${tag}:paused:turn:plan`);
  const first = open();
  /** As where a job met this mistake. */
  const stop = async () => {
    await queue.pause();
    await first.pauses.set('plan', 'the key is inactive');
  };
  return { source, open, queue, age, stop, ...first };
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
  const { queue, pauses, told, stop } = fresh();
  await stop();
  await pauses.clear([queue]);
  expect([await queue.isPaused(), await pauses.list()]).toEqual([false, []]);
  await pauses.set('plan', 'the key is inactive');
  expect(told).toHaveLength(2);
});

test('a step that a person resumes is not taken by the sweep of another process for a queue that nobody knows to be stopped', async () => {
  const { source, open, queue } = fresh();
  const [resuming, sweeping] = [open(), open()];
  const other = new Queue('plan', { prefix: `{cl:${source}}`, connection: redis.handle.bull() });
  await resuming.pauses.pause('plan', { why: 'a wrong text', by: 'anna@shop', at: new Date() }, queue);
  // Between the end of the pause and the queue's own, which is where another process may sweep.
  const resume = queue.resume.bind(queue);
  vi.spyOn(queue, 'resume').mockImplementationOnce(async () => {
    await sweeping.pauses.probe([other]);
    await resume();
  });
  await resuming.pauses.resume('plan', queue);
  expect([await queue.isPaused(), await sweeping.pauses.list()]).toEqual([false, []]);
  await other.close();
});

test('a start that clears a stop is not taken by the sweep of another process for a queue that nobody knows to be stopped', async () => {
  const { open, queue } = fresh();
  const [starting, sweeping] = [open(), open()];
  for (let round = 0; round < 50; round++) {
    await queue.pause();
    await starting.pauses.set('plan', 'the key is inactive');
    await Promise.all([starting.pauses.clear([queue]), sweeping.pauses.probe([queue])]);
    await starting.pauses.clear([queue]);
  }
  expect(sweeping.told.filter(({ level }) => level === 'error')).toEqual([]);
});

test('it tells the same reason again when it had gone well in between', async () => {
  const { pauses, told } = fresh();
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
  test('it has the same reason told again once a job came through', async () => {
    const { queue, age, pauses, told, stop } = fresh();
    await stop();
    await age();
    await pauses.probe([queue]);
    await pauses.cameThrough(queue);
    expect(await pauses.list()).toEqual([]);
    await pauses.set('plan', 'the key is inactive');
    expect(told.filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  test('it leaves a stage alone that failed a moment ago', async () => {
    const { queue, pauses, stop } = fresh();
    await stop();
    await pauses.probe([queue]);
    expect([await queue.isPaused(), (await pauses.list()).length]).toEqual([true, 1]);
  });

  test('it has one job at a time find out, of all processes together, once a minute', async () => {
    const { open, queue, age } = fresh();
    const [one, other] = [open(), open()];
    await queue.pause();
    await one.pauses.set('plan', 'the key is inactive');
    await age();
    await Promise.all([one, other, one, other].map(({ pauses }) => pauses.probe([queue])));
    expect([await queue.isPaused(), await queue.getGlobalConcurrency()]).toEqual([false, 1]);
    // It failed.
    await other.pauses.set('plan', 'the key is inactive');
    await queue.pause();
    for (const { pauses } of [one, other]) await pauses.probe([queue]);
    expect([await queue.isPaused(), (await one.pauses.list())[0]?.isProbing]).toEqual([true, undefined]);
  });

  test('it lets all go on, and not one by one, when a job came through', async () => {
    const { open, queue, age, pauses, stop } = fresh();
    await stop();
    // One that was begun before it stopped says nothing.
    await pauses.cameThrough(queue);
    expect(await pauses.list()).toHaveLength(1);
    await age();
    const { pauses: elsewhere } = open();
    await elsewhere.probe([queue]);
    await elsewhere.cameThrough(queue);
    expect([await queue.getGlobalConcurrency(), await pauses.list()]).toEqual([null, []]);
  });

  test('it opens a stage wide whose process was killed while it lifted the stop', async () => {
    const { queue, pauses } = fresh();
    await queue.setGlobalConcurrency(1);
    await pauses.probe([queue]);
    expect(await queue.getGlobalConcurrency()).toBeNull();
  });

  test('it tries one stopped long ago again, says nothing when that fails, and keeps since when it stands', async () => {
    const { queue, age, pauses, told, stop } = fresh();
    await stop();
    const [first] = await pauses.list();
    expect(told.splice(0)).toHaveLength(1);
    await age();
    await pauses.probe([queue]);
    expect([await queue.isPaused(), (await pauses.list()).length]).toEqual([false, 1]);

    await stop();
    await pauses.probe([queue]);
    expect([await queue.isPaused(), told]).toEqual([true, []]);
    expect(await pauses.list()).toEqual([first]);
  });

  test('it makes a stage known that stands still and that nobody knows of, and lets it try again in its time', async () => {
    const { queue, age, pauses, told } = fresh();
    // Another start cleared what was told of before the one who told it got to stop the queue.
    await pauses.set('plan', 'the key is inactive');
    await pauses.clear([queue]);
    await queue.pause();
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(true);
    expect(await pauses.list()).toMatchObject([{ stage: 'plan', why: expect.stringContaining('stood still') }]);
    expect(told.filter(({ level }) => level === 'error')).toHaveLength(2);
    await age();
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(false);
  });

  test('it takes no reason away from a stage that stops in the middle of it', async () => {
    const { queue, pauses } = fresh();
    const { isPaused } = queue;
    queue.isPaused = async () => {
      await pauses.set('plan', 'the key is inactive');
      await queue.pause();
      return await isPaused.call(queue);
    };
    await pauses.probe([queue]);
    expect(await pauses.list()).toMatchObject([{ stage: 'plan', why: 'the key is inactive' }]);
  });

  test('it leaves the stages of others alone', async () => {
    const { age, pauses } = fresh();
    await pauses.set('plan', 'the key is inactive');
    await age();
    await pauses.probe([]);
    expect(await pauses.list()).toHaveLength(1);
  });
});

describe('a person', () => {
  const mine = { why: 'wrong text', by: 'ann@desk', at: new Date('2026-11-20T10:00:00Z') };

  test('it stays paused whatever is mended, swept or started anew, until a person resumes it', async () => {
    const { queue, age, pauses, told } = fresh();
    await pauses.pause('plan', mine, queue);
    await pauses.set('plan', 'the key is inactive');
    await age();
    await pauses.probe([queue]);
    await pauses.cameThrough(queue);
    await pauses.lift('plan', queue);
    await pauses.clear([queue]);
    expect([await queue.isPaused(), await pauses.list()]).toEqual([true, [{ stage: 'plan', ...mine }]]);
    expect(await pauses.resume('plan', queue)).toEqual([{ stage: 'plan', ...mine }]);
    expect([await queue.isPaused(), await pauses.list()]).toEqual([false, []]);
    expect(told.filter(({ fields }) => JSON.stringify(fields).includes('wrong text'))).toEqual([]);
  });

  test('it keeps the first of two pauses, and resumes what is not paused without a word', async () => {
    const { queue, pauses } = fresh();
    const later = { why: 'me too', by: 'bob@desk', at: new Date() };
    const both = [await pauses.pause('plan', mine, queue), await pauses.pause('plan', later, queue)];
    expect(both).toEqual([mine, mine].map((one) => ({ stage: 'plan', ...one })));
    await pauses.resume('plan', queue);
    expect([await pauses.resume('plan', queue), await queue.isPaused()]).toEqual([[], false]);
  });

  test('it is stopped by the next round though whoever paused it was killed before the queue was', async () => {
    const { queue, pauses } = fresh();
    await pauses.pause('plan', mine);
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(true);
  });

  test('it stays paused when a round opens it in the same moment', async () => {
    const { queue, age, pauses, stop } = fresh();
    await stop();
    await age();
    const { resume } = queue;
    queue.resume = async () => {
      await pauses.pause('plan', mine, queue);
      await resume.call(queue);
    };
    await pauses.probe([queue]);
    expect(await queue.isPaused()).toBe(true);
  });

  test('it has a stage tried at once that had stopped for a configuration error', async () => {
    const { queue, pauses, stop } = fresh();
    await stop();
    await pauses.resume('plan', queue);
    expect([await queue.isPaused(), await queue.getGlobalConcurrency()]).toEqual([false, 1]);
    expect(await pauses.list()).toMatchObject([{ stage: 'plan', isProbing: true }]);
  });
});
