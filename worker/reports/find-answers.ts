import type { Source } from '../../core/connector/contract.ts';
import { lookUp } from '../../core/look-up.ts';
import type { Journey } from '../journey/journey.ts';
import type { Searched } from '../support/journey-filter.ts';
import { type JourneyPage, journeyPage, type Place } from '../support/journey-pages.ts';

/** The answers of customers to find. A condition that is left out fits all answers. */
export interface AnswerFilter {
  /** Given or changed at or after this, and before that. */
  since?: Date | undefined;
  until?: Date | undefined;
  campaign?: number | undefined;
  rule?: string | undefined;
  /** The lowest grade, and the highest. */
  from?: number | undefined;
  to?: number | undefined;
  /** Only requests with these values in custom fields, without regard to case: people type them. */
  values?: Readonly<Record<string, string>> | undefined;
  /** Only answers with a comment. */
  hasWords?: boolean | undefined;
  /** Only answers whose words contain this text, without regard to case. */
  text?: string | undefined;
}

interface Reading {
  /** Begins behind this place. */
  after?: Place | undefined;
  size: number;
  /** Answers that are looked at, at most. */
  most: number;
}

/** A page of the answers of customers whom closeloop asked, newest first, without tests and erased people. */
export async function findAnswers<In extends Searched>(
  sources: readonly In[],
  filter: AnswerFilter,
  reading: Reading,
): Promise<JourneyPage<In>> {
  const { since, until } = filter;
  return await journeyPage(sources, { lists: ['answers'], since, until, fits: fitting(filter), ...reading });
}

/** Whether the journey has these values in custom fields. */
export function hasValues(
  { values = {} }: Pick<Journey, 'values'>,
  wanted: Readonly<Record<string, string>>,
  isSame = (a: string, b: string) => a === b,
): boolean {
  return Object.entries(wanted).every(([field, value]) => isSame(String(lookUp(values, field) ?? ''), value));
}

const loosely = new Intl.Collator('en', { sensitivity: 'accent' });

/** Pure. The list may be a moment ahead of its journey, or behind. */
export function fitting(filter: AnswerFilter): (journey: Journey) => boolean {
  const { since, until, campaign, rule, from, to, values = {}, hasWords, text = '' } = filter;
  const part = text.trim().toLowerCase();
  return (journey) => {
    const { answer, test, erasedAt, campaign: of, rule: by } = journey;
    if (answer === undefined || test || erasedAt) return false;
    const { grade, comment, seenAt } = answer;
    const words = (comment ?? '').trim();
    return (
      (since === undefined || seenAt >= since) &&
      (until === undefined || seenAt < until) &&
      (campaign === undefined || of === campaign) &&
      (rule === undefined || by === rule) &&
      (from === undefined || (grade !== null && grade >= from)) &&
      (to === undefined || (grade !== null && grade <= to)) &&
      (hasWords !== true || words !== '') &&
      (part === '' || words.toLowerCase().includes(part)) &&
      hasValues(journey, values, (a, b) => loosely.compare(a, b) === 0)
    );
  };
}

export type RecordPlaces = Pick<Source, 'recordUrl' | 'vendorIds'>;

/** The address of a record at the vendor, for readers who may see no contacts: undefined if closeloop has digests in place of ids that are addresses. */
export function addressOf(recordId: string, source: RecordPlaces): string | undefined {
  return source.vendorIds ? undefined : source.recordUrl?.(recordId);
}
