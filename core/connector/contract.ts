import { z } from 'zod';
import type { Log, Ports } from '../ports.ts';
import type { AnswerValue, SourceEvent } from './events.ts';
import type { FieldSuggestion, Onboarding } from './onboarding.ts';
import type { Budget } from './quota.ts';
import type { RecordParts } from './record-parts.ts';
import { wholeSource } from './whole.ts';

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
export type { RecordPart, RecordParts } from './record-parts.ts';

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

/** The response to a request of the vendor. */
export interface HttpReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/**
 * Fails closed: a missing header is `unsigned`; an empty secret is refused when the configuration is loaded. `detail`: a sentence for the
 * sender, which tells nothing else of a secret than `why`. Left out: the usual one for `why`.
 */
export type Verdict = { ok: true } | { ok: false; why: 'unsigned' | 'mismatch' | 'stale'; detail?: string };

/** The content of a delivery: events for the queue, and the reason for each part that is left out. */
export type Events =
  | {
      ok: true;
      events: SourceEvent[];
      /** `act`: a person has to do something about it; `why` says what. */
      ignored: { what: string; why: string; act?: true }[];
    }
  | { ok: false /** What is wrong with the body, without quoting it. */; why: string };

/**
 * A page of the changes since an instant, oldest first. The worker queues the events like those of webhooks and stores `cursor`
 * only then: a page may come again, so the key of an event names the closing, not the poll.
 */
export interface PollPage {
  /** Events of any kind, also erasures and grades given at the vendor. */
  events: SourceEvent[];
  /** The begin of the next page. At most 2,000 characters. */
  cursor: string;
  /** The last page for now: the next poll begins at `cursor`. */
  done: boolean;
  /** All changes before this instant have been seen. */
  reached: Date;
}

/**
 * Is the record closed now, and by which closing?
 * `closing` names this open→closed transition: the same name at every read, another name after reopening and closing again.
 */
export type RecordState =
  | { is: 'closed'; closing: string; closedAt: Date }
  /** `readAgainAt`: the real time at which the record will count as closed if nothing else happens (a parcel without a delivery event). */
  | { is: 'open'; readAgainAt?: Date }
  /** Never ask: merged, deleted, spam, requester is an agent … `why` is a sentence for the trace. */
  | { is: 'out'; why: string };

/** A record as rules and mappings see it. `shape` is the connector's documented, typed presentation. */
export interface PresentedRecord<Shape extends object = object> {
  /** The requested id; `currentId` differs after a merge. */
  id: string;
  currentId: string;
  state: RecordState;
  /** The input of expressions. JSON values only. */
  shape: Shape;
  /** The vendor's id of the customer who would be asked. Erasures find the customer's journeys by it. */
  personId?: string;
  /** The customer's IANA zone and language (BCP 47) where the vendor knows them. */
  timeZone?: string;
  locale?: string;
  /** The country of the customer's address (ISO 3166 code or English name), and its state or province. They give the time zone if the vendor has none. */
  country?: string;
  region?: string;
}

/** An answer to write on a record, or the fact that none came. */
export interface WriteBack {
  recordId: string;
  /** `no-answer`: the journey expired at `answeredAt`; grade and comment are null. Only with `writesNoAnswer`. */
  status: 'answered' | 'no-answer';
  /** The same id as `PresentedRecord.personId`, if known. */
  personId?: string;
  /** The feedback request. */
  requestId?: string;
  /** Answers of a survey, by question id. */
  answers?: Readonly<Record<string, AnswerValue>>;
  /** Names this version of the journey's answer: one note per `marker`, which a retry after an unknown outcome looks for. */
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
   * `findings`: the parts of the answer that the vendor didn't store, with the remedy (a dropdown lacks the value …). The journey
   * is parked until a person has acted, and its answer is written again then.
   * `remarks`: further lines for the trace, which need no action (the record holds a later answer …).
   * `where`: for the trace, if the answer is not on the record itself ("the requester's user field, as the ticket is closed").
   * `unwritten`: why nothing was written ("the source has no writeBack"). The journey says so in its end.
   */
  | { ok: true; findings: string[]; remarks?: string[]; where?: string; unwritten?: string }
  /** The record can't be written any more: a closed ticket. closeloop keeps the answer and does not retry. */
  | { ok: false; why: 'closed' | 'not-found'; message: string }
  /**
   * A permanent CloseloopError: the vendor refuses this record in its present state (a required field is empty …), and the
   * message says what a person has to change. The journey is parked until then. Any other error is for the queue, as if it were thrown.
   */
  | { ok: false; why: 'error'; error: Error };

/** One thing to do on a record, because of an answer. */
export interface ActionRequest {
  recordId: string;
  /** The action's name, as `Connector.actions` has it: 'reopen'. */
  name: string;
  /** The action's settings from the configuration, checked by the action's schema. The text of a note is evaluated already. */
  params: unknown;
  /** Names this action: the same at every attempt, another for every other action. */
  marker: string;
  /**
   * The closing that the record had when the action was first attempted, '' for an open record. An action that reopens leaves a record alone
   * that has another closing by then: it was done, and the record was closed again.
   */
  closing: string;
  /** An earlier attempt may have done the action, or the vendor may still do it: look first for what must not be there twice. */
  again: boolean;
}

/**
 * `done`: in words for the trace: 'reopened, in the group Escalations'. `closed` and `not-found` as of `WriteResult`. `error`: a permanent
 * CloseloopError says what a person has to change, and the action is parked. Any other error is for the queue, as if it were thrown.
 */
export type ActionResult =
  | { ok: true; done: string }
  | { ok: false; why: 'closed' | 'not-found'; message: string }
  | { ok: false; why: 'error'; error: Error };

/** An action that the configuration names. */
export interface UsedAction {
  /** A path in the source's settings: `answers[0].do[1].reopen`. */
  at: string;
  name: string;
  params: unknown;
}

/**
 * Small secrets that change while closeloop runs (a rotated refresh token): one store for all processes, encrypted with the
 * installation's key. Each source has its own names.
 */
export interface Vault {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Runs `work` under a lock that all processes share: the second caller finds what the first one stored. */
  locked<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * For vendors without an API that reads records: the snapshots in their events (`RecordEvent.snapshot`). Before the worker
 * processes an event it stores the snapshot, unless it holds one of a later event (`at`): one store for all processes, right also
 * when events come twice or late. A snapshot lives as long as the record has a journey, otherwise as long as a settled journey,
 * and is deleted when the person is erased.
 */
export interface RecordSnapshots {
  /** One per id, in order; undefined for a record without a snapshot. */
  of(recordIds: readonly string[]): Promise<unknown[]>;
}

/** What the worker passes to a connector when it opens a source. */
export interface ConnectorPorts extends Ports {
  /** The address for the vendor's webhooks; left out while `http.publicUrl` isn't configured. */
  hookUrl?: string;
  log: Log;
  budget: Budget;
  vault: Vault;
  snapshots: RecordSnapshots;
  /**
   * A keyed digest (43 characters, base64url), the same in every process of the installation and after any restart. In place of a record's
   * id that is personal data: ids stand in clear in keys, journeys, logs and the service's marker.
   */
  digest(text: string): string;
}

/**
 * One configured account, open for work. Methods are safe to call concurrently. They throw a CloseloopError (errors.ts), whose
 * advice says what the queue does; a zod error (the response has another shape) is permanent.
 */
export interface Source<Shape extends object = object> {
  /**
   * The response to a request by which the vendor tests the address: a HEAD, a GET with a challenge, an unsigned ping. Called
   * before `verify`, for any method; undefined: the request is a delivery. Pure. Left out: the vendor sends nothing but
   * deliveries, by POST.
   */
  handshake?(request: Delivery): HttpReply | undefined;
  /** Is this delivery signed with one of the configured secrets? Pure. */
  verify(delivery: Delivery): Verdict;
  /** The events in a delivery. Called only after `verify`. Pure; a promise only for expressions of the configuration. */
  events(delivery: Delivery): Events | Promise<Events>;
  /**
   * Reads up to any number of records in as few vendor calls as possible, with all that rules can read; one result per id, in order.
   * Throws for a failure of the whole call (429, network); a failure of one record is its result.
   * @param since all of these records have changed at or after this instant, where the worker knows: a vendor that reads no ids in bulk
   * can list what has changed since
   */
  read(recordIds: readonly string[], since?: Date): Promise<ReadResult<Shape>[]>;
  /**
   * Writes answers on records in as few vendor calls as possible, and checks that the vendor stored them. One result per item, in order.
   * Where the vendor can guard a write against changes since the record was read, every write is guarded.
   */
  writeBack(items: readonly WriteBack[]): Promise<WriteResult[]>;
  /**
   * How long the vendor may still carry out a write whose response was lost, or whose call was given up: after that the newest answer is
   * written once more, and the answer of a person who was forgotten meanwhile is taken off. Left out: five minutes.
   */
  lateWriteMs?: number;
  /**
   * The changes since a cursor, or since an instant where there is no cursor: at most the records of one vendor call, with the
   * urgency `background`. Finds closings that webhooks missed, and serves `backfill`. Left out: neither works.
   */
  poll?(from: { cursor: string } | { since: Date }): Promise<PollPage>;
  /** Everything in the live account that would keep this source from working. Changes nothing. */
  check?(about: PreflightContext): Promise<Finding[]>;
  /** The missing steps of the setup at the vendor, in order; none when it is complete. Reads only: `apply` acts. */
  setup?(about: PreflightContext): Promise<SetupStep[]>;
  /** Steps, as `setup` gives them, for things that the vendor has and the settings lack: a lost secret that the vendor shows again. */
  recover?(about: PreflightContext): Promise<SetupStep[]>;
  /**
   * Removes from records all that `writeBack` put there, for a person who is to be forgotten. Repeatable; ignores records that
   * the vendor no longer has. Returns what could not be removed, in words for the proof, without personal data ("the notes:
   * Zendesk deletes none"). Left out: everything stays, and the proof says so.
   * @param recordIds the vendor's own ids (`vendorIds`), as far as they are known
   */
  forget?(recordIds: readonly string[]): Promise<string[]>;
  /**
   * Does things on records because of answers. Called only for the names in `Connector.actions`, with those of at most `batchSize` records:
   * what is to be done on one record follows each other, and is done in this order.
   * @returns one result per request, in order. A thrown error holds for all of them.
   */
  act?(requests: readonly ActionRequest[]): Promise<ActionResult[]>;
  /** The names of the actions that `act` does. Left out: those that the connector declares. */
  acts?: readonly string[];
  /** Finds why these actions can't work: a group, stage, user or tag that does not exist. Changes nothing. */
  checkActions?(used: readonly UsedAction[]): Promise<Finding[]>;
  /** The fields that this account has on its records, for `closeloop init` to choose from. */
  fields?(): Promise<FieldSuggestion[]>;
  /** The vendor delivers nothing here: what the poll finds was missed by nobody, and waits for no webhook. */
  isPolled?: boolean;
  /** Expired journeys are written back as `no-answer`. */
  writesNoAnswer?: boolean;
  /** Its events bring grades given elsewhere (`ExternalGradeEvent`): a rule has to name an external campaign. */
  bringsExternalGrades?: boolean;
  /** Content types of deliveries beside JSON. */
  alsoTakes?: readonly ('form' | 'xml')[];
  /** The largest body of a delivery in bytes. Default 1 MiB; vendors that send a record's whole history need more. */
  largestBody?: number;
  /** Ids of the questions in `writeBack.answers`: `check` looks for them among the service's surveys. */
  surveyQuestions?: readonly string[];
  /** How people may write a record's id (as the vendor's address of the record …). Left out: as events do. */
  recordNames?: {
    /** The id as in events; undefined: no record of this source. */
    parse(written: string): string | undefined;
    /** Examples: 'deal-7 or ticket-7'. */
    like: string;
  };
  /** The word for a record in mails: 'ticket', 'order'. Left out: 'record'. */
  recordNoun?: string;
  /** Whether this id, which the sender has chosen, may be a customer's name or number. Left out: the vendor counts its records. */
  mayNamePerson?(recordId: string): boolean;
  /**
   * The vendor's own ids of these records, for a connector whose events carry digests in their place; undefined for an id that was erased.
   * Left out: the events carry the vendor's ids.
   */
  vendorIds?(recordIds: readonly string[]): Promise<(string | undefined)[]>;
  /** Where people see the record at the vendor: an https address. Left out, or undefined: nobody can tell. */
  recordUrl?(recordId: string): string | undefined;
  /** The most records that the worker collects for one `read` or `writeBack`: as many as the call that takes the most. */
  batchSize: number;
  /** The response to a stored delivery: 202 unless the vendor needs exactly 200, and the body that the vendor wants. */
  taken: HttpReply & { status: 200 | 202 };
  /** The response to a delivery that could not be stored, where another one makes the vendor retry longer. Default: 503 with Retry-After. */
  notStored?: HttpReply & { status: 429 | 500 | 503 };
}

/** The parts of the configuration outside the source's settings that `check` and `setup` need. */
export interface PreflightContext {
  /** The address for the vendor's webhooks; left out while `http.publicUrl` isn't configured. */
  hookUrl?: string;
  /** Every grade of the rules' campaigns, ascending; empty where the campaigns couldn't be read. */
  grades: readonly number[];
  /** The names that the rules' expressions read of the record: `at` is the place in the configuration, `path` the names. */
  reads: readonly { at: string; path: readonly string[] }[];
  /** From closing to the last moment at which an answer is still expected. */
  answersWithinMs: number;
}

/** A problem. An `error` keeps the source from working; a `warning` has effects that people may not expect. */
export interface Finding {
  level: 'error' | 'warning';
  /** A path in the source's settings (`writeBack.grade`), or an object at the vendor (`webhook`). */
  at: string;
  /** No personal data, no secrets. */
  problem: string;
  /** The remedy: what a person has to do, and where. */
  remedy: string;
}

export interface SetupStep {
  /** 'create the ticket field "Feedback grade" (integer)' */
  what: string;
  /**
   * Executes the step; repeatable after a failure. `note`: what a person has to do next, if anything. `secrets`: by the setting
   * that takes each (shown once, under the variable that the configuration names there), or by a variable's name.
   */
  apply(): Promise<{ note?: string; secrets?: Readonly<Record<string, string>> }>;
}

/** A source whose settings have been parsed. */
export interface ParsedSource {
  /** The vendor's account: all sources of one account share its quota. `undefined`: no other source uses the account. */
  account: string | undefined;
  /** The company's own, as far as the settings tell: nobody with an address there is asked. */
  ownDomains: readonly string[];
  /** An answer is written once it has stayed as it is for so long: `writeBack.settle` of the settings. Milliseconds. */
  settleMs: number;
  /** Its events lead to no request (they are about those of other sources): it needs no rules. */
  asksNobody?: true;
  open(ports: ConnectorPorts): Source;
}

/** The export of a connector's file. `defineConnector` hides the type of the settings, so that one list holds all connectors. */
export interface Connector {
  readonly name: string;
  /** Where its records hold what ready-made conditions ask about. */
  readonly parts: RecordParts;
  /** Settings of a source of this connector, for the configuration's schema. `writeBack` is part of them. */
  readonly settings: z.ZodType;
  /** The same schema, whose result can be opened: the worker parses a source's settings once. */
  readonly sources: z.ZodType<ParsedSource>;
  /** Whether a source of it may do without rules. */
  readonly mayAskNobody: boolean;
  /** The actions that answer rules may name: the schema of each action's settings, by the action's name. */
  readonly actions: Actions;
  /** The questions of `closeloop init`. Left out: `init` can't set up this connector. */
  readonly onboarding?: Onboarding;
  /** Checks settings as written, like `sources` in the configuration. */
  account(settings: unknown): string | undefined;
  open(settings: unknown, ports: ConnectorPorts): Source;
}

/** The settings of any connector that uses `answerPlaces`. */
const Settling = z.object({ writeBack: z.object({ settle: z.number() }) });

export type Actions = Readonly<Record<string, z.ZodType>>;

/**
 * Declares a connector: its name, its settings in a source's section of the configuration, and how to open a source. `account` and
 * `open` get the parsed settings, as `asksNobody` does: left out, every source asks.
 */
export function defineConnector<Settings extends z.ZodType>(definition: {
  name: string;
  settings: Settings;
  parts?: RecordParts;
  account?: (settings: z.output<Settings>) => string;
  ownDomains?: (settings: z.output<Settings>) => readonly string[];
  asksNobody?: (settings: z.output<Settings>) => boolean;
  actions?: Actions;
  onboarding?: Onboarding;
  open: (settings: z.output<Settings>, ports: ConnectorPorts) => Source;
}): Connector {
  const { name, settings, parts = {}, account, ownDomains, asksNobody, actions = {}, onboarding, open } = definition;
  if (settings instanceof z.ZodObject && !(settings.def.catchall instanceof z.ZodNever)) {
    const error = new Error('its settings let misspelt names pass: use z.strictObject in place of z.object');
    // The first line of the stack is the author's own then.
    Error.captureStackTrace(error, defineConnector);
    throw error;
  }
  const sources = settings.transform((parsed) => ({
    account: account?.(parsed),
    ownDomains: ownDomains?.(parsed) ?? [],
    settleMs: Settling.safeParse(parsed).data?.writeBack.settle ?? 0,
    ...(asksNobody?.(parsed) && { asksNobody: true as const }),
    open: (ports: ConnectorPorts) => wholeSource(open(parsed, ports), actions),
  }));
  return {
    name,
    parts,
    settings,
    sources,
    mayAskNobody: asksNobody !== undefined,
    actions,
    ...(onboarding && { onboarding }),
    account: (raw) => sources.parse(raw).account,
    open: (raw, ports) => sources.parse(raw).open(ports),
  };
}
