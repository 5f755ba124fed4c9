import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Advice, CloseloopError } from '../../../../core/errors.ts';
import { nextStep } from '../../../../core/retry.ts';
import { Pauses } from '../../../../worker/operations/pauses.ts';
import { JobQueue } from '../../../../worker/pipeline/job-queue.ts';
import type { JobResult } from '../../../../worker/pipeline/jobs.ts';
import { Stage } from '../../../../worker/pipeline/stage.ts';
import { memoryLog, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
let stages = 0;
const done: JobResult = { do: 'done' };

const random = () => 0.25;
/** Timers may fire a little early. */
const timerSlackMs = 20;
/** What core/retry.ts says for the attempt with this number. */
function backoffMs(attempt: number): number {
  const next = nextStep({ kind: 'transient' }, { attempt, elapsedMs: 0, doubts: 0 }, random());
  return next.do === 'retry' ? next.delayMs : expect.fail('no retry');
}

function jobsOf<Data extends z.ZodType>(prefix: string, data: Data): JobQueue<Data> {
  return new JobQueue({ name: 'ask', prefix, connection: redis.handle.bull(), data, onLost: () => undefined });
}

/** A stage of its own. `process` is shown the job's number and which run of it this is, from 1. */
function fresh(
  process: (n: number, run: number) => Promise<JobResult>,
  concurrency = 300,
  probe = async () => {},
  now = () => Date.now(),
) {
  const source = `stage-${++stages}`;
  const { log, told } = memoryLog();
  const runs = new Map<number, number>();
  const givenUp: [n: number, why: string][] = [];
  const foreign: string[] = [];
  const pauses = new Pauses(redis.handle.client, `{cl:${source}}`, source, log);
  const stage = new Stage({
    jobs: jobsOf(`{cl:${source}}`, z.object({ n: z.number() })),
    concurrency,
    process: async ({ n }) => {
      const run = (runs.get(n) ?? 0) + 1;
      runs.set(n, run);
      return await process(n, run);
    },
    giveUp: async ({ n }, why) => void givenUp.push([n, why]),
    onConfigError: (why) => pauses.set('ask', why),
    alert: async (_kind, why) => void foreign.push(why),
    source: 'toy',
    probe,
    ports: { random, now: () => new Date(now()) },
    log,
  });
  const add = (...numbers: number[]) => stage.jobs.add(numbers.map((n) => ({ id: `job-${n}`, data: { n } })));
  /** Jobs in Redis, however they stand there. */
  const left = async () => Object.values(await stage.jobs.queue.getJobCounts()).reduce((sum, n) => sum + n, 0);
  const empty = () => until(async () => (await left()) === 0);
  return { stage, told, runs, givenUp, foreign, pauses, add, left, empty };
}

function failure(advice: Advice): CloseloopError {
  return new CloseloopError('the vendor said no', advice);
}

test('it tries again what may pass, as nextStep says, and leaves nothing behind', async () => {
  const { stage, add, runs, told, givenUp, empty } = fresh(async (_, run) => {
    if (run <= 2) throw failure({ kind: 'transient' });
    return done;
  });
  const begun = Date.now();
  await add(1);
  stage.start();
  await empty();
  expect(runs.get(1)).toBe(3);
  expect(told.map(({ message, fields }) => [message, fields.attempt])).toEqual([
    ['will be retried', 1],
    ['will be retried', 2],
  ]);
  expect(givenUp).toEqual([]);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(backoffMs(1) + backoffMs(2) - timerSlackMs);
  await stage.close(1_000);
});

test('it spends no attempt while Redis takes no writes, begins nothing meanwhile, and goes on by itself', async () => {
  const full = Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), {
    name: 'ReplyError',
  });
  let isFull = true;
  const probe = async () => {
    if (!isFull) return;
    isFull = false;
    throw full;
  };
  const work = async () => {
    if (isFull) throw full;
    return done;
  };
  const { stage, add, runs, told, givenUp, empty } = fresh(work, 2, probe);
  await add(1, 2, 3);
  stage.start();
  await empty();
  expect(Object.fromEntries(runs)).toEqual({ 1: 2, 2: 2, 3: 1 });
  expect([told, givenUp]).toEqual([[], []]);
});

test('a job that the own code of a connector fails is tried again, with its stack in the log, and a person is told', async () => {
  const cause = new TypeError('zap');
  const { stage, add, told, foreign, givenUp, empty } = fresh(async (_, run) => {
    if (run <= 3) throw new CloseloopError('it fails', { kind: 'transient', bug: true }, { cause });
    return done;
  });
  await add(1);
  stage.start();
  await empty();
  expect(told.map(({ fields }) => fields.stack)).toEqual(
    Array(3).fill(expect.stringMatching(/^TypeError: zap\n.* at /)),
  );
  expect([foreign, givenUp]).toEqual([['it fails'], []]);
  await stage.close(1_000);
});

test('it waits at least as long as the other side asks for', async () => {
  const { stage, add, runs, empty } = fresh(async (_, run) => {
    if (run === 1) throw failure({ kind: 'transient', retryAfterMs: 900 });
    return done;
  });
  const begun = Date.now();
  await add(1);
  stage.start();
  await empty();
  expect(runs.get(1)).toBe(2);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(900 - timerSlackMs);
  await stage.close(1_000);
});

test('it spends no attempt on being throttled: more often than there are attempts', async () => {
  const { stage, add, runs, told, givenUp, empty } = fresh(async (_, run) => {
    if (run <= 70) throw failure({ kind: 'transient', retryAfterMs: 1, throttled: true });
    if (run === 71) throw failure({ kind: 'transient' });
    return done;
  });
  await add(1);
  stage.start();
  await empty();
  expect([runs.get(1), givenUp]).toEqual([72, []]);
  expect(told.map(({ fields }) => fields.attempt)).toEqual([1]);
  await stage.close(1_000);
});

test('it spends no attempt on waiting', async () => {
  const { stage, add, runs, told, empty } = fresh(async (_, run) =>
    run <= 70 ? { do: 'wait', delayMs: run % 2 } : done,
  );
  await add(1);
  stage.start();
  await empty();
  expect([runs.get(1), told]).toEqual([71, []]);
  await stage.close(1_000);
});

test('it makes known that it stops before it does: killed in between, it must not stand still unknown to all', async () => {
  const { stage, add, pauses, left } = fresh(async () => {
    throw failure({ kind: 'config' });
  });
  const { set } = pauses;
  const wasPaused: boolean[] = [];
  pauses.set = async (name, why) => {
    wasPaused.push(await stage.jobs.queue.isPaused());
    await set.call(pauses, name, why);
  };
  await add(1);
  stage.start();
  await until(() => stage.jobs.queue.isPaused());
  expect([wasPaused, await left()]).toEqual([[false], 1]);
  await stage.close(1_000);
});

test('it stops at a mistake of the configuration, tells it once for 300 jobs, loses none, and goes on', async () => {
  let isMended = false;
  const { stage, add, left, told, givenUp, pauses, runs, empty } = fresh(async () => {
    if (!isMended) throw failure({ kind: 'config' });
    return done;
  });
  await add(...Array.from({ length: 300 }, (_, n) => n));
  stage.start();
  await until(async () => (await stage.jobs.queue.isPaused()) && (await stage.jobs.queue.getActiveCount()) === 0);
  expect(told).toMatchObject([{ level: 'error', fields: { stage: 'ask', why: 'the vendor said no' } }]);
  expect([await left(), givenUp]).toEqual([300, []]);
  // Nobody retries while nobody has acted.
  const runsBefore = [...runs.values()].reduce((sum, n) => sum + n, 0);
  expect(runsBefore).toBeLessThanOrEqual(600);

  isMended = true;
  await pauses.clear([stage.jobs.queue]);
  await empty();
  expect([runs.size, givenUp, told.length]).toEqual([300, [], 1]);
  await stage.close(1_000);
});

test('it gives up once what will never succeed, with the reason', async () => {
  const { stage, add, runs, told, givenUp, empty } = fresh(async (n) => {
    if (n === 1) throw failure({ kind: 'permanent' });
    return done;
  });
  await add(1, 2);
  stage.start();
  await empty();
  expect([runs.get(1), runs.get(2), givenUp]).toEqual([1, 1, [[1, 'the vendor said no']]]);
  expect(told).toMatchObject([{ level: 'error', message: 'given up' }]);
  await stage.close(1_000);
});

test('it runs a job again whose giving up could not be noted', async () => {
  const { log } = memoryLog();
  let attempts = 0;
  const stage = new Stage({
    jobs: jobsOf('{cl:stage-give-up}', z.object({})),
    concurrency: 1,
    process: async () => Promise.reject(failure({ kind: 'permanent' })),
    giveUp: async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('Redis is away');
    },
    onConfigError: async () => undefined,
    alert: async () => undefined,
    source: 'toy',
    probe: async () => undefined,
    ports: { random, now: () => new Date() },
    log,
  });
  await stage.jobs.add([{ id: 'one', data: {} }]);
  stage.start();
  await until(async () => attempts === 2 && (await stage.jobs.queue.getJob('one')) === undefined);
  await stage.close(1_000);
});

test('it keeps the stack of a bug of ours, and tries again', async () => {
  const { stage, add, told, runs, empty } = fresh(async (_, run) => {
    if (run === 1) throw new TypeError('a bug');
    return done;
  });
  await add(1);
  stage.start();
  await empty();
  expect([...runs]).toEqual([[1, 2]]);
  expect(told.map(({ message }) => message)).toEqual(['will be retried']);
  expect(told[0]?.fields.stack).toContain('stage.test.ts');
  await stage.close(1_000);
});

test('it sets a job aside that another version made, tells of it, and keeps it for that version', async () => {
  const { stage, add, told, runs, foreign } = fresh(async () => done);
  const job = await stage.jobs.queue.add('ask', { another: 'version' }, { jobId: 'foreign' });
  await add(1);
  stage.start();
  await until(async () => runs.size === 1 && (await job.isDelayed()));
  expect((await stage.jobs.queue.getJob('foreign'))?.data).toEqual({ another: 'version' });
  expect(told.map(({ message }) => message)).toEqual([expect.stringContaining('set aside')]);
  expect(foreign).toEqual([expect.stringContaining('another version')]);

  // Taken up by itself.
  await job.updateData({ n: 2 });
  await job.promote();
  await until(() => runs.size === 2);
  await stage.close(1_000);
});

test('it adds a waiting job once, and a running one not again', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { stage, add, runs, left, empty } = fresh(async () => {
    await gate;
    return done;
  });
  await add(1);
  await add(1);
  expect(await left()).toBe(1);
  stage.start();
  await until(() => runs.size === 1);
  await add(1);
  open();
  await empty();
  expect([...runs]).toEqual([[1, 1]]);
  await stage.close(1_000);
});

test('it finishes what runs when it is closed, and takes no more', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { stage, add, runs } = fresh(async () => {
    await gate;
    return done;
  }, 1);
  await add(1, 2);
  stage.start();
  await until(() => runs.size === 1);
  const closed = stage.close(60_000);
  open();
  await closed;
  expect(runs.size).toBe(1);
  // The other is there for another process.
  expect(await redis.handle.client.llen(`{cl:stage-${stages}}:ask:wait`)).toBe(1);
});

test('it does not wait longer than it is told for what runs, and does not lose it', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { stage, add, runs } = fresh(async () => {
    await gate;
    return done;
  });
  await add(1);
  stage.start();
  await until(() => runs.size === 1);
  await stage.close(30);
  const { client } = redis.handle;
  expect(await client.exists(`{cl:stage-${stages}}:ask:job-1`)).toBe(1);
  open();
  await until(async () => (await client.exists(`{cl:stage-${stages}}:ask:job-1`)) === 0);
});

test('it leaves a job alone that another worker has taken over since its own lock ended', async () => {
  const { client } = redis.handle;
  const { stage, add, runs } = fresh(async () => {
    await client.set(`{cl:stage-${stages}}:ask:job-1:lock`, 'another worker');
    return { do: 'wait', delayMs: 60_000 };
  });
  await add(1);
  stage.start();
  await until(() => runs.size === 1);
  await stage.close(60_000);
  // Not put back: it runs there.
  expect(await client.zcard(`{cl:stage-${stages}}:ask:delayed`)).toBe(0);
  expect(await client.lrange(`{cl:stage-${stages}}:ask:active`, 0, -1)).toEqual(['job-1']);
  await client.del(`{cl:stage-${stages}}:ask:job-1:lock`);
});

test('it gives up nothing that another worker has taken over since its own lock ended (audit 23)', async () => {
  const { client } = redis.handle;
  const { stage, add, runs, givenUp, told } = fresh(async () => {
    await client.set(`{cl:stage-${stages}}:ask:job-1:lock`, 'another worker');
    throw failure({ kind: 'permanent' });
  });
  await add(1);
  stage.start();
  await until(() => runs.size === 1);
  await stage.close(60_000);
  expect([givenUp, told]).toEqual([[], []]);
  expect(await client.lrange(`{cl:stage-${stages}}:ask:active`, 0, -1)).toEqual(['job-1']);
  await client.del(`{cl:stage-${stages}}:ask:job-1:lock`);
});

test('it gives up by time, from the first failure on, and begins anew where there was success in between (audit 16)', async () => {
  let now = 0;
  const { stage, add, runs, givenUp, empty } = fresh(
    async (_, run) => {
      if (run === 3) return { do: 'wait', delayMs: 1 };
      // The clock of a week, in three jumps.
      now += 3 * 86_400_000;
      throw failure({ kind: 'transient' });
    },
    300,
    undefined,
    () => now,
  );
  await add(1);
  stage.start();
  await empty();
  expect([runs.get(1), givenUp]).toEqual([7, [[1, 'the vendor said no']]]);
  await stage.close(1_000);
});
