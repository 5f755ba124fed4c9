import { setTimeout as sleep } from 'node:timers/promises';
import { ControlError } from '../../../standins/kit/control.ts';
import { keyOf, type Step } from './evidence.ts';
import { advanced } from './pace.ts';
import type { Plan, ProcessFault } from './plan.ts';
import { addressesOf, deskRef, type PlannedRecord } from './planned-record.ts';
import type { Kept } from './processes.ts';
import type { Taken, World } from './world.ts';

/** @throws when `signal` ends the run */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

/** They answer what the service sends them, as the plan says, whatever else happens meanwhile. */
export class Customers {
  readonly #byNumber: ReadonlyMap<number, PlannedRecord>;
  readonly #byContact: ReadonlyMap<string, PlannedRecord>;
  #due: { at: number; requestId: number; answer: PlannedRecord['answers'][number] }[] = [];

  constructor(records: readonly PlannedRecord[]) {
    this.#byNumber = new Map(records.map((record) => [record.id, record]));
    this.#byContact = new Map(
      records.flatMap((record) => addressesOf(record).map((address) => [address, record] as const)),
    );
  }

  /** Answers still to be given. */
  get waiting(): number {
    return this.#due.length;
  }

  got({ requestId, contact, marker, at }: Taken): void {
    const id = deskRef.exec(marker ?? '')?.[1];
    const record = id === undefined ? this.#byContact.get(contact) : this.#byNumber.get(Number(id));
    for (const answer of record?.answers ?? []) this.#due.push({ at: at + answer.afterMs, requestId, answer });
    this.#due.sort((a, b) => a.at - b.at);
  }

  act(world: Pick<World, 'answer'>): void {
    const now = Date.now();
    /** Requests that have not gone out yet. Their answers wait, in their order: of the same grade, closeloop could not see the last one. */
    const early = new Set<number>();
    this.#due = this.#due.filter(({ at, requestId, answer: { grade, comment } }) => {
      if (at > now || early.has(requestId)) return true;
      try {
        world.answer(requestId, { grade, ...(comment === undefined ? {} : { comment }) });
        return false;
      } catch (error) {
        if (!(error instanceof ControlError)) throw error;
        early.add(requestId);
        return true;
      }
    });
  }
}

/** What an operator does once the load has come so far. */
export interface Operation {
  /** 0 to 1. */
  share: number;
  run: () => Promise<void>;
}

export interface Stage {
  world: World;
  customers: Customers;
  processes: Record<ProcessFault['hit'], readonly Kept[]>;
  /** Looks at what lies in Redis, every few seconds. */
  look: () => Promise<void>;
  /** One after the other, in order. */
  operations: readonly Operation[];
  say: (line: string) => void;
  signal: AbortSignal;
}

/** A worker is killed, though the service has got no request, after so long: a job of a killed worker is taken up after 10 s. */
const mostIdleMs = 15_000;

/** Plays the plan. Returns what happened to the records, and when: by their keys. */
export async function raise(plan: Plan, stage: Stage): Promise<Map<string, Step[]>> {
  const { world, customers, look, say, signal } = stage;
  const kills = beginKills(plan, stage);
  const lives = new Lives(plan, world);
  const operator = new Operator(stage.operations);
  const begun = Date.now();
  const { loadMs } = plan.options;
  const total = plan.kills.length;
  let position = 0;
  for (let [last, told] = [begun, begun]; ; ) {
    const now = Date.now();
    position = advanced({ position, loadMs, elapsedMs: now - begun, killed: kills.done, kills: total }, now - last);
    last = now;
    lives.live(position);
    customers.act(world);
    operator.go(position / loadMs);
    if (now - told >= 5_000) {
      told = now;
      await look();
      say(`${lives.told}, ${kills.done} of ${total} kills, ${world.taken.length} requests`);
    }
    if (lives.isOver && kills.done >= total && operator.isDone) break;
    await pause(20, signal);
  }
  await Promise.all([kills.end, operator.end()]);
  return lives.steps;
}

/** Kills the processes, each its own ones in turn. */
function beginKills(plan: Plan, { world, processes, signal }: Stage): { readonly done: number; end: Promise<unknown> } {
  /** On a slow machine a worker that is killed on time was never at work: nobody would be asked before the faults are over. */
  const nextRequest = async (): Promise<void> => {
    const [before, latest] = [world.taken.length, Date.now() + mostIdleMs];
    while (world.taken.length === before && Date.now() < latest) await pause(50, signal);
  };
  let done = 0;
  const suffering = Object.entries(processes).flatMap(([hit, list]) =>
    list.map(async (one, which) => {
      for (const kill of plan.kills.filter((fault) => fault.hit === hit && fault.which === which)) {
        await pause(kill.afterMs, signal);
        if (hit === 'worker') await nextRequest();
        await one.suffer(kill);
        done++;
      }
    }),
  );
  const end = Promise.all(suffering);
  // Told where it is awaited.
  end.catch(() => undefined);
  return {
    get done() {
      return done;
    },
    end,
  };
}

/** The lives of the records: each begins when the load has come so far, and goes on by the clock. */
class Lives {
  readonly steps = new Map<string, Step[]>();
  readonly #plan: Plan;
  readonly #world: World;
  #begun = { records: 0, faults: 0 };
  #due: { at: number; record: PlannedRecord; act: PlannedRecord['acts'][number] }[] = [];

  constructor(plan: Plan, world: World) {
    this.#plan = plan;
    this.#world = world;
  }

  live(position: number): void {
    const { records, faults } = this.#plan;
    const now = Date.now();
    for (let fault = faults[this.#begun.faults]; fault && fault.at <= position; ) {
      this.#world.order(fault);
      fault = faults[++this.#begun.faults];
    }
    for (let record = records[this.#begun.records]; record && record.at <= position; ) {
      const current = record;
      this.#world.add(current);
      this.#due.push(...current.acts.map((act) => ({ at: now + act.afterMs, record: current, act })));
      record = records[++this.#begun.records];
    }
    const due = this.#due.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    this.#due = this.#due.filter(({ at }) => at > now);
    for (const { record, act } of due) {
      const key = keyOf(record);
      const step = { do: act.do, ...('to' in act && { to: act.to }), at: Date.now() };
      this.steps.set(key, [...(this.steps.get(key) ?? []), step]);
      this.#world.act(record, act);
    }
  }

  get isOver(): boolean {
    const { records, faults } = this.#plan;
    return this.#begun.records >= records.length && this.#begun.faults >= faults.length && this.#due.length === 0;
  }

  get told(): string {
    return `${this.#begun.records} of ${this.#plan.records.length} records (${this.#due.length} steps to come)`;
  }
}

class Operator {
  readonly #operations: readonly Operation[];
  #next = 0;
  #doing: Promise<void> | undefined;
  #isBusy = false;

  constructor(operations: readonly Operation[]) {
    this.#operations = operations;
  }

  go(share: number): void {
    const operation = this.#operations[this.#next];
    if (!operation || this.#isBusy || share < operation.share) return;
    this.#next++;
    this.#isBusy = true;
    const before = this.#doing;
    this.#doing = (async () => {
      await before;
      await operation.run();
    })().finally(() => {
      this.#isBusy = false;
    });
    // Told where it is awaited.
    this.#doing.catch(() => undefined);
  }

  get isDone(): boolean {
    return this.#next >= this.#operations.length && !this.#isBusy;
  }

  async end(): Promise<void> {
    await this.#doing;
  }
}
