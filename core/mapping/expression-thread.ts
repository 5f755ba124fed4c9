import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { limits } from './expression-limits.ts';
import { progressOf, sourcesOf, type Task, type TaskReport, threadName } from './expression-worker.ts';

/** The expression that used up its time or its memory, or that others like it have taken the place of. */
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

/** Megabytes: some ten times what the largest record needs. A thread that needs more is ended by V8. */
const memory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };
/** One message holds as many tasks, and as many characters of records, so that neither side stands still over it. */
const batch = { tasks: 64, characters: 1_000_000 };
const tickMs = 100;
/** Beginning, on a machine that is very busy; or standing still without working, which is a fault of ours. */
const patienceMs = 30_000;

/** A thread for expressions: started when needed, ended and replaced when an expression takes too much of anything. */
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
    // The process lives as long as somebody waits for the thread, and no longer.
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
   * Counts the thread's own work, not the time: a process that stood still, or a machine that is busy, is no reason to give
   * an expression up.
   */
  #watchOver(worker: Worker): void {
    const watched = this.#batch;
    let seen = -1;
    let stillMs = 0;
    let workedMs = 0;
    let isAsking = false;
    const look = async (): Promise<void> => {
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
      look()
        // A thread that is just ending doesn't tell.
        .catch(() => undefined)
        .finally(() => {
          isAsking = false;
        });
    };
    this.#watch = setInterval(tick, tickMs);
  }

  /** The thread is ended; who was the cause is told so, the others in its batch begin anew in the next. */
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
      // Others may be as bad, and each would take its second: they come again later.
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

/** Expressions that were stopped once. Forgotten at the next start. */
const suspects = new Set<string>();
const onStopped = (source: string): void => void suspects.add(source);

/** One for all that behave, one for those that once did not: what they do to each other does nothing to the rest. */
const threads = {
  good: new ExpressionThread({ isForSuspects: false, onStopped }),
  suspect: new ExpressionThread({ isForSuspects: true, onStopped }),
};

/** @throws ExpressionStopped for an expression that took too much time or memory */
export function runInThread(task: Task): Promise<TaskReport> {
  const isSuspect = suspects.size > 0 && sourcesOf(task).some((source) => suspects.has(source));
  return (isSuspect ? threads.suspect : threads.good).run(task);
}
