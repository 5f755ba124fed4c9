import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import type { Log, Ports } from '../../core/ports.ts';
import type { HolidayRules } from '../../core/schedule/holidays.ts';
import type { Config } from '../config/config.ts';
import type { ActionLimit } from '../journey/action-limit.ts';
import type { CapSlots } from '../journey/cap-slots.ts';
import type { ContactMemory } from '../journey/contacts.ts';
import type { Erasures } from '../journey/erasures.ts';
import type { FollowUpLists } from '../journey/follow-up-lists.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import type { JourneyStore } from '../journey/store.ts';
import type { Alert } from '../operations/alerts/message.ts';
import type { Holds } from '../operations/holds.ts';
import type { Seal } from '../redis/seal.ts';
import type { LoadedAnswerRule } from './answer-rules.ts';
import type { CampaignCache } from './campaigns.ts';
import type { Clock } from './clock.ts';
import type { Queues } from './queues.ts';
import type { LoadedRule, Never } from './rules.ts';
import type { SharedExports } from './shared-exports.ts';
import type { Vendor } from './vendor.ts';

export type { Queues } from './queues.ts';
export type { Vendor } from './vendor.ts';

/** The source's names and account. */
export interface Named {
  /** What the configuration calls it: for people. */
  name: string;
  /** The name that its data is stored under, which no rename changes. */
  storedAs: string;
  /** Connector and vendor account: ids are equal in all sources of one account. Undefined: the ids are this source's alone. */
  account?: string | undefined;
}

/** What is stored of a source's journeys, and of the people they are about. */
export interface Journeys {
  store: JourneyStore;
  erasures: Erasures;
  /** The newest snapshot of each record, as events carried it. */
  snapshots: SnapshotStore;
  contacts: ContactMemory;
  caps: CapSlots;
  seal: Seal;
  /** How much answers have set going on each record. */
  actions: ActionLimit;
  followUps: FollowUpLists;
  /** Resolves when a failover would not lose this source's writes; undefined where that is so at once: redis/replicated.ts. */
  replicated(): Promise<void> | undefined;
  /** For each of these feedback requests: whether it belongs to a journey of any source. */
  areOwned(requestIds: readonly string[]): Promise<boolean[]>;
  /**
   * Every source that Redis knows: the configured sources, this one included, and absent ones (absent-sources.ts), which are not configured
   * in this process: their data can be read and changed, their vendor can't be reached.
   */
  sources(): Promise<SourceContext[]>;
  /** The last time in which the source ran dry, and not in earnest: what closed then asks nobody by itself. */
  ranDry(): Promise<{ from: Date; until: Date } | undefined>;
}

/** The Feedback service, as all sources of a process share it. */
export interface Service {
  feedback: FeedbackClient;
  campaigns: CampaignCache;
  /** Limits the journeys of this process that talk to the service at the same time. */
  limited: <T>(call: () => Promise<T>) => Promise<T>;
  /** How long a job that has begun waits for the service, until its stage holds the job; 0 where the service is not known to be down. Real time. */
  untilService(): Promise<number>;
  /** Shares the reading of an export among searches for requests. */
  exports: Pick<SharedExports, 'read'>;
  /** A limit of its own for searches, which must not hold up asking. */
  limitedSearches: <T>(call: () => Promise<T>) => Promise<T>;
  /** Has the campaign's grades collected, whatever rules say later. `late`: a request may be graded already, so read the whole export. */
  askedIn(campaign: number, late: boolean): Promise<void>;
}

/** What the configuration says. */
export interface Policy {
  rules: readonly LoadedRule[];
  /** What is done because of answers. */
  answerRules: readonly LoadedAnswerRule[];
  /** How long an answer has stayed as it is before it is written back. */
  settleMs: number;
  /** About whom and what none of them asks. */
  never: Never;
  /** Why a well-formed e-mail address reaches nobody, if so. */
  unfitAddress: (address: string) => string | undefined;
  /** What holds over all sources. */
  policy: Config['policy'];
  /** On what days nobody is asked; left out: on none. */
  holidays?: HolidayRules | undefined;
  /** The contact expressions of all rules, also of an absent source's: they find the contacts of a record's customer. */
  customerContacts: readonly Expression[];
  /** Paths to the addresses of a record's customer. */
  customerPaths: readonly Expression[];
  /** A settled journey, and with it the memory of a closing, is kept this long. */
  keepMs: number;
  /** The Feedback account's zone. */
  timeZone: string;
  /** Country of phone numbers that are written without + or 00. */
  defaultCountry: Config['defaultCountry'];
  /** The wait before the search after a create of unknown outcome: the service may still be processing the call. */
  searchAfterMs: number;
  /** A job that fails for this long is given up. */
  retryForMs: number;
  /** How long one call to the service may take, at most. Real time. */
  callMs: number;
  /** Name of the custom field that holds the journey's reference, in campaigns that have it. */
  marker: string;
  /** The create operation can't carry a date, so the service adds the campaign's delay itself (design.md, rule 3). */
  serviceAddsDelay: boolean;
  /** Everything is decided and remembered, and nothing is sent: `start --dry-run`. */
  dryRun: boolean;
}

/** Logs and alerts, and what waits for a person. */
export interface Operations {
  log: Log;
  /** Campaigns, rules and operations that a person has to mend; only jobs that need them wait. */
  holds: Pick<Holds, 'pass' | 'lift' | 'probe'>;
  /** Tells a person, beside the log. `journeys`: which it is about, as `source/id`. */
  alert(kind: Alert['kind'], why: string, remedy: string, journeys?: Alert['journeys']): Promise<void>;
  /** Reports a closing that the poll found, and no webhook had reported. */
  missed(ref: string, at: Date): Promise<void>;
  /** Has a person said that no grades of this source are to be collected for now? */
  isCollectPaused(): Promise<boolean>;
  /** The vendor revoked the access: stops every stage until a person restores it. */
  revoke(why: string): Promise<void>;
}

export interface Timing {
  clock: Clock;
  ports: Ports;
}

/** Everything the steps of one source work with. Each step takes a part. */
export interface SourceContext extends Named, Journeys, Service, Vendor, Queues, Policy, Operations, Timing {}
