import { takesAnswers } from '../../core/connector/answer.ts';
import { warningAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import type { Rule } from './admin.ts';
import type { ZendeskSettings } from './settings.ts';

const hourMs = 3_600_000;

/** Zendesk closes solved tickets after 28 days, whatever the automations say. */
const longest = 28 * 24;

/**
 * Are tickets closed before all answers have come? Then an answer needs a place other than its ticket.
 * Business hours are taken as hours: the ticket closes later than that, by how much depends on the schedule.
 */
export function closingFindings(
  writeBack: ZendeskSettings['writeBack'],
  automations: readonly Rule[],
  answersWithinMs: number,
): Finding[] {
  if (!takesAnswers(writeBack) || writeBack.whenClosed.length > 0) return [];
  const closings = automations.flatMap((rule) => {
    const hours = closesAfterHours(rule);
    return hours === undefined ? [] : [{ hours, by: `the automation "${rule.title}"` }];
  });
  const first = [...closings, { hours: longest, by: 'Zendesk itself' }].sort((a, b) => a.hours - b.hours)[0];
  if (first === undefined || first.hours * hourMs >= answersWithinMs) return [];
  const problem = `${first.by} closes tickets ${days(first.hours)} after they are solved, but answers come up to ${days(answersWithinMs / hourMs)} later: a closed ticket takes none`;
  const remedy =
    'Let it close later (Admin Center > Objects and rules > Business rules > Automations; 28 days at most), or name a fallback in writeBack.whenClosed: edit, userFields or customObject';
  return [warningAt('automation', problem, remedy)];
}

/** Hours from solved to closed; undefined for a rule that does something else. */
function closesAfterHours({ active, actions, conditions }: Rule): number | undefined {
  if (!active || !actions.some(({ field, value }) => field === 'status' && value === 'closed')) return undefined;
  const waits = (conditions?.all ?? [])
    .filter(({ field, operator }) => field === 'SOLVED' && /^(is|greater_than)(_business_hours)?$/.test(operator))
    .map(({ value }) => Number(value));
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Placeholders that put a rating or a survey before the customer, unlike `satisfaction.current_rating`. */
const asking = /\{\{\s*satisfaction\.(rating_section|rating_url|positive_rating_url|negative_rating_url|survey)/i;

/** Rules that ask customers for their opinion as well. */
export function surveyFindings(kind: 'trigger' | 'automation', rules: readonly Rule[]): Finding[] {
  return rules
    .filter(({ active, actions }) => active && actions.some(asks))
    .map(({ title }) => {
      const problem = `the ${kind} "${title}" asks customers for a satisfaction rating: they are asked twice`;
      const remedy =
        'Switch it off (Admin Center > Objects and rules > Business rules), or leave its tickets out in `when`';
      return warningAt(kind, problem, remedy);
    });
}

function asks({ field, value }: Rule['actions'][number]): boolean {
  return /satisfaction|csat|survey/i.test(field) || asking.test(JSON.stringify(value) ?? '');
}

function days(hours: number): string {
  const rounded = Math.round((hours / 24) * 10) / 10;
  return hours < 48 ? `${Math.round(hours)} hours` : `${rounded} days`;
}
