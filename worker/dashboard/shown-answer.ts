import type { Source } from '../../core/connector/contract.ts';
import type { Contact } from '../../core/contact.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { openingGradeInWords } from '../journey/outcomes.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import { askedContactOf } from '../journey/transitions.ts';

/** A contact as the visitor may see it: in full, or masked so that customers can still be told apart, but nobody can write to them. */
export function shownContact({ kind, value }: Contact, isInFull: boolean): string {
  if (isInFull) return value;
  if (kind === 'phone') return `${value.slice(0, 4)}••••${value.slice(-2)}`;
  const at = kind === 'email' ? value.lastIndexOf('@') : -1;
  return at > 0 ? `${firstOf(value)}•••@${firstOf(value.slice(at + 1))}•••` : `${firstOf(value)}•••`;
}

/** The first character, never half of a surrogate pair. */
const firstOf = (text: string): string => [...text].at(0) ?? '';

/**
 * A record's name as the visitor may see it. Undefined where the visitor may see only closeloop's own digest, as the vendor's id may be an
 * address.
 */
export function shownRecord(name: string | undefined, own: string | undefined, isInFull: boolean): string | undefined {
  return isInFull || name === own ? name : undefined;
}

/** A customer's answer, as pages show it. */
export interface ShownAnswer {
  source: string;
  /** The journey's id. */
  id: string;
  ref: string;
  /** When the customer gave or corrected the answer; undefined: there is no answer yet, or it was erased. */
  at: Date | undefined;
  grade: number | null;
  maxGrade: number | undefined;
  /** "was 2 of 5": the grade that opened the follow-up, where the customer has corrected it since. */
  was: string | undefined;
  comment: string;
  campaign: number | undefined;
  campaignName: string;
  /** The customer's address, masked for visitors who may not see it; undefined: the customer was erased. */
  customer: string | undefined;
  /** Whether a test contact gave the answer. */
  isTest: boolean;
  /** Custom fields with their values. */
  values: readonly (readonly [field: string, value: string])[];
  /** The word for the source's records: 'ticket', 'order'. */
  noun: string | undefined;
  /** The record's name at the vendor. */
  record: string;
  recordUrl: string | undefined;
  followUp: FollowUp | undefined;
}

/** The parts of a source that showing its answers needs. */
export interface AnsweredSource {
  name: string;
  source: Pick<Source, 'vendorIds' | 'recordUrl' | 'recordNoun'>;
}

interface FoundAnswer {
  journey: Journey;
  context: AnsweredSource;
}

/** @param contacts whether customers' addresses are shown in full */
export async function shownAnswers(
  found: readonly FoundAnswer[],
  { contacts }: { contacts: boolean },
): Promise<ShownAnswer[]> {
  const records = await recordNames(found);
  return found.map(({ journey, context }, i) => {
    const { id, answer, maxGrade, campaign, campaignName = '', values = {}, followUp, test } = journey;
    const contact = askedContactOf(journey);
    const record = shownRecord(records[i], currentRecordOf(journey), contacts);
    return {
      source: context.name,
      id,
      ref: refOf(context.name, id),
      at: answer?.seenAt,
      grade: answer?.grade ?? null,
      maxGrade,
      was: openingGradeInWords(journey),
      comment: answer?.comment?.trim() ?? '',
      campaign,
      campaignName,
      customer: contact && shownContact(contact, contacts),
      isTest: test !== undefined,
      values: Object.entries(values).map(([field, value]) => [field, String(value)] as const),
      noun: context.source.recordNoun,
      record: record ?? currentRecordOf(journey),
      recordUrl: record === undefined ? undefined : context.source.recordUrl?.(record),
      followUp,
    };
  });
}

/**
 * The names of the answers' records at their vendors, in the order of `found`, with one look-up for each source. Undefined: the record was
 * erased.
 */
async function recordNames(found: readonly FoundAnswer[]): Promise<(string | undefined)[]> {
  const names: (string | undefined)[] = found.map(({ journey }) => currentRecordOf(journey));
  const bySource = Map.groupBy(found.keys(), (i) => found[i]?.context.source);
  await Promise.all(
    [...bySource].map(async ([source, places]) => {
      const known = await source?.vendorIds?.(places.map((i) => names[i] ?? ''));
      for (const [n, i] of places.entries()) if (known) names[i] = known[n];
    }),
  );
  return names;
}
