import { parentPort, workerData } from 'node:worker_threads';
import { openSandbox, type Reported } from './expression-sandbox.ts';
import { truth } from './expression-truth.ts';

/** Expressions over one record: those of the first step whose condition is true, like the rules of a source. */
export interface Task {
  /** JSON. */
  input: string;
  steps: readonly Step[];
}

export interface Step {
  /** Left out: true. */
  when?: string;
  then: readonly string[];
}

/** One result per step that was evaluated; `then` is empty where the condition was not true. */
export type TaskReport = { when?: Reported; then: Reported[] }[];

/** The sources of a task in the order in which they are numbered. */
export function sourcesOf({ steps }: Task): string[] {
  return steps.flatMap(({ when, then }) => (when === undefined ? then : [when, ...then]));
}

/** The thread's position in a batch, in shared memory: the main thread reads it when the thread hangs or has died. */
export const progressOf = { task: 0, source: 1, moves: 2 } as const;

/** Tells the thread of this file from the main thread, which imports this file, too. */
export const threadName = 'closeloop-expressions';

interface Start {
  name: typeof threadName;
  progress: Int32Array;
}

function isTrue(json: string | undefined): boolean {
  return json !== undefined && truth(JSON.parse(json)) === true;
}

function isStart(data: unknown): data is Start {
  return typeof data === 'object' && data !== null && 'name' in data && data.name === threadName;
}

if (isStart(workerData) && parentPort) {
  const sandbox = openSandbox();
  const port = parentPort;
  const { progress } = workerData;

  const evaluate = async (task: number, number: number, source: string): Promise<Reported> => {
    progress[progressOf.source] = number;
    progress[progressOf.task] = task;
    Atomics.add(progress, progressOf.moves, 1);
    return await sandbox.run(source);
  };

  const work = async ({ input, steps }: Task, task: number): Promise<TaskReport> => {
    sandbox.load(input);
    const report: TaskReport = [];
    let number = 0;
    for (const { when, then } of steps) {
      const verdict = when === undefined ? undefined : await evaluate(task, number++, when);
      const isChosen = verdict === undefined || ('json' in verdict && isTrue(verdict.json));
      const found: Reported[] = [];
      if (isChosen) for (const [i, source] of then.entries()) found.push(await evaluate(task, number + i, source));
      report.push({ ...(verdict && { when: verdict }), then: found });
      // A failed condition stops the search: a later rule must not decide.
      if (isChosen || 'failure' in verdict) break;
      number += then.length;
    }
    return report;
  };

  port.on('message', async (tasks: readonly Task[]) => {
    const reports: TaskReport[] = [];
    for (const [i, task] of tasks.entries()) reports.push(await work(task, i));
    // Records are not kept longer than needed.
    sandbox.load('null');
    port.postMessage(reports);
  });
}
