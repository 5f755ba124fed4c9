import type { Connector, ConnectorPorts, Delivery, PreflightContext } from '../../../core/connector/contract.ts';

/**
 * How the vendor misbehaves from now on, on every call: `429` (with Retry-After), `401` (the credentials were taken
 * away), `500`, `html` (200 with a page that is no JSON, as a proxy's), `silent` (takes the call and never answers).
 */
export type Breakage = '429' | '401' | '500' | 'html' | 'silent';

/**
 * What the contract leaves to the connector. `echo`: its vendor sends deliveries about what we write. `replace`: people at its vendor
 * can put another customer in the place of a record's.
 */
export type Part = 'poll' | 'check' | 'setup' | 'no-answer' | 'echo' | 'erase' | 'forget' | 'replace';

/** A note on a record, as the vendor holds it. */
export interface HeldNote {
  text: string;
  /** Whether its text is markup, or shown as it is. */
  isHtml: boolean;
  /** Whether the customer can see it, or is mailed it. */
  isPublic: boolean;
}

/** What a sample may lack, with the reason: each is a duty that loses customers in silence where nobody tries it. */
export type Trial =
  /** The vendor's stand-in shows the notes on a record (`Vendor.notesOn`). */
  | 'notes'
  /** It shows the comment of a record (`Vendor.commentOn`). */
  | 'comment'
  /** It can take a grade and not keep it, without an error (`Vendor.swallow`). */
  | 'swallow'
  /** The grade can go into a dropdown (`Vendor.dropdown`). */
  | 'dropdown'
  /** A record can refuse answers while others take them (`Vendor.lock`). */
  | 'lock'
  /** The connector can tell that the record holds a newer answer. */
  | 'newer';

/** One account at a stand-in of the vendor, with the customer `customer` behind each record. */
export interface Vendor {
  /** Settings as an operator writes them, all of `writeBack` on. Without `secrets` the key is left out. */
  settings(secrets?: readonly string[]): object;
  /** What the connector needs from its surroundings beside the suite's own: a `sleep` that waits for the vendor's jobs … */
  ports?: Partial<ConnectorPorts>;
  /** A new record is closed at the vendor. `delivery`: what the vendor sends of it, signed with `secret`; left out where it is `polled`. */
  closeRecord(secret: string): Promise<{ recordId: string; delivery?: Delivery }>;
  reopen(recordId: string): Promise<void>;
  /** The reopened record is closed once more; what the vendor sends of that, as of the first closing. */
  closeAgain(recordId: string, secret: string): Promise<Delivery | undefined>;
  /** People at the vendor correct the address of the record's customer, who stays the same person. */
  correctEmail(recordId: string, email: string): Promise<void>;
  /** A delivery of any bytes, signed with `secret` as the vendor would. Left out where it is `polled`. */
  sign?(raw: Uint8Array, secret: string): Delivery;
  /** The grade on the record, looked up at the vendor; null where there is none. */
  gradeOn(recordId: string): number | null;
  /** The comment at its place on the record; null where there is none. */
  commentOn?(recordId: string): string | null;
  /** The notes on the record, whoever wrote them. */
  notesOn?(recordId: string): readonly HeldNote[];
  /** From now on the vendor takes the grade of this record with a success, and does not keep it; of others as well, if that is simpler. */
  swallow?(recordId: string): Promise<void>;
  /** The grade's field becomes a dropdown of these grades. Sources that are opened later write to it. */
  dropdown?(grades: readonly number[]): Promise<void>;
  /** The record takes no answers any more: it is closed for good, archived, or lacks what the vendor demands. */
  lock?(recordId: string): Promise<void>;
  /** Everything a write could leave on the record (values, notes, mails), without the time of the last change. JSON. */
  traces(recordId: string): unknown;
  /** `words` are in the answers' bodies. */
  breakVendor(how: Breakage, words: string): void;
  /** Resolves when the vendor has carried out all that it has taken. Left out: it has by its answer. */
  idle?(): Promise<void>;
  /** How many calls the vendor has seen so far, tokens and refused ones included. */
  calls(): number;
  close(): Promise<void>;

  /** `poll`: the vendor's clock, where it isn't the real one. Later at every look, like a real one. */
  now?(): Date;
  /** `poll`: closes new records, all within one second by the vendor's clock. */
  closeAtOnce?(count: number): Promise<readonly string[]>;
  /** `poll`: resolves when everything that happened so far can be found (an index that lags). */
  settle?(): Promise<void>;
  /** `check`, `setup`: the rest of a configuration with which all is well in this account. */
  preflight?(): PreflightContext;
  /** `check`: brings one misconfiguration about, by its name in the sample's `planted`. */
  plant?(what: string): Promise<void>;
  /** `setup`: takes away from the account everything that `setup` makes. */
  strip?(): Promise<void>;
  /** `echo`: what the vendor has delivered since the last time this was asked, signed with `secret`. */
  delivered?(secret: string): Promise<Delivery[]>;
  /** `replace`: the record is another customer's from now on, who has this address. */
  replaceCustomer?(recordId: string, email: string): Promise<void>;
  /** `erase`: what the vendor sends when the customer behind the record is to be forgotten. */
  erase?(recordId: string, secret: string): Promise<Delivery>;
}

/** An action as an answer rule names it. */
export interface ActionTrial {
  name: string;
  params: unknown;
  /** Params that name what the vendor does not have: `checkActions` has to find each. */
  amiss?: readonly unknown[];
}

/** What the author of a connector writes to have it tested against the contract in core/connector/contract.ts. */
export interface ConnectorSample {
  connector: Connector;
  start(): Promise<Vendor>;
  /** The vendor delivers nothing: the source is polled, and has no secrets of webhooks. */
  polled?: true;
  /** Headers (lower case) without any of which a delivery counts as unsigned; the first one holds the signature, or the secret. */
  signatureHeaders?: readonly [string, ...string[]];
  /** What the signature is over. `nothing`: a header holds a secret that both sides know. Default: `body`. */
  signs?: 'body' | 'nothing';
  /** The vendor signs the time as well: a delivery that comes a day late is refused. */
  goesStale?: true;
  /** A record id as the connector writes them, of a record that doesn't exist. */
  missingId: string;
  /** Vendor calls for 100 closed records by a source that was just opened; none to read what `told` holds. */
  callsFor100: { read: number; writeBack: number };
  /** `poll`: the most records on one page of the vendor's. */
  pollPage?: number;
  /** What can't be tried at this vendor, and why. */
  lacks?: Readonly<Partial<Record<Trial, string>>>;
  /** What the connector does beyond the least; nothing else of it is tested. */
  does?: readonly Part[];
  /** The connector's actions because of an answer; `note` and `tag` are tried without this. `traces` have to show what each does. */
  acts?: readonly ActionTrial[];
  /** `forget`: names within `traces` of what the vendor lets nobody take off again. */
  keeps?: readonly string[];
  /** Misconfigurations that `check` has to find, each alone. */
  planted?: readonly string[];
}

/** Given to the vendor's records, by `start`. No error may repeat them. */
export const customer = { email: 'hanna.customer@example.com', comment: 'My neighbour Tom was rude to your engineer' };

/** In the place of the customer's address, where somebody at the vendor corrects it. */
export const corrected = 'hanna.corrected@example.org';

/** Those of every source that the suite opens; `check` wants the webhook to sign with one of them. */
export const secrets: readonly [string, string] = ['first-secret', 'second-secret'];
