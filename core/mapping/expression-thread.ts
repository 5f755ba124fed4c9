import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { limits } from './expression-limits.ts';
import { progressOf, sourcesOf, type Task, type TaskReport, threadName } from './expression-worker.ts';

/** Thrown for an expression that used up its time or memory, or was not run because others did just before. */
export class ExpressionStopped extends Error {
  override readonly name = 'ExpressionStopped';
  readonly source: string;
  readonly why: 'time' | 'memory' | 'aside';

  constructor(source: string, why: ExpressionStopped['why']) {
    super(why);
    this.source = source;
    this.why = why;
  }
}

interface Pending {
  task: Task;
  resolve: (report: TaskReport) => void;
  reject: (error: Error) => void;
}

/** Megabytes: about ten times what the largest record needs. V8 ends a thread that needs more. */
const memory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };
/** Limits of one message to the thread, tasks and characters of records, so that neither side blocks on it for long. */
const batch = { tasks: 64, characters: 1_000_000 };
const tickMs = 100;
/** For a thread to start on a busy machine; a thread that is idle for longer has failed. */
const patienceMs = 30_000;

/** A thread for expressions: started when needed, terminated and replaced when an expression exceeds a limit. */
class ExpressionThread {
  readonly #onStopped: (source: string) => void;
  readonly #isForSuspects: boolean;
  readonly #progress = new Int32Array(new SharedArrayBuffer(12));
  #worker: Worker | undefined;
  #queue: Pending[] = [];
  #batch: Pending[] = [];
  #watch: NodeJS.Timeout | undefined;

  constructor(options: { isForSuspects: boolean; onStopped: (source: string) => void }) {
    this.#isForSuspects = options.isForSuspects;
    this.#onStopped = options.onStopped;
  }

  run(task: Task): Promise<TaskReport> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#batch.length > 0 || this.#queue.length === 0) return;
    let size = 0;
    for (let left = batch.characters; left > 0 && size < Math.min(batch.tasks, this.#queue.length); size++) {
      left -= this.#queue[size]?.task.input.length ?? 0;
    }
    this.#batch = this.#queue.splice(0, size);
    this.#worker ??= this.#start();
    // The thread keeps the process alive only while a caller waits for a result.
    this.#worker.ref();
    this.#progress.fill(0);
    this.#worker.postMessage(this.#batch.map(({ task }) => task));
    this.#watchOver(this.#worker);
  }

  #start(): Worker {
    // V8 prefers the limits that the process was started with (NODE_OPTIONS) to those of a thread. The process has taken its own.
    for (const limit of ['max-old-space-size', 'max-semi-space-size', 'max-heap-size'])
      setFlagsFromString(`--${limit}=0`);
    const worker = new Worker(new URL(`./expression-worker${extname(import.meta.url)}`, import.meta.url), {
      name: threadName,
      workerData: { name: threadName, progress: this.#progress },
      resourceLimits: memory,
      env: {},
      execArgv: [],
    });
    worker.on('message', (reports: readonly TaskReport[]) => {
      const done = this.#batch;
      this.#idle();
      for (const [i, { resolve, reject }] of done.entries()) {
        const report = reports[i];
        if (report) resolve(report);
        else reject(new Error('the thread for expressions left out a task'));
      }
      this.#next();
    });
    worker.on('error', (error: Error & { code?: string }) => {
      if (this.#worker !== worker) return;
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#stopped('memory');
      else this.#broken(error);
    });
    return worker;
  }

  #idle(): void {
    clearInterval(this.#watch);
    this.#batch = [];
    this.#worker?.unref();
  }

  /**
   * Measures the thread's CPU time, not the wall clock: a suspended process or a busy machine must not stop an expression.
   */
  #watchOver(worker: Worker): void {
    const watched = this.#batch;
    let seen = -1;
    let stillMs = 0;
    let workedMs = 0;
    let isAsking = false;
    const sample = async (): Promise<void> => {
      const moves = Atomics.load(this.#progress, progressOf.moves);
      const { user, system } = await worker.cpuUsage();
      const now = (user + system) / 1_000;
      if (moves !== seen) {
        [seen, stillMs, workedMs] = [moves, 0, now];
        return;
      }
      stillMs += tickMs;
      const isLate = (moves > 0 && now - workedMs >= limits.timeMs) || stillMs >= patienceMs;
      const isStill = this.#batch === watched && Atomics.load(this.#progress, progressOf.moves) === moves;
      if (isLate && isStill) this.#stopped('time');
    };
    const tick = (): void => {
      if (isAsking) return;
      isAsking = true;
      sample()
        // A thread that is terminating reports no CPU time.
        .catch(() => undefined)
        .finally(() => {
          isAsking = false;
        });
    };
    this.#watch = setInterval(tick, tickMs);
  }

  /** Terminates the thread. The expression that was the cause fails; the others in its batch are run again. */
  #stopped(why: 'time' | 'memory'): void {
    const at = this.#progress[progressOf.task] ?? 0;
    const culprit = this.#batch[at];
    const source = culprit && sourcesOf(culprit.task)[this.#progress[progressOf.source] ?? 0];
    const others = this.#batch.filter((one) => one !== culprit);
    this.#drop();
    if (culprit === undefined || source === undefined) throw new Error('the thread for expressions lost its place');
    this.#onStopped(source);
    culprit.reject(new ExpressionStopped(source, why));
    this.#queue.unshift(...others);
    if (this.#isForSuspects) {
      // Other expressions of this kind could each take a second, too: they are run again later.
      const waiting = this.#queue.splice(0);
      for (const { task, reject } of waiting) reject(new ExpressionStopped(sourcesOf(task)[0] ?? source, 'aside'));
    }
    this.#next();
  }

  #broken(error: Error): void {
    const lost = this.#batch;
    this.#drop();
    for (const { reject } of lost) reject(error);
    this.#next();
  }

  #drop(): void {
    const worker = this.#worker;
    this.#idle();
    this.#worker = undefined;
    void worker?.terminate();
  }
}

/** Expressions that were stopped once since the process started. */
const suspects = new Set<string>();
const onStopped = (source: string): void => void suspects.add(source);

/** One thread for expressions that were never stopped, one for those that were, so that the latter can't delay the former. */
const threads = {
  good: new ExpressionThread({ isForSuspects: false, onStopped }),
  suspect: new ExpressionThread({ isForSuspects: true, onStopped }),
};

/** @throws ExpressionStopped for an expression that took too much time or memory */
export function runInThread(task: Task): Promise<TaskReport> {
  const isSuspect = suspects.size > 0 && sourcesOf(task).some((source) => suspects.has(source));
  return (isSuspect ? threads.suspect : threads.good).run(task);
}
