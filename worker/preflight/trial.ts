import type { Finding, Source, SourceEvent } from '../../core/connector/contract.ts';
import type { SkipReason } from '../journey/reasons.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { decide, type Verdict } from '../pipeline/policy/decide.ts';
import { statusOf } from '../pipeline/vendor.ts';
import { unmatched } from './condition-counts.ts';
import { type Condition, conditionsOf } from './conditions.ts';

/** How many of the latest closed records are tried, and how far back they are searched for. */
const trialRecords = 50;
const trialMs = 7 * 86_400_000;

/** What a condition gave over the closings that were tried. */
export interface ConditionCount extends Pick<Condition, 'of' | 'rule' | 'condition'> {
  /** Of how many closings it is true, and could not be evaluated. */
  matches: number;
  errors: number;
  /** Of how many it made the decision. */
  decides: number;
}

/** What would have become of the latest closings, by rules, `never`, contacts and fields; nobody was asked. */
export interface Trial {
  closings: number;
  conditions: ConditionCount[];
  /** Most frequent first. */
  decisions: { decision: 'ask' | 'skip'; rule?: string; campaign?: number; reason?: SkipReason; count: number }[];
  findings: Finding[];
}

/** Decides about the latest closed records. Undefined where the vendor can't list them. */
export async function tryLatest(context: SourceContext): Promise<Trial | undefined> {
  const { source } = context;
  if (!source.poll) return undefined;
  const { events } = await source.poll({ since: new Date(Date.now() - trialMs) });
  const results = await source.read(sampleOf(events, source));
  const shapes: object[] = [];
  const verdicts: Verdict[] = [];
  const conditions: Condition[][] = [];
  for (const result of results) {
    const status = result.ok ? statusOf(result) : undefined;
    if (status?.is !== 'closed') continue;
    const { record, closedAt } = status;
    const history = { latest: undefined, asked: undefined };
    // As by a backfill: however old it is.
    const closing = { journeyId: `${record.currentId}.trial`, closedAt, backfilled: true, history };
    const verdict = await decide(closing, record, context, context.clock.now());
    shapes.push(record.shape);
    verdicts.push(verdict);
    conditions.push(await conditionsOf(record.shape, closedAt, context, verdict));
  }
  const counts = countsOf(conditions);
  const isMatched = (name: string) => counts.some(({ rule, matches }) => rule === name && matches > 0);
  return {
    closings: shapes.length,
    conditions: counts,
    decisions: decisionsOf(verdicts),
    findings: [...noneAsked(verdicts), ...unasked(verdicts), ...unmatched(context.rules, shapes, isMatched)],
  };
}

/** The records that closed last, as many of each kind as there are, one kind after the other. */
export function sampleOf(events: readonly SourceEvent[], { recordKind }: Pick<Source, 'recordKind'>): string[] {
  const closed = events.flatMap((event) => (event.kind === 'closed' ? [event] : []));
  const latest = closed.toSorted((a, b) => b.at.getTime() - a.at.getTime()).map(({ recordId }) => recordId);
  const kinds = [...Map.groupBy(new Set(latest), (id) => recordKind?.(id)).values()];
  const longest = Math.max(0, ...kinds.map((ids) => ids.length));
  const inTurn = Array.from({ length: longest }, (_, i) => kinds.flatMap((ids) => ids[i] ?? []));
  return inTurn.flat().slice(0, trialRecords);
}

/** Each record has the same conditions, in the same order. */
function countsOf(all: readonly (readonly Condition[])[]): ConditionCount[] {
  const [first = []] = all;
  return first.map(({ of, rule, condition }, i) => {
    const values = all.flatMap((one) => one[i] ?? []);
    const count = (is: (one: Condition) => boolean) => values.filter(is).length;
    return {
      of,
      ...(rule !== undefined && { rule }),
      condition,
      matches: count(({ is }) => is === 'true'),
      errors: count(({ is }) => is === 'error'),
      decides: count(({ decides }) => decides),
    };
  });
}

function decisionsOf(verdicts: readonly Verdict[]): Trial['decisions'] {
  const all = verdicts.map((verdict) => {
    const rule = verdict.rule ? { rule: verdict.rule.name } : {};
    return verdict.do === 'ask'
      ? { decision: verdict.do, ...rule, campaign: verdict.campaign.id }
      : { decision: verdict.do, ...rule, reason: verdict.reason };
  });
  const groups = [...Map.groupBy(all, (one) => JSON.stringify(one)).values()];
  const counted = groups.flatMap((group) => (group[0] ? [{ ...group[0], count: group.length }] : []));
  return counted.sort((a, b) => b.count - a.count);
}

/** A source that asks about none of its closings does not do what it is for. What chance alone leaves out counts as asked. */
function noneAsked(verdicts: readonly Verdict[]): Finding[] {
  const reasons = verdicts.map((one) => (one.do === 'skip' ? one.reason : undefined));
  if (reasons.length === 0 || reasons.some((reason) => reason === undefined || reason === 'sample')) return [];
  const counts = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) => `${length} ${reason}`);
  const what = reasons.length === 1 ? 'the one record' : `none of the ${reasons.length} records`;
  const problem = `${what} that closed in the last days would ${reasons.length === 1 ? 'not ' : ''}be asked about (${counts.join(', ')})`;
  const remedy =
    'mend the rules, "never", the campaign or the data: "closeloop preview" shows every condition; if these closings are to ask nobody, check again when others have closed';
  return [{ level: 'error', at: 'rules', problem, remedy }];
}

const notable: readonly SkipReason[] = ['fields', 'no-contact', 'condition-failed'];

/** What settings alone don't show. */
function unasked(verdicts: readonly Verdict[]): Finding[] {
  const whys = verdicts.flatMap((one) => (one.do === 'skip' && notable.includes(one.reason) ? [one.why] : []));
  return [...Map.groupBy(whys, (why) => why)].map(([why, { length: count }]) => ({
    level: 'warning',
    at: 'rules',
    problem: `${count} of ${verdicts.length} records that closed in the last days would not be asked: ${why}`,
    remedy: '"closeloop preview" shows one of them; mend the rule, the campaign or the data',
  }));
}
