import { setTimeout as sleep } from 'node:timers/promises';
import { ControlError } from '../../../standins/kit/control.ts';
import { keyOf, type Step } from './evidence.ts';
import { deskRef, type Plan, type PlannedRecord, type ProcessFault } from './plan.ts';
import type { Kept } from './processes.ts';
import type { Taken, World } from './world.ts';

/** @throws when `signal` ends the run */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

/** They answer what the service sends them, as the plan says, whatever else happens meanwhile. */
export class Customers {
  readonly #byRecord: ReadonlyMap<string, PlannedRecord>;
  readonly #byContact: ReadonlyMap<string, PlannedRecord>;
  #due: { at: number; requestId: number; answer: PlannedRecord['answers'][number] }[] = [];

  constructor(records: readonly PlannedRecord[]) {
    this.#byRecord = new Map(records.map((record) => [keyOf(record), record]));
    this.#byContact = new Map(records.map((record) => [record.contact, record]));
  }

  /** Answers still to be given. */
  get waiting(): number {
    return this.#due.length;
  }

  got({ requestId, contact, marker, at }: Taken): void {
    const id = deskRef.exec(marker ?? '')?.[1];
    const record = id === undefined ? this.#byContact.get(contact) : this.#byRecord.get(`desk:${id}`);
    for (const answer of record?.answers ?? []) this.#due.push({ at: at + answer.afterMs, requestId, answer });
    this.#due.sort((a, b) => a.at - b.at);
  }

  act({ feedback }: Pick<World, 'feedback'>): void {
    const now = Date.now();
    const due = this.#due.filter(({ at }) => at <= now);
    this.#due = this.#due.filter(({ at }) => at > now);
    for (const one of due) {
      const { grade, comment } = one.answer;
      try {
        feedback.answer({ request: one.requestId, grade, ...(comment === undefined ? {} : { comment }) });
      } catch (error) {
        // It hasn't gone out yet.
        if (!(error instanceof ControlError)) throw error;
        this.#due.push({ ...one, at: now + 200 });
      }
    }
  }
}

export interface Stage {
  world: World;
  customers: Customers;
  processes: Record<ProcessFault['hit'], readonly Kept[]>;
  /** Looks at what lies in Redis, every few seconds. */
  look: () => Promise<void>;
  /** What an operator does in the middle of the load. */
  atHalf: () => Promise<void>;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** How many kills the load may run ahead of: those that are under way at once. */
const killsAhead = 5;
/** A worker is killed, though the service has got no request, after so long: a job of a killed worker is taken up after 10 s. */
const mostIdleMs = 15_000;

/** Plays the plan. Returns what happened to the records, and when: by their keys. */
export async function raise(plan: Plan, stage: Stage): Promise<Map<string, Step[]>> {
  const { world, customers, processes, atHalf, look, say, signal } = stage;
  const begun = Date.now();
  const steps = new Map<string, Step[]>();
  const acts: { at: number; run: () => void }[] = [
    ...plan.records.flatMap((record) =>
      record.steps.map((step, i) => ({
        at: step.at,
        run: () => {
          if (i === 0) world.add(record);
          steps.set(keyOf(record), [...(steps.get(keyOf(record)) ?? []), { do: step.do, at: Date.now() }]);
          world[step.do](record);
        },
      })),
    ),
    ...plan.records.flatMap((record) =>
      record.forgetAfterMs === undefined
        ? []
        : [{ at: (record.steps[0]?.at ?? 0) + record.forgetAfterMs, run: () => world.forget(record) }],
    ),
    ...plan.faults.map((fault) => ({ at: fault.at, run: () => world.order(fault) })),
  ].sort((a, b) => a.at - b.at);

  /** On a slow machine a worker that is killed on time was never at work: nobody would be asked before the faults are over. */
  const nextRequest = async (): Promise<void> => {
    const [before, latest] = [world.taken.length, Date.now() + mostIdleMs];
    while (world.taken.length === before && Date.now() < latest) await pause(50, signal);
  };
  let killed = 0;
  const suffering = Object.entries(processes).flatMap(([hit, list]) =>
    list.map(async (one, which) => {
      for (const kill of plan.kills.filter((fault) => fault.hit === hit && fault.which === which)) {
        await pause(kill.afterMs, signal);
        if (hit === 'worker') await nextRequest();
        await one.suffer(kill);
        killed++;
      }
    }),
  );
  const suffered = Promise.all(suffering);
  // Told where it is awaited, below.
  suffered.catch(() => undefined);

  /** On a slow machine kills take longer than planned: the load waits for them, or the last ones would hit idle processes. */
  const sinceBegin = (): number => {
    const share = plan.kills.length === 0 ? 1 : (killed + killsAhead) / plan.kills.length;
    return Math.min(Date.now() - begun, share >= 1 ? Number.POSITIVE_INFINITY : share * plan.options.loadMs);
  };
  let next = 0;
  let operator: Promise<void> | undefined;
  let isOperatorDone = false;
  for (let told = begun; ; ) {
    const now = Date.now();
    for (let act = acts[next]; act && act.at <= sinceBegin(); act = acts[++next]) act.run();
    customers.act(world);
    if (operator === undefined && next >= acts.length / 2) {
      operator = atHalf().finally(() => {
        isOperatorDone = true;
      });
      // Told where it is awaited, below.
      operator.catch(() => undefined);
    }
    if (now - told >= 5_000) {
      told = now;
      await look();
      say(`${next} of ${acts.length} steps, ${killed} of ${plan.kills.length} kills, ${world.taken.length} requests`);
    }
    if (next >= acts.length && killed >= plan.kills.length && isOperatorDone) break;
    await pause(20, signal);
  }
  await Promise.all([suffered, operator]);
  return steps;
}
