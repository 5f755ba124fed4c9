import { styleText } from 'node:util';
import type { Journey } from '../journey/journey.ts';
import type { SkipReason } from '../journey/reasons.ts';
import { refOf } from '../journey/refs.ts';
import type { Held } from '../operations/holds.ts';
import type { RedisClient } from '../redis/client.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';
import type { PreviewedClosing } from '../support/preview.ts';
import type { StoredSource } from '../support/source-state.ts';
import { table } from './output.ts';

/** An outcome, real or expected, that several closings of a source share. */
interface Outcome {
  /** The source's name in the configuration. */
  source: string;
  what: string;
  reason?: SkipReason | undefined;
  rule?: string | undefined;
  campaign?: number | undefined;
}

/** A closing that a person should look at before going live. */
interface ForReview {
  journey: string;
  record: string;
  why: string;
}

/** Closings by their outcome, real or expected. */
interface Summary {
  closings: number;
  /** Most frequent first, without those that a person should look at. */
  outcomes: (Outcome & { count: number })[];
  forReview: { count: number; first: ForReview[] };
}

export interface DryRunSummary extends Summary {
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

const needsReview = (reason: SkipReason | undefined): boolean => reason !== undefined && suspicious.includes(reason);

/** Counts closings. */
export class SummaryCount {
  readonly #outcomes = new Map<string, Outcome & { count: number }>();
  readonly #forReview: Summary['forReview'] = { count: 0, first: [] };
  #closings = 0;

  /** A closing of a dry run. */
  addJourney(source: string, ref: string, journey: Journey): void {
    const { state, reason, why = 'the reason was not stored', recordId: record } = journey;
    const isForReview = state === 'failed' || state === 'parked' || needsReview(reason);
    this.#add({ source, ...outcomeOf(journey) }, isForReview ? { journey: ref, record, why } : undefined);
  }

  /** A closing that was previewed. */
  addForecast(
    source: string,
    { ref: journey, record, forecast: { decision, reason, why = '', rule, request } }: PreviewedClosing,
  ): void {
    const what = decision === 'ask' || reason === undefined ? asked(request?.test) : skipped[reason];
    const outcome = { source, what, reason, rule: rule?.name, campaign: request?.campaign.id };
    this.#add(outcome, needsReview(reason) ? { journey, record, why } : undefined);
  }

  #add(outcome: Outcome, forReview: ForReview | undefined): void {
    this.#closings++;
    if (forReview) {
      this.#forReview.count++;
      if (this.#forReview.first.length < mostForReview) this.#forReview.first.push(forReview);
      return;
    }
    const key = JSON.stringify(outcome);
    const known = this.#outcomes.get(key) ?? { ...outcome, count: 0 };
    this.#outcomes.set(key, { ...known, count: known.count + 1 });
  }

  summary(): Summary {
    // Outcomes of the same count have a fixed order.
    const sorted = [...this.#outcomes].sort(([one, a], [other, b]) => b.count - a.count || (one < other ? -1 : 1));
    return { closings: this.#closings, outcomes: sorted.map(([, outcome]) => outcome), forReview: this.#forReview };
  }
}

const asked = (test: object | undefined): string => (test ? `${wouldBeAsked} as a test` : wouldBeAsked);

function outcomeOf({ state, reason, rule, campaign, test }: Journey): Omit<Outcome, 'source'> {
  if (state === 'withheld') return { what: asked(test), rule, campaign };
  if (state === 'skipped' && reason !== undefined) return { what: skipped[reason], reason, rule, campaign };
  return { what: state === 'cancelled' ? 'reopened, gone or merged before their time' : 'not due yet', rule, campaign };
}

/** The summary of a dry run. @param closed only closings of this time */
export async function dryRunSummary(
  sources: readonly Pick<StoredSource, 'name' | 'storedAs' | 'store' | 'holds'>[],
  redis: RedisClient,
  closed: { since?: Date | undefined; until?: Date | undefined } = {},
): Promise<DryRunSummary> {
  const { since = new Date(0), until = new Date(8.64e15) } = closed;
  const count = new SummaryCount();
  const held: DryRunSummary['held'] = [];
  let erasures = 0;
  for (const { name, storedAs, store, holds } of sources) {
    const source = nameInEarnest(name);
    held.push(...(await holds.list()).map(({ stage, only, why, jobs }) => ({ source, stage, only, why, jobs })));
    erasures += await queuedJobs(redis, storedAs, 'erase');
    for await (const journey of store.queries.all()) {
      if (journey.closedAt < since || journey.closedAt >= until) continue;
      count.addJourney(source, refOf(name, journey.id), journey);
    }
  }
  return { ...count.summary(), held, erasures };
}

/** For people: "412 closings: 180 would be asked, 90 throttled, 12 that you should look at". */
export function sentenceOf({ closings, outcomes, forReview }: Summary): string {
  const sums = new Map([[wouldBeAsked, 0]]);
  for (const { what, count: n } of outcomes) sums.set(what, (sums.get(what) ?? 0) + n);
  const parts = [...sums].map(([what, n]) => `${n} ${what}`);
  const look = forReview.count === 0 ? [] : [`${forReview.count} that you should look at`];
  return `${closings} ${closings === 1 ? 'closing' : 'closings'}: ${[...parts, ...look].join(', ')}`;
}

/** The most closings that the text for people lists. JSON lists up to a thousand. */
const shownForReview = 50;

/** A summary for people: its sentence, a table of outcomes, and the closings that a person should look at. @param further more lines for the last part */
export function summaryText(summary: Summary, further: readonly string[] = []): string {
  const { outcomes, forReview } = summary;
  const rows = outcomes.map(({ source, what, rule = '', campaign = '', count }) => [
    source,
    what,
    rule,
    String(campaign),
    String(count),
  ]);
  const shown = forReview.first.slice(0, shownForReview);
  const more = forReview.count - shown.length;
  const lines = [
    ...shown.map(({ journey, why }) => `  ${journey}  ${why}`),
    ...(more > 0 ? [`  and ${more} more: --json lists them`] : []),
    ...further.map((line) => `  ${line}`),
  ];
  return [
    `${styleText('bold', sentenceOf(summary))}\n`,
    ...(rows.length > 0 ? ['\n', table([['source', 'what', 'rule', 'campaign', 'closings'], ...rows])] : []),
    ...(lines.length > 0 ? [`\nTo look at:\n${lines.join('\n')}\n`] : []),
  ].join('');
}
