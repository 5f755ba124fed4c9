import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { Outage } from '../../../../worker/operations/outage.ts';
import { stallsOf } from '../../../../worker/pipeline/job-failure.ts';
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
let sources = 0;

function fresh(process: ProcessNumber, options: NumberStageOptions = {}) {
  const source = `suspects-${++sources}`;
  const { open, ...rest } = numberStages(source, process, options);
  const opened = open({ name: 'plan', prefix: `{cl:${source}}`, connection: redis.handle.bull() });
  const add = (...numbers: number[]) => opened.jobs.add(numbers.map((n) => ({ id: `job-${n}`, data: { n } })));
  return { ...rest, ...opened, add };
}

test('a process runs one suspect at a time, over all its stages, and other jobs beside it', async () => {
  let [suspected, most, beside] = [0, 0, 0];
  const process: ProcessNumber = async (n) => {
    if (n >= 10) {
      if (suspected > 0) beside++;
      return done;
    }
    most = Math.max(most, ++suspected);
    await until(() => beside > 0);
    suspected--;
    return done;
  };
  const [one, two] = [fresh(process), fresh(process)];
  await one.add(1);
  await two.add(2);
  for (const { jobs } of [one, two]) await haveStalled(jobs, 2);
  one.stage.start();
  two.stage.start();
  await until(() => suspected > 0);
  await one.add(10);
  await two.add(11);
  await Promise.all([one.empty(), two.empty()]);
  expect([one.runs.get(1), two.runs.get(2), most]).toEqual([1, 1, 1]);
});

test('a suspect whose endpoint is down goes back to the queue, and keeps no other suspect waiting', async () => {
  const outage = new Outage(redis.handle.client, {
    endpoint: 'source shop',
    key: '{cl:suspects}:outage',
    log: memoryLog().log,
  });
  await outage.failed('asks to wait', 600_000);
  const [held, other] = [fresh(async () => expect.fail('it began'), { endpoints: [outage] }), fresh(async () => done)];
  await held.add(1);
  await other.add(2);
  for (const { jobs } of [held, other]) await haveStalled(jobs, 2);
  held.stage.start();
  await until(async () => (await held.jobs.queue.getDelayedCount()) === 1);
  other.stage.start();
  await other.empty();
  expect([held.runs.size, other.runs.get(2)]).toEqual([0, 1]);
});

test('a job that was interrupted once runs beside others', async () => {
  const all = Promise.withResolvers<void>();
  const { stage, jobs, add, runs, empty } = fresh(async () => {
    if (runs.size === 3) all.resolve();
    await all.promise;
    return done;
  });
  await add(1, 2, 3);
  await haveStalled(jobs, 1);
  stage.start();
  await empty();
  expect(Object.fromEntries(runs)).toEqual({ 1: 1, 2: 1, 3: 1 });
});

test('a job that was interrupted four times is given up without a run, kept where such jobs are, and tried again by hand as a new job', async () => {
  const keepGivenUp = { isKept: () => true, forMs: 60_000 };
  const { stage, jobs, add, runs, givenUp, told, empty } = fresh(async () => done, { keepGivenUp });
  await add(1);
  await haveStalled(jobs, 4);
  stage.start();
  const [kept] = await until(async () => {
    const all = await jobs.givenUp();
    return all.length > 0 && all;
  });
  expect(kept).toMatchObject({ id: 'job-1', why: expect.stringMatching(/crashed or froze 4 times.*set aside/) });
  expect([givenUp, runs.size]).toEqual([[1], 0]);
  expect(told).toMatchObject([{ level: 'error', message: 'given up' }]);
  await jobs.replay('job-1');
  await empty();
  expect([givenUp, runs.get(1)]).toEqual([[1], 1]);
});

test.each([
  ['waits', async () => ({ do: 'wait', delayMs: 60_000 }) as const],
  ['fails', () => Promise.reject(new CloseloopError('no answer', { kind: 'transient', retryAfterMs: 60_000 }))],
  [
    'is throttled',
    () => Promise.reject(new CloseloopError('wait', { kind: 'transient', throttled: true, retryAfterMs: 60_000 })),
  ],
] as const)('a suspect that %s has not ended its process, and is none any more', async (_, process) => {
  const { stage, jobs, add, givenUp } = fresh(process);
  await add(1);
  await haveStalled(jobs, 3);
  stage.start();
  const job = await until(async () => (await jobs.queue.getDelayed())[0]);
  expect([stallsOf(job), job.stalledCounter, givenUp]).toEqual([0, 3, []]);
});
