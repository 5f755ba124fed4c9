import type { Journey } from '../journey/journey.ts';
import type { SkipReason } from '../journey/reasons.ts';
import { refOf } from '../journey/refs.ts';
import type { Held } from '../operations/holds.ts';
import type { RedisClient } from '../redis/client.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';
import type { StoredSource } from './source-state.ts';

/** What a dry run decided about some closings of a source. */
export interface Outcome {
  /** As the configuration names it. */
  source: string;
  what: string;
  reason?: SkipReason | undefined;
  rule?: string | undefined;
  campaign?: number | undefined;
}

/** A closing that a person should look at before going live. */
export interface ForReview {
  journey: string;
  record: string;
  why: string;
}

export interface DryRunSummary {
  closings: number;
  /** Most frequent first, without those that a person should look at. */
  outcomes: (Outcome & { count: number })[];
  forReview: { count: number; first: ForReview[] };
  /** Campaigns, rules and operations that a person has to mend: what waits for that is not decided. */
  held: (Pick<Held, 'stage' | 'only' | 'why' | 'jobs'> & { source: string })[];
  /** Erasures that were delivered to the dry run, and wait for a process in earnest. */
  erasures: number;
}

const wouldBeAsked = 'would be asked';
const mostForReview = 1_000;

const skipped: Record<SkipReason, string> = {
  out: 'out of question by their records',
  reopened: 'open again when they were read',
  never: 'excluded (never)',
  'no-rule': 'taken by no rule',
  'condition-failed': 'whose condition failed',
  'too-old': 'too old',
  'asked-already': 'asked already',
  sample: 'outside the sample',
  fields: 'whose custom fields can not be filled',
  'no-contact': 'without a usable contact',
  language: 'in a language that no campaign is for',
  'no-time': 'without an open window',
  listed: "on the service's lists",
  throttled: 'throttled',
  superseded: 'superseded by a later closing',
  erased: 'of people who were erased since',
  capped: 'over the caps',
};

/** Reasons that point at a mistake in the configuration, or in the record. */
const suspicious: readonly SkipReason[] = ['condition-failed', 'fields'];

/** Why a person should look at it, if so. */
function suspicionOf({ state, reason, why = 'the reason was not stored' }: Journey): string | undefined {
  const isSuspicious =
    state === 'failed' || state === 'parked' || (reason !== undefined && suspicious.includes(reason));
  return isSuspicious ? why : undefined;
}

function outcomeOf({ state, reason, rule, campaign, test }: Journey): Omit<Outcome, 'source'> {
  if (state === 'withheld') return { what: test ? `${wouldBeAsked} as a test` : wouldBeAsked, rule, campaign };
  if (state === 'skipped' && reason !== undefined) return { what: skipped[reason], reason, rule, campaign };
  return { what: state === 'cancelled' ? 'reopened, gone or merged before their time' : 'not due yet', rule, campaign };
}

/** What a dry run would have done. @param closed only closings of this time */
export async function summaryOf(
  sources: readonly Pick<StoredSource, 'name' | 'storedAs' | 'store' | 'holds'>[],
  redis: RedisClient,
  closed: { since?: Date; until?: Date } = {},
): Promise<DryRunSummary> {
  const { since = new Date(0), until = new Date(8.64e15) } = closed;
  const summary: DryRunSummary = {
    closings: 0,
    outcomes: [],
    forReview: { count: 0, first: [] },
    held: [],
    erasures: 0,
  };
  const counted = new Map<string, Outcome & { count: number }>();
  for (const { name, storedAs, store, holds } of sources) {
    const source = nameInEarnest(name);
    summary.held.push(
      ...(await holds.list()).map(({ stage, only, why, jobs }) => ({ source, stage, only, why, jobs })),
    );
    summary.erasures += await queuedJobs(redis, storedAs, 'erase');
    for await (const journey of store.queries.all()) {
      if (journey.closedAt < since || journey.closedAt >= until) continue;
      summary.closings++;
      const why = suspicionOf(journey);
      if (why === undefined) count(counted, { source, ...outcomeOf(journey) });
      else note(summary, { journey: refOf(name, journey.id), record: journey.recordId, why });
    }
  }
  // Those of one count in an order that stays.
  const sorted = [...counted].sort(([one, a], [other, b]) => b.count - a.count || (one < other ? -1 : 1));
  summary.outcomes = sorted.map(([, outcome]) => outcome);
  return summary;
}

function count(counted: Map<string, Outcome & { count: number }>, outcome: Outcome): void {
  const key = JSON.stringify(outcome);
  const known = counted.get(key) ?? { ...outcome, count: 0 };
  counted.set(key, { ...known, count: known.count + 1 });
}

function note({ forReview }: DryRunSummary, found: ForReview): void {
  forReview.count++;
  if (forReview.first.length < mostForReview) forReview.first.push(found);
}

/** For people: "412 closings: 180 would be asked, 90 throttled, 12 that you should look at". */
export function sentenceOf({ closings, outcomes, forReview }: DryRunSummary): string {
  const sums = new Map([[wouldBeAsked, 0]]);
  for (const { what, count: n } of outcomes) sums.set(what, (sums.get(what) ?? 0) + n);
  const parts = [...sums].map(([what, n]) => `${n} ${what}`);
  const look = forReview.count === 0 ? [] : [`${forReview.count} that you should look at`];
  return `${closings} ${closings === 1 ? 'closing' : 'closings'}: ${[...parts, ...look].join(', ')}`;
}
