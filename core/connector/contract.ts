import type { z } from 'zod';
import type { Log, Ports } from '../ports.ts';
import type { AnswerValue, SourceEvent } from './events.ts';
import type { Budget } from './quota.ts';

export type {
  AnswerValue,
  EraseEvent,
  ExternalGradeEvent,
  RecordEvent,
  RevokedEvent,
  SourceEvent,
  SurveyEvent,
} from './events.ts';
export { mostEvents } from './events.ts';
export type { Budget, PointsBucket, PointsTaken, PointsWanted, Quota, RateLimit, Urgency } from './quota.ts';

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

/** What a request of the vendor's is answered. */
export interface HttpReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Fails closed: a missing header is `unsigned`; an empty secret is refused when the configuration is loaded. */
export type Verdict = { ok: true } | { ok: false; why: 'unsigned' | 'mismatch' | 'stale' };

/** What a delivery holds: events for the queue, and the reason for everything that was left out. */
export type Events =
  | {
      ok: true;
      events: SourceEvent[];
      /** `act`: a person has to do something about it; `why` says what. */
      ignored: { what: string; why: string; act?: true }[];
    }
  | { ok: false /** What is wrong with the body, without quoting it. */; why: string };

/**
 * A page of what changed since a point in time, oldest first. The worker hands the events on like those of webhooks, and
 * stores `cursor` only then: a page may come again, so its events' keys name the closing, not the look.
 */
export interface PollPage {
  /** Of any kind: also that a person is to be forgotten, or a grade that was given at the vendor. */
  events: SourceEvent[];
  /** Where the next page begins. At most 2,000 characters. */
  cursor: string;
  /** Nothing more for now: the next poll begins at `cursor`. */
  done: boolean;
  /** How far in time this page reaches. */
  reached: Date;
}

/**
 * Is the record closed now, and by which closing?
 * `closing` names this open→closed transition: the same for every look at it, another after reopening and closing again.
 * Read for `ask`, a connector that would need more calls for it may give '': that the record is closed has to do then.
 */
export type RecordState =
  | { is: 'closed'; closing: string; closedAt: Date }
  /** `lookAgainAt`: it will count as closed then, if nothing else happens (no word of delivery: the fallback). Real time. */
  | { is: 'open'; lookAgainAt?: Date }
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
  /** The vendor's id of the person who would be asked: finds their journeys when they are to be forgotten. */
  personId?: string;
  /** The person's IANA zone and language (BCP 47) where the vendor knows them. */
  timeZone?: string;
  locale?: string;
}

/** An answer to be put on a record, or that none came. */
export interface WriteBack {
  recordId: string;
  /** `no-answer`: the journey expired (grade and comment are null, `answeredAt` is when). Only where the source asks for it. */
  outcome: 'answered' | 'no-answer';
  /** As in `PresentedRecord.personId`, where it was known. */
  personId?: string;
  /** The feedback request. */
  requestId?: string;
  /** Answers of a survey, by question id. */
  answers?: Readonly<Record<string, AnswerValue>>;
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
  /**
   * `findings`: what of the answer the vendor didn't take, with the remedy (a dropdown value that doesn't exist …): the
   * journey is parked until a person has acted, and written again then.
   * `remarks`: what else the trace should say, about which nobody has to do anything (the record holds a later answer …).
   * `where`: for the trace, when it isn't the record itself ("the requester's user field, as the ticket is closed").
   */
  | { ok: true; findings: string[]; remarks?: string[]; where?: string }
  /** The record can't be written any more: a closed ticket. Kept on our side, not retried. */
  | { ok: false; why: 'closed' | 'not-found'; message: string }
  /**
   * A CloseloopError that is permanent: the vendor refuses this record as it is (a required field is empty …), and the
   * message says what a person has to mend. The journey is parked until then.
   */
  | { ok: false; why: 'error'; error: Error };

/**
 * Small secrets that change while closeloop runs (a rotated refresh token): one store for all processes, sealed at
 * rest with the installation's key. Names are the source's own.
 */
export interface Vault {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** One at a time over all processes: whoever comes second finds what the first one stored. */
  locked<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * For vendors without an API to read records from: the snapshots that their events carry (`RecordEvent.snapshot`). The worker
 * keeps the newest, by the event's `at`, before it does anything else about the event: one store for all processes, whatever
 * came twice or late. A snapshot is kept as long as the record has a journey, otherwise as long as a settled journey, and
 * goes when the person is erased.
 */
export interface RecordSnapshots {
  /** One per id, in order; undefined for a record without a snapshot. */
  of(recordIds: readonly string[]): Promise<unknown[]>;
}

/** What the worker hands to a connector when it opens a source. */
export interface ConnectorPorts extends Ports {
  /** Where the vendor has to deliver; left out while `http.publicUrl` isn't configured. */
  hookUrl?: string;
  log: Log;
  budget: Budget;
  vault: Vault;
  snapshots: RecordSnapshots;
}

/**
 * One configured account, open for work. Methods are safe to call concurrently. What goes wrong is a CloseloopError
 * (errors.ts) whose advice says what the queue does; a zod error (the vendor answered in another shape) is permanent.
 */
export interface Source<Shape extends object = object> {
  /**
   * What a vendor is answered that only tries the address, or is about to use it: a HEAD, a GET with a challenge, an unsigned
   * ping. Asked before `verify`, about any method; undefined: a delivery like any other. Pure. Left out: deliveries come by
   * POST, and nothing else does.
   */
  handshake?(request: Delivery): HttpReply | undefined;
  /** Is this delivery signed with one of the configured secrets? Pure. */
  verify(delivery: Delivery): Verdict;
  /** What it says. Called only after `verify`. Pure; a promise only for expressions of the configuration. */
  events(delivery: Delivery): Events | Promise<Events>;
  /**
   * Reads up to any number of records in as few vendor calls as possible; one result per id, in order.
   * `purpose: 'plan'` needs everything rules can see; `'ask'` needs state only (is it still closed, merged, deleted?)
   * and may leave the rest of `shape` out.
   * A failure of the whole call (429, network) is thrown; a failure of some records is in their results.
   */
  read(recordIds: readonly string[], purpose: 'plan' | 'ask'): Promise<ReadResult<Shape>[]>;
  /** Writes grades on records, in as few vendor calls as possible, and checks that the vendor took them. One result per item, in order. */
  writeBack(items: readonly WriteBack[]): Promise<WriteResult[]>;
  /**
   * What changed since a cursor, or since an instant when there is none: at most one vendor call's worth of records, out of
   * the budget as `background`. Finds what webhooks missed, and what `backfill` asks for. Left out: nothing does.
   */
  poll?(from: { cursor: string } | { since: Date }): Promise<PollPage>;
  /** Everything that would keep this source from working, found at the live account. Changes nothing. */
  check?(about: PreflightContext): Promise<Finding[]>;
  /** The steps that are still missing at the vendor, in order; none when everything is there. Looks only: `apply` acts. */
  setup?(about: PreflightContext): Promise<SetupStep[]>;
  /**
   * Takes off records again all that `writeBack` put there, for people who are to be forgotten. May be repeated; records that
   * are gone are none of its business. What has to stay is in the result: in words for the proof, without personal data
   * ("the notes: Zendesk deletes none"). Left out: everything stays, and the proof says so.
   */
  forget?(recordIds: readonly string[]): Promise<string[]>;
  /** Expired journeys are written back as `no-answer`. */
  writesNoAnswer?: boolean;
  /** Its events bring grades given elsewhere (`ExternalGradeEvent`): some rule has to name an external campaign. */
  bringsExternalGrades?: boolean;
  /** What the bodies of deliveries may be beside JSON. */
  alsoTakes?: readonly ('form' | 'xml')[];
  /** Bytes of a delivery's body. Default 1 MiB; vendors that send a record's whole history need more. */
  largestBody?: number;
  /** The questions (`writeBack.answers`) whose answers it writes, by id: `check` looks for them among the service's surveys. */
  surveyQuestions?: readonly string[];
  /** What people write for a record (the vendor's own address of it …). Left out: they write it as events do. */
  recordNames?: {
    /** As events name the record; undefined: it can't be one of this source. */
    parse(written: string): string | undefined;
    /** How to write it: 'deal-7 or ticket-7'. */
    like: string;
  };
  /** How many records one vendor call takes; the worker gathers this many before it calls `read` or `writeBack`. */
  batchSize: number;
  /** What a delivery is answered that was taken: 202 unless the vendor needs exactly 200, and the body that it wants. */
  taken: HttpReply & { status: 200 | 202 };
  /** And one that could not be stored, where the vendor keeps it longer for it. Default: 503 with Retry-After. Never a 2xx. */
  notStored?: HttpReply & { status: 429 | 500 | 503 };
}

/** What `check` and `setup` know of the rest of the configuration. */
export interface PreflightContext {
  /** Where the vendor has to deliver; left out while `http.publicUrl` isn't configured. */
  hookUrl?: string;
  /** Every grade that the rules' campaigns can give, ascending; empty where they couldn't be read. */
  grades: readonly number[];
  /** What the rules' expressions read of the record: `at` is the place in the configuration, `path` its names. */
  reads: readonly { at: string; path: readonly string[] }[];
  /** From closing to the last moment at which an answer is still expected. */
  answersWithinMs: number;
}

/** One thing that is wrong. An `error` keeps the source from working; a `warning` will surprise somebody. */
export interface Finding {
  level: 'error' | 'warning';
  /** The place: a path in the source's settings (`writeBack.grade`), or a thing at the vendor (`webhook`). */
  at: string;
  /** No personal data, no secrets. */
  problem: string;
  /** What to do, in words that say where. */
  remedy: string;
}

export interface SetupStep {
  /** 'create the ticket field "Feedback grade" (integer)' */
  what: string;
  /**
   * Does it. `note`: what a person has to do with the outcome, if anything. `secrets`: by the setting that takes them (shown
   * once, under the variable that the configuration names there), or by a variable's name. May be applied again after a
   * failure.
   */
  apply(): Promise<{ note?: string; secrets?: Readonly<Record<string, string>> }>;
}

/** A source whose settings have been parsed. */
export interface ParsedSource {
  /** The vendor's account, whose quota all sources of it share; `undefined`: the source is alone in it. */
  account: string | undefined;
  open(ports: ConnectorPorts): Source;
}

/** What a connector's file exports. `defineConnector` hides the type of its settings, so that one list holds them all. */
export interface Connector {
  readonly name: string;
  /** Settings of a source of this connector, for the configuration's schema. `writeBack` is part of them. */
  readonly settings: z.ZodType;
  /** The same schema, by which the worker parses a source's settings once: what comes out can be opened. */
  readonly sources: z.ZodType<ParsedSource>;
  /** As `sources` says of settings as written. */
  account(settings: unknown): string | undefined;
  open(settings: unknown, ports: ConnectorPorts): Source;
}

/**
 * Declares a connector: its name, the settings it takes in a source's section of the configuration, and how to open one.
 * `account` and `open` get the parsed value.
 */
export function defineConnector<Settings extends z.ZodType>(definition: {
  name: string;
  settings: Settings;
  account?: (settings: z.output<Settings>) => string;
  open: (settings: z.output<Settings>, ports: ConnectorPorts) => Source;
}): Connector {
  const { name, settings, account, open } = definition;
  const sources = settings.transform((parsed) => ({
    account: account?.(parsed),
    open: (ports: ConnectorPorts) => open(parsed, ports),
  }));
  return {
    name,
    settings,
    sources,
    account: (raw) => sources.parse(raw).account,
    open: (raw, ports) => sources.parse(raw).open(ports),
  };
}
