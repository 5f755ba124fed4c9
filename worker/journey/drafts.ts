import type { Ports } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { Journey, TraceLine } from './journey.ts';
import type { Decision } from './transitions.ts';

/** A closing that may become a journey. */
export interface NewClosing {
  recordId: string;
  /** Names the open→closed transition, see core/connector/contract.ts. */
  closing: string;
  closedAt: Date;
  backfilled?: boolean;
  eventKey: string;
  receivedAt: Date;
  /** Called once its journey is stored; not where another worker has stored that. */
  onStored?: OnStored;
}

type OnStored = (journey: Journey) => Promise<void>;

/** A journey that is not stored yet, with the event that it begins with, and its trace. */
export interface Draft {
  /** The journey as it began, and after each step that was taken in memory. */
  steps: readonly [Journey, ...Journey[]];
  eventKey: string;
  trace: readonly TraceLine[];
  /** The memory of its record before the record was read; undefined: it is not compared. */
  seen: string | undefined;
  onStored: OnStored | undefined;
}

/** The lines of a trace, without what may be secret. */
export function linesOf(texts: readonly string[], at: Date): TraceLine[] {
  return texts.map((text) => ({ at, text: redacted(text) }));
}

/** The journeys of one source that are not stored yet. `JourneyStore.update` stores them. */
export class Drafts {
  readonly #source: string;
  readonly #now: Ports['now'];
  readonly #traceContext: () => string | undefined;
  readonly #all = new WeakMap<Journey, Draft>();

  constructor(source: string, ports: Pick<Ports, 'now'> & { traceContext?: () => string | undefined }) {
    this.#source = source;
    this.#now = ports.now;
    this.#traceContext = ports.traceContext ?? (() => undefined);
  }

  /**
   * A journey in `received`: its first change stores it, so that both are one write.
   * @param id as `RememberedRecord.nameOf` says
   * @param seen `RememberedRecord.seen`, of before the record was read: the draft can't be stored once that has changed
   */
  make(id: string, wanted: NewClosing, trace: readonly string[], seen?: string): Journey {
    const draft = this.begin(id, wanted, trace, seen);
    const [journey] = draft.steps;
    this.#all.set(journey, draft);
    return journey;
  }

  has(journey: Journey): boolean {
    return this.#all.has(journey);
  }

  /**
   * Takes a step of a draft in memory: the draft's next change stores both in one write. Undefined for a stored journey, and for a draft
   * that does not know what was seen of its record: an event that came in between would find no journey to end.
   */
  hold(journey: Journey, decide: (journey: Journey) => Decision): Journey | undefined {
    const draft = this.#all.get(journey);
    const decision = draft?.seen === undefined ? undefined : decide(journey);
    if (!draft || !decision) return undefined;
    const trace = [...draft.trace, ...linesOf(decision.trace, this.#now())];
    this.#all.delete(journey);
    this.#all.set(decision.journey, { ...draft, steps: [...draft.steps, decision.journey], trace });
    return decision.journey;
  }

  /** Undefined for a journey that is stored. */
  of(journey: Journey): Draft | undefined {
    return this.#all.get(journey);
  }

  /** It is stored. */
  end(journey: Journey): void {
    this.#all.delete(journey);
  }

  /** Does the same as `make`, for a caller that stores the draft at once. */
  begin(id: string, wanted: NewClosing, trace: readonly string[], seen?: string): Draft {
    const { recordId, closing, closedAt, receivedAt, backfilled, eventKey, onStored } = wanted;
    const traceContext = this.#traceContext();
    const journey: Journey = {
      id,
      source: this.#source,
      recordId,
      ...(traceContext !== undefined && { traceContext }),
      state: 'received',
      receivedAt,
      updatedAt: this.#now(),
      closing,
      closedAt,
      ...(backfilled && { backfilled }),
    };
    return { steps: [journey], eventKey, trace: linesOf(trace, this.#now()), seen, onStored };
  }
}
