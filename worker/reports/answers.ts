import { lookUp } from '../../core/look-up.ts';
import { personOf } from '../journey/follow-up.ts';
import type { FollowUpLists } from '../journey/follow-up-lists.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import type { JourneyStore } from '../journey/store.ts';
import { type AnswerFilter, addressOf, fitting, type RecordPlaces } from './find-answers.ts';
import { followUpJourneys } from './follow-ups.ts';

/** A customer's answer as other programs get it: without the contact, and with the customer's words. */
export interface AnswerRow {
  /** The id of the journey, `support/41960.1`: an answer keeps its id, however often it changes. */
  id: string;
  /** When the answer or its follow-up changed last. */
  changedAt: Date;
  source: string;
  /** The record's id at the vendor; a digest in place of an id that is an address. */
  record: string;
  /** The record's address at the vendor; null if nobody can tell it, and if the record's id is a digest here. */
  url: string | null;
  rule: string | null;
  campaign: number | null;
  campaignName: string | null;
  closedAt: Date;
  askedAt: Date | null;
  /** When closeloop collected the answer as it is now. */
  answeredAt: Date;
  grade: number | null;
  maxGrade: number | null;
  comment: string | null;
  /** Values of custom fields, by name. */
  fields: NonNullable<Journey['values']>;
  /** Answers to a survey, by the id of the question. */
  survey: NonNullable<Journey['survey']>['answers'] | null;
  followUp: FollowUpRow | null;
}

/** The follow-up of the answer. A value is null if it is not known, or if it has not happened yet. */
interface FollowUpRow extends Pick<FollowUp, 'state' | 'rule' | 'to' | 'openedAt' | 'dueAt'> {
  firstActionAt: Date | null;
  takenBy: string | null;
  takenAt: Date | null;
  doneBy: string | null;
  doneAt: Date | null;
  /** The result, in the words of the person who did the follow-up. */
  outcome: string | null;
}

/** A source, as its answers need it. */
export interface AnswerSource {
  name: string;
  store: Pick<JourneyStore, 'queries' | 'those'>;
  followUps: Pick<FollowUpLists, 'pages'>;
  /** Left out: a record has the name that events give it, and no address. */
  source?: RecordPlaces;
}

export interface ChangedAnswers extends Pick<AnswerFilter, 'since' | 'until' | 'campaign'> {
  /** Only what has changed at or after this, follow-ups included. */
  changedSince?: Date | undefined;
  /** Later changes are left to the next run. */
  now: Date;
}

const pageSize = 500;

/**
 * The answers of one source, some at a time, earliest first, and after them those that only a change of their follow-up brings; without
 * those of tests and of people who were erased. One that changes meanwhile comes now, or as a change at the next run, or both.
 */
export async function* answerPages(of: AnswerSource, filter: ChangedAnswers): AsyncGenerator<AnswerRow[]> {
  const { since, changedSince, now } = filter;
  const fits = fitting(filter);
  const from = latest(since, changedSince);
  for await (const ids of of.store.queries.pagesIn('answers', now, pageSize, from)) {
    const journeys = await of.store.those(ids);
    yield journeys.filter(fits).flatMap((one) => rowOf(of, one));
  }
  if (changedSince !== undefined) yield* changedFollowUps(of, { fits, changedSince, now });
}

function latest(...times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.flatMap((one) => one?.getTime() ?? []);
  return known.length === 0 ? undefined : new Date(Math.max(...known));
}

/** The answers that are unchanged but whose follow-up has changed. Reads all open follow-ups, and all that were done since then. */
async function* changedFollowUps(
  of: AnswerSource,
  { fits, changedSince, now }: { fits: (journey: Journey) => boolean; changedSince: Date; now: Date },
): AsyncGenerator<AnswerRow[]> {
  const isNews = (journey: Journey): boolean => {
    const changedAt = changedAtOf(journey);
    const isTold = journey.answer !== undefined && journey.answer.seenAt >= changedSince;
    return !isTold && changedAt !== undefined && changedAt >= changedSince && changedAt <= now;
  };
  for (const list of ['open', 'done'] as const) {
    for await (const journeys of followUpJourneys(of, list, changedSince))
      yield journeys.filter((one) => fits(one) && isNews(one)).flatMap((one) => rowOf(of, one));
  }
}

function changedAtOf({ answer, followUp }: Journey): Date | undefined {
  const { openedAt, takenAt, doneAt, changedAt } = followUp ?? {};
  return latest(answer?.seenAt, openedAt, takenAt, doneAt, changedAt);
}

function rowOf({ name, source }: AnswerSource, journey: Journey): AnswerRow[] {
  const { id, rule, campaign, campaignName, maxGrade, closedAt, askedAt, answer, values, survey, followUp } = journey;
  if (answer === undefined) return [];
  const record = currentRecordOf(journey);
  return [
    {
      id: refOf(name, id),
      changedAt: changedAtOf(journey) ?? answer.seenAt,
      source: name,
      record,
      url: (source && addressOf(record, source)) ?? null,
      rule: rule ?? null,
      campaign: campaign ?? null,
      campaignName: campaignName ?? null,
      closedAt,
      askedAt: askedAt ?? null,
      answeredAt: answer.seenAt,
      grade: answer.grade,
      maxGrade: maxGrade ?? null,
      comment: answer.comment,
      fields: values ?? {},
      survey: survey?.answers ?? null,
      followUp: followUp ? followUpRow(followUp) : null,
    },
  ];
}

function followUpRow(followUp: FollowUp): FollowUpRow {
  const { state, rule, openedAt, dueAt, firstActionAt = null } = followUp;
  const { takenBy = null, takenAt = null, doneBy = null, doneAt = null, outcome = null } = followUp;
  const to = personOf(followUp);
  return { state, rule, to, openedAt, dueAt, firstActionAt, takenBy, takenAt, doneBy, doneAt, outcome };
}

const columns = [
  'id',
  'changedAt',
  'source',
  'record',
  'url',
  'rule',
  'campaign',
  'campaignName',
  'closedAt',
  'askedAt',
  'answeredAt',
  'grade',
  'maxGrade',
  'comment',
] as const satisfies readonly (keyof AnswerRow)[];

const followUpColumns = [
  'state',
  'rule',
  'to',
  'openedAt',
  'dueAt',
  'firstActionAt',
  'takenBy',
  'takenAt',
  'doneBy',
  'doneAt',
  'outcome',
] as const satisfies readonly (keyof FollowUpRow)[];

/** The head of a table of answers. @param fields custom fields that have a column of their own; left out: all have one, as JSON */
export function answerHead(fields: readonly string[] | undefined): string[] {
  const ofFollowUp = followUpColumns.map((name) => `followUp${name.slice(0, 1).toUpperCase()}${name.slice(1)}`);
  return [...columns, ...(fields ?? ['fields']), 'survey', ...ofFollowUp];
}

export function answerCells(row: AnswerRow, fields: readonly string[] | undefined): string[] {
  const { fields: values, survey, followUp } = row;
  return [
    ...columns.map((name) => cell(row[name])),
    ...(fields ? fields.map((name) => cell(lookUp(values, name) ?? null)) : [cell(values)]),
    cell(survey),
    ...followUpColumns.map((name) => cell(followUp?.[name] ?? null)),
  ];
}

function cell(value: Date | object | string | number | boolean | null): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
