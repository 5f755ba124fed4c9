import type { z } from 'zod';
import type { Log, Ports } from './ports.ts';

/** One HTTP request as a vendor delivered it. Header names are lower case. */
export interface Delivery {
  method: string;
  /** The address the vendor called, as configured (`publicUrl` + path): never rebuilt from Host or X-Forwarded-*. */
  url: string;
  headers: Readonly<Record<string, string | undefined>>;
  /** The bytes as they came, before any decoding. */
  raw: Uint8Array;
  receivedAt: Date;
}

/** Fails closed: a missing header is `unsigned`; an empty secret is refused when the configuration is loaded. */
export type Verdict = { ok: true } | { ok: false; why: 'unsigned' | 'mismatch' | 'stale' };

/**
 * What a delivery says happened to a record. A hint, not the truth: the worker always reads the record before it acts.
 * - `closed`: it may have gone from open to closed. Starts a journey unless one exists for this closing.
 * - `changed`: something that may end a running journey (reopened, merged, deleted, marked as spam …). Starts nothing.
 */
export interface SourceEvent {
  kind: 'closed' | 'changed';
  /** The record, unique within the source: no spaces, no ':', at most 100 characters. */
  recordId: string;
  /** When it happened at the vendor; the time of receipt where the vendor doesn't say. */
  at: Date;
  /** Same for every repetition of this event, different for every other event of the source. */
  key: string;
  /** The vendor says that it closed, not only that it may have: a record found open gets a journey that says so. */
  certain?: boolean;
  /** In words, for the trace: "status SOLVED, was OPEN". No personal data. */
  what: string;
}

/** What a delivery holds: events for the queue, and the reason for everything that was left out. */
export type Events =
  | { ok: true; events: SourceEvent[]; ignored: { what: string; why: string }[] }
  | { ok: false /** What is wrong with the body, without quoting it. */; why: string };

/**
 * Is the record closed now, and by which closing?
 * `closing` names this open→closed transition: the same for every look at it, another after reopening and closing again.
 * Read for `ask`, a connector that would need more calls for it may give '': that the record is closed has to do then.
 */
export type RecordState =
  | { is: 'closed'; closing: string; closedAt: Date }
  | { is: 'open' }
  /** Never ask: merged, deleted, spam, requester is an agent … `why` is a sentence for the trace. */
  | { is: 'out'; why: string };

/** A record as rules and mappings see it. `shape` is the connector's documented, typed presentation. */
export interface PresentedRecord<Shape extends object = object> {
  /** The id asked for; `currentId` differs after a merge. */
  id: string;
  currentId: string;
  state: RecordState;
  /** What expressions run over. JSON values only. */
  shape: Shape;
  /** The person's IANA zone and language (BCP 47) where the vendor knows them. */
  timeZone?: string;
  locale?: string;
}

/** A grade to be put on a record. */
export interface WriteBack {
  recordId: string;
  /** Names this version of this journey's answer: one note per `marker`, found again after an unknown outcome. */
  marker: string;
  grade: number | null;
  comment: string | null;
  answeredAt: Date;
  /** For a note: name of the campaign and its highest grade, where known. */
  campaign: string;
  maxGrade?: number;
}

export type ReadResult<Shape extends object = object> =
  | { ok: true; record: PresentedRecord<Shape> }
  | { ok: false; why: 'not-found' }
  | { ok: false; why: 'error'; error: Error };

export type WriteResult =
  /** `findings`: what the vendor didn't take, with the remedy (a dropdown value that doesn't exist …). */
  | { ok: true; findings: string[] }
  /** The record can't be written any more: a closed ticket. Kept on our side, not retried. */
  | { ok: false; why: 'closed' | 'not-found'; message: string }
  | { ok: false; why: 'error'; error: Error };

/** The quota of one vendor account, shared by all processes. Before every vendor call: `take`. */
export interface Budget {
  /**
   * Waits for a slot. Throws a transient CloseloopError with `retryAfterMs` and `throttled` when the wait would be long.
   * @param lane Names an endpoint with a limit of its own ("search"); the account's own budget is always taken as well.
   */
  take(lane?: string): Promise<void>;
  /** The vendor told us to stop: no call of this account (or lane), from any process, before `ms` have passed. */
  pause(ms: number, lane?: string): Promise<void>;
}

/** What the worker hands to a connector when it opens a source. */
export interface ConnectorPorts extends Ports {
  log: Log;
  budget: Budget;
}

/**
 * One configured account, open for work. Methods are safe to call concurrently. What goes wrong is a CloseloopError
 * (errors.ts) whose advice says what the queue does; a zod error (the vendor answered in another shape) is permanent.
 */
export interface Source<Shape extends object = object> {
  /** Is this delivery signed with one of the configured secrets? Pure. */
  verify(delivery: Delivery): Verdict;
  /** What it says. Called only after `verify`. Pure. */
  events(delivery: Delivery): Events;
  /**
   * Reads up to any number of records in as few vendor calls as possible; one result per id, in order.
   * `purpose: 'plan'` needs everything rules can see; `'ask'` needs state only (is it still closed, merged, deleted?)
   * and may leave the rest of `shape` out.
   * A failure of the whole call (429, network) is thrown; a failure of some records is in their results.
   */
  read(recordIds: readonly string[], purpose: 'plan' | 'ask'): Promise<ReadResult<Shape>[]>;
  /** Writes grades on records, in as few vendor calls as possible, and checks that the vendor took them. One result per item, in order. */
  writeBack(items: readonly WriteBack[]): Promise<WriteResult[]>;
  /** How many records one vendor call takes; the worker gathers this many before it calls `read` or `writeBack`. */
  batchSize: number;
  /** Status for an accepted delivery: 202 unless the vendor needs exactly 200. */
  acceptedStatus: 200 | 202;
}

/** What a connector's file exports. `defineConnector` hides the type of its settings, so that one list holds them all. */
export interface Connector {
  readonly name: string;
  /** Settings of a source of this connector, for the configuration's schema. `writeBack` is part of them. */
  readonly settings: z.ZodType;
  /** The vendor's account, whose quota all sources of it share; `undefined`: the source is alone in it. */
  account(settings: unknown): string | undefined;
  open(settings: unknown, ports: ConnectorPorts): Source;
}

/**
 * Declares a connector: its name, the settings it takes in a source's section of the configuration, and how to open one.
 * The worker parses the settings once, with `settings`; `open` gets the parsed value.
 */
export function defineConnector<Settings extends z.ZodType>(definition: {
  name: string;
  settings: Settings;
  account?: (settings: z.output<Settings>) => string;
  open: (settings: z.output<Settings>, ports: ConnectorPorts) => Source;
}): Connector {
  const { name, settings, account, open } = definition;
  return {
    name,
    settings,
    account: (raw) => account?.(settings.parse(raw)),
    open: (raw, ports) => open(settings.parse(raw), ports),
  };
}
