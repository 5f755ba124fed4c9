import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { type Result, Task } from './bare-bullmq.ts';

// BullMQ and nothing else: what our own steps are compared with.

const month = 30 * 86_400_000;

async function timed(work: () => Promise<void>): Promise<Result> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - begun, cpuMs: (user + system) / 1_000 };
}

function queueOn(socket: string): Queue {
  return new Queue('bare', {
    prefix: `{bare-${randomUUID()}}`,
    connection: { path: socket },
    defaultJobOptions: { attempts: 1_000_000, backoff: { type: 'custom' }, removeOnComplete: true, removeOnFail: true },
  });
}

async function add(queue: Queue, jobs: number, inFlight: number, bytes: number, delay = 0): Promise<void> {
  const text = 'x'.repeat(bytes);
  let left = jobs;
  const adder = async () => {
    while (left-- > 0) await queue.add('bare', { text }, { jobId: randomUUID(), ...(delay > 0 && { delay }) });
  };
  await Promise.all(Array.from({ length: inFlight }, adder));
}

/** A queue full of jobs, until a worker has done them all. */
async function processAll(queue: Queue, socket: string, jobs: number, concurrency: number): Promise<Result> {
  await add(queue, jobs, 100, 20);
  return await timed(async () => {
    let left = jobs;
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async () => {
      if (--left === 0) resolve();
    };
    const worker = new Worker('bare', work, {
      prefix: queue.opts.prefix ?? '',
      connection: { path: socket, maxRetriesPerRequest: null },
      concurrency,
    });
    await promise;
    await worker.close();
  });
}

/** Jobs that wait for one instant. */
async function dueAtOnce(queue: Queue, { socket, jobs, inMs }: Extract<Task, { do: 'due' }>): Promise<Result> {
  const due = Date.now() + inMs;
  let left = jobs;
  const adder = async () => {
    while (left-- > 0) await queue.add('bare', {}, { jobId: randomUUID(), delay: due - Date.now() });
  };
  await Promise.all(Array.from({ length: 100 }, adder));
  const late: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async () => {
    if (late.push(Date.now() - due) === jobs) resolve();
  };
  const connection = { path: socket, maxRetriesPerRequest: null };
  const worker = new Worker('bare', work, { prefix: queue.opts.prefix ?? '', connection, concurrency: 1_000 });
  await promise;
  await worker.close();
  late.sort((a, b) => a - b);
  return { ms: late[Math.floor(0.99 * (jobs - 1))] ?? 0, cpuMs: 0 };
}

async function perform(task: Task, queue: Queue): Promise<Result> {
  const { jobs, socket } = task;
  const warm = Math.ceil(jobs / 10);
  switch (task.do) {
    case 'add':
      await add(queue, warm, task.inFlight, task.bytes);
      return await timed(() => add(queue, jobs, task.inFlight, task.bytes));
    case 'delay':
      return await timed(() => add(queue, jobs, 100, task.bytes, month));
    case 'due':
      return await dueAtOnce(queue, task);
    case 'process':
      await processAll(queue, socket, warm, task.concurrency);
      return await processAll(queue, socket, jobs, task.concurrency);
  }
}

async function resultOf(task: Task): Promise<Result> {
  const queue = queueOn(task.socket);
  await queue.waitUntilReady();
  try {
    return await perform(task, queue);
  } finally {
    if (task.do !== 'delay') await queue.obliterate({ force: true });
    await queue.close();
  }
}

process.once('message', (message) => {
  void resultOf(Task.parse(message)).then((result) => process.send?.(result));
});
