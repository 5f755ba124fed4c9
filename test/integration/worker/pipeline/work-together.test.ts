import { expect, test } from 'vitest';
import { type Advice, CloseloopError } from '../../../../core/errors.ts';
import { Outage } from '../../../../worker/operations/outage.ts';
import { changeJobs } from '../../../../worker/pipeline/change-jobs.ts';
import { mostTogether } from '../../../../worker/pipeline/job-queue.ts';
import { done } from '../../../../worker/pipeline/jobs.ts';
import { memoryLog, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import {
  type NumberStageOptions,
  numberStages,
  type ProcessNumber,
} from '../../../support/worker/pipeline/numbered-jobs.ts';
import { haveStalled } from '../../../support/worker/pipeline/stalled.ts';

const redis = useRedis();
let stages = 0;

/** A stage of its own. */
function fresh(process: ProcessNumber, options: NumberStageOptions = {}) {
  const source = `together-${++stages}`;
  const { open, ...rest } = numberStages(source, process, { concurrency: 100, ...options });
  const { jobs, stage, empty } = open({
    name: 'plan',
    prefix: `{cl:${source}}`,
    connection: redis.handle.bull(),
    together: { keyOf: ({ n }) => String(n), idOf: (key) => `job-${key}` },
  });
  const together = (...numbers: number[]) => jobs.addTogether(numbers.map((n) => ({ n })));
  return { ...rest, stage, jobs, together, empty, source };
}

const failure = (advice: Advice) => new CloseloopError('the vendor said no', advice);

test('what comes together is one job, and all of it is processed at the same time', async () => {
  let running = 0;
  const all = Promise.withResolvers<void>();
  const { stage, jobs, together, runs, empty } = fresh(async () => {
    if (++running === 3) all.resolve();
    await all.promise;
    return done;
  });
  await together(1, 2, 2, 3);
  // What is repeated, as by a client that has lost the answer, is not stored again.
  await together(1, 2, 3);
  expect(await jobs.queue.getWaitingCount()).toBe(1);
  stage.start();
  await empty();
  expect(Object.fromEntries(runs)).toEqual({ 1: 1, 2: 1, 3: 1 });
});

test('one alone is a job like any other', async () => {
  const { jobs, together } = fresh(async () => done);
  await together(7);
  expect((await jobs.queue.getJobs()).map(({ id, data }) => ({ id, data }))).toEqual([{ id: 'job-7', data: { n: 7 } }]);
});

test('what waits, fails or is given up does so alone and at once, and the others are done once', async () => {
  const slow = Promise.withResolvers<void>();
  const { stage, together, runs, givenUp, told, empty } = fresh(async (n, run) => {
    if (n === 1 && run === 1) return { do: 'wait', delayMs: 1 };
    if (n === 2 && run === 1) throw failure({ kind: 'transient' });
    if (n === 3) throw failure({ kind: 'permanent' });
    if (n === 4) await slow.promise;
    return done;
  });
  await together(1, 2, 3, 4, 5);
  stage.start();
  // While one of them is still at work.
  await until(() => runs.get(1) === 2 && runs.get(2) === 2 && givenUp.length > 0);
  slow.resolve();
  await empty();
  expect(Object.fromEntries(runs)).toEqual({ 1: 2, 2: 2, 3: 2, 4: 1, 5: 1 });
  expect(givenUp).toEqual([3]);
  expect(told.filter(({ level }) => level !== 'debug').map(({ message }) => message)).toEqual(['given up']);
});

test('where Redis was away all are processed again, and none gets a job of its own', async () => {
  const away = Object.assign(new Error('READONLY You can not write against a read only replica.'), {
    name: 'ReplyError',
  });
  const { stage, jobs, together, runs, empty } = fresh(async (n, run) => {
    if (n === 2 && run === 1) throw away;
    return done;
  });
  let singly = 0;
  const { addSingly } = jobs;
  jobs.addSingly = async (...args) => {
    singly++;
    await addSingly.call(jobs, ...args);
  };
  await together(1, 2, 3);
  stage.start();
  await empty();
  expect([Object.fromEntries(runs), singly]).toEqual([{ 1: 2, 2: 2, 3: 2 }, 0]);
});

test('as many are processed at once as the stage may, and one job more at most', async () => {
  let [running, most] = [0, 0];
  const { stage, jobs, runs, empty } = fresh(
    async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      return done;
    },
    { concurrency: 100 },
  );
  for (let i = 0; i < 8; i++)
    await jobs.addTogether(Array.from({ length: mostTogether }, (_, k) => ({ n: i * mostTogether + k })));
  await jobs.addSingly(Array.from({ length: 100 }, (_, k) => ({ n: 8 * mostTogether + k })));
  stage.start();
  await empty();
  expect(runs.size).toBe(8 * mostTogether + 100);
  expect(most).toBeGreaterThanOrEqual(mostTogether);
  expect(most).toBeLessThan(100 + mostTogether);
});

test('what was running when a process died gets jobs of its own, as one of them may have ended the process', async () => {
  const interrupted: number[] = [];
  const onInterrupted = async ({ n }: { n: number }) => void interrupted.push(n);
  const { stage, jobs, together, runs, empty } = fresh(async () => done, { onInterrupted });
  await together(1, 2, 3);
  await haveStalled(jobs, 1);
  const added: number[] = [];
  const { addSingly } = jobs;
  jobs.addSingly = async (all, ...more) => {
    added.push(...all.map(({ n }) => n));
    await addSingly.call(jobs, all, ...more);
  };
  stage.start();
  await empty();
  expect([interrupted, added]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(Object.fromEntries(runs)).toEqual({ 1: 1, 2: 1, 3: 1 });
});

test('one of them finds out whether an endpoint that was down is back, and the others wait for that', async () => {
  const key = `{cl:together-outage-${stages}}:outage`;
  const outage = new Outage(redis.handle.client, { endpoint: 'source shop', key, log: memoryLog().log });
  for (let n = 0; n < 3; n++) await outage.failed('no connection');
  let isDown = true;
  const { stage, together, runs, empty } = fresh(
    async () => {
      if (isDown) {
        await outage.failed('no connection');
        throw failure({ kind: 'transient' });
      }
      await outage.answered();
      return done;
    },
    { endpoints: [outage] },
  );
  await together(1, 2, 3, 4);
  stage.start();
  await until(() => runs.size > 0);
  expect([...runs.keys()]).toEqual([1]);
  isDown = false;
  await empty();
  expect([...runs.keys()].toSorted()).toEqual([1, 2, 3, 4]);
  expect(runs.get(4)).toBe(1);
});

test('a job of which one part can not be read is set aside whole, for a version that can', async () => {
  const { stage, jobs, runs } = fresh(async () => done);
  await jobs.queue.add('plan', [{ n: 1 }, { of: 'another version' }], { jobId: 'together-2-x' });
  stage.start();
  await until(async () => (await jobs.queue.getDelayedCount()) === 1);
  expect(runs.size).toBe(0);
  expect(await changeJobs(jobs, () => undefined)).toEqual(['together-2-x']);
});

test('a change of what is stored reaches each part of a job', async () => {
  const { jobs, together } = fresh(async () => done);
  await together(1, 2, 3);
  const seen: number[] = [];
  const unreadable = await changeJobs(jobs, ({ n }) => {
    seen.push(n);
    return n === 2 ? { n: 20 } : undefined;
  });
  expect([seen, unreadable]).toEqual([[1, 2, 3], []]);
  expect((await jobs.queue.getJobs()).map(({ data }) => data)).toEqual([[{ n: 1 }, { n: 20 }, { n: 3 }]]);
});
