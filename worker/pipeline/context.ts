import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import type { Log, Ports } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { RecordAliases } from '../journey/aliases.ts';
import type { ContactMemory } from '../journey/contacts.ts';
import type { Erasures } from '../journey/erasures.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import type { JourneyStore } from '../journey/store.ts';
import type { Alert } from '../operations/alerts/message.ts';
import type { Holds } from '../operations/holds.ts';
import type { Seal } from '../redis/seal.ts';
import type { SharedExports } from './ask/shared-exports.ts';
import type { CampaignCache } from './campaigns.ts';
import type { Clock } from './clock.ts';
import type { Queues } from './queues.ts';
import type { LoadedRule } from './rules.ts';
import type { Vendor } from './vendor.ts';

export type { Queues } from './queues.ts';
export type { Vendor } from './vendor.ts';

/** Which source it is. */
export interface Named {
  name: string;
  /** The vendor's account, with its connector: ids mean the same in every source of one. Undefined: in no other source. */
  account?: string | undefined;
}

/** What is stored of a source's journeys, and of the people they are about. */
export interface Journeys {
  store: JourneyStore;
  erasures: Erasures;
  /** The newest snapshot of each record, as events carried it. */
  snapshots: SnapshotStore;
  contacts: ContactMemory;
  seal: Seal;
  /** What records go by whose ids are somebody's address or number. */
  aliases: RecordAliases;
  /** Resolves when what this source has stored is where a failover finds it: redis/replicated.ts. */
  replicated(): Promise<void>;
  /** Of these feedback requests: which ones belong to a journey of any source. */
  areOwned(requestIds: readonly string[]): Promise<boolean[]>;
  /**
   * Every source that Redis knows: those of this process, this one included, and those that its configuration doesn't have
   * (orphans.ts), whose data is worked with alike, though their vendor can't be reached.
   */
  sources(): Promise<SourceContext[]>;
  /** Changes with every rename of a source; undefined while one is under way, when nothing can be found for certain. */
  placesOfSources(): Promise<string | undefined>;
}

/** The Feedback service, as all sources of a process share it. */
export interface Service {
  feedback: FeedbackClient;
  campaigns: CampaignCache;
  /** At most so many conversations with the service at once, over all journeys of this process. */
  limited: <T>(call: () => Promise<T>) => Promise<T>;
  /** Milliseconds until somebody may find out whether the service answers again; 0: it does, as far as is known. Real time. */
  untilService(): Promise<number>;
  /** Those who look for requests share what is read of an export. */
  exports: Pick<SharedExports, 'read'>;
  /** Looking for requests must not hold up those who ask. */
  limitedLooks: <T>(call: () => Promise<T>) => Promise<T>;
  /** Grades of this campaign are collected, whatever rules say later. `late`: it may be graded already, read it whole. */
  askedIn(campaign: number, late: boolean): Promise<void>;
}

/** What the configuration says. */
export interface Policy {
  rules: readonly LoadedRule[];
  /** What finds the contacts of a record's customer: of all rules, also where this process doesn't have them. */
  customerContacts: readonly Expression[];
  /** A settled journey, and with it the memory of a closing, is kept this long. */
  keepMs: number;
  /** The Feedback account's zone. */
  timeZone: string;
  /** Country of phone numbers that are written without + or 00. */
  defaultCountry: Config['defaultCountry'];
  /** After a create of unknown outcome: how long the service may still be at work, before it is looked for. */
  lookAfterMs: number;
  /** What fails is given up after this long. */
  retryForMs: number;
  /** How long one call to the service may take, at most. Real time. */
  callMs: number;
  /** Name of the custom field that holds the journey's reference, in campaigns that have it. */
  marker: string;
  /** The create operation can't carry a date, so the service adds the campaign's delay itself (design.md, rule 3). */
  serviceAddsDelay: boolean;
}

/** What people see of the work, and how it waits for them. */
export interface Operations {
  log: Log;
  /** Campaigns, rules and operations that a person has to mend; only what needs them waits. */
  holds: Pick<Holds, 'pass' | 'lift' | 'probe'>;
  /** Tells a person, beside the log. `journeys`: which it is about, as `source/id`. */
  alert(kind: Alert['kind'], why: string, remedy: string, journeys?: Alert['journeys']): Promise<void>;
  /** A closing that no webhook had told of. */
  missed(ref: string, at: Date): Promise<void>;
  /** Has a person said that no grades of this source are to be collected for now? */
  isCollectPaused(): Promise<boolean>;
  /** The vendor took our access away: every stage stops until a person has given it back. */
  revoke(why: string): Promise<void>;
}

export interface Timing {
  clock: Clock;
  ports: Ports;
}

/** Everything the steps of one source work with. A step that needs less takes less. */
export interface SourceContext extends Named, Journeys, Service, Vendor, Queues, Policy, Operations, Timing {}
