import type { Source } from '../../core/connector/contract.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { MailPeriod } from '../config/mail-periods.ts';
import type { ReportMail } from '../config/reports.ts';
import { isOverdue } from '../journey/follow-up.ts';
import type { FollowUpLists } from '../journey/follow-up-lists.ts';
import type { Journey } from '../journey/journey.ts';
import { gradesInWords } from '../journey/outcomes.ts';
import { currentRecordOf } from '../journey/refs.ts';
import { type Comment, mostAnswers, newestComments } from '../reports/comments.ts';
import { addressOf, hasValues, type RecordPlaces } from '../reports/find-answers.ts';
import { type FollowUpFigures, followUpReport } from '../reports/follow-ups.ts';
import { type GradesRow, gradesOverTime, mostAsked, resultOf, toneOf } from '../reports/grades.ts';
import { gradesByField } from '../reports/grades-by-field.ts';
import type { Period } from '../reports/period.ts';
import { dueInWords, type FoundFollowUp, followUpsIn, personInWords } from '../support/follow-ups.ts';
import type { Searched } from '../support/journey-filter.ts';
import { periodsUpTo } from './due.ts';

/** The content of a mail. */
export interface MailFigures {
  name: string;
  every: MailPeriod;
  period: Period;
  /** The filter of the mail, beside the period: "Store: Tallinn". */
  scope: string | undefined;
  results: Result[];
  /** How many campaigns did not fit into the mail. */
  others: number;
  unhappy: MailComment[];
  happy: MailComment[];
  followUps: FollowUpFigures;
  /** Open and taken follow-ups, the most overdue first. */
  open: OpenFollowUp[];
  /** How many follow-ups are open or taken, counted up to `mostOpen`. */
  openCount: number;
  /** How many of these are overdue. */
  overdueCount: number;
}

/** A campaign in the period, and in the periods before it. */
export interface Result {
  row: GradesRow;
  trend: { period: Period; figure: number | null }[];
}

export interface MailComment extends Pick<Comment, 'comment' | 'grade' | 'maxGrade' | 'campaignName' | 'values'> {
  url?: string | undefined;
  /** The word for the source's records: 'ticket', 'order'. */
  noun: string;
}

export interface OpenFollowUp {
  grade: string | undefined;
  /** The record's agent, or the name in the rule. */
  whose: string;
  takenBy: string | undefined;
  due: string;
  isOverdue: boolean;
  record: string;
  url: string | undefined;
}

/** The members of a source that mails need. */
export interface MailSource extends Searched {
  followUps: FollowUpLists;
  source: RecordPlaces & Pick<Source, 'recordNoun'> & NonNullable<Searched['source']>;
}

export interface MailReading {
  sources: readonly MailSource[];
  service: Pick<FeedbackClient, 'campaigns' | 'customFieldStatistics' | 'requestPages'>;
  /** The account's time zone. */
  timeZone: string;
  now: Date;
  /** Results of the service's reports that another mail of the same run has read, by question. */
  readings: Map<string, Promise<GradesRow[]>>;
}

const mostCampaigns = 4;
const periodsShown = 6;
const openShown = 5;
/** The most open follow-ups that a mail reads. */
export const mostOpen = 1_000;

/** Reads the content of a mail about this period. */
export async function mailFigures(
  mail: ReportMail,
  { every, period }: { every: MailPeriod; period: Period },
  reading: MailReading,
): Promise<MailFigures> {
  const { sources, timeZone, now } = reading;
  const fits = (journey: Journey): boolean => isAbout(mail, journey);
  const size = mail.comments === 0 ? 0 : mostAnswers;
  const [{ results, others }, comments, followUps, open] = await Promise.all([
    resultsOf(mail, { every, period }, reading),
    size === 0 ? [] : newestComments(sources, { ...period, timeZone, size, fits }),
    followUpReport(sources, period, { timeZone, now, fits }),
    followUpsIn(sources, {}, { now, limit: mostOpen }),
  ]);
  const own = open.filter(({ journey }) => fits(journey));
  return {
    ...{ name: mail.name, every, period, scope: scopeOf(mail), results, others },
    ...bestAndWorst(comments, mail.comments, sources),
    followUps: followUps.now,
    open: own.slice(0, openShown).map((one) => openFollowUp(one, now)),
    openCount: own.length,
    overdueCount: own.filter(({ followUp }) => isOverdue(followUp, now)).length,
  };
}

function isAbout({ campaigns, field = {} }: ReportMail, journey: Journey): boolean {
  const { campaign } = journey;
  if (campaigns && (campaign === undefined || !campaigns.includes(campaign))) return false;
  return hasValues(journey, field);
}

function scopeOf({ field }: ReportMail): string | undefined {
  const [one] = Object.entries(field ?? {});
  return one && `${one[0]}: ${one[1]}`;
}

async function resultsOf(
  mail: ReportMail,
  { every, period }: { every: MailPeriod; period: Period },
  reading: MailReading,
): Promise<{ results: Result[]; others: number }> {
  const steps = periodsUpTo(every, period, periodsShown);
  const rows = (await rowsOf(mail, steps, reading)).filter(
    ({ campaign, by }) => (mail.campaigns?.includes(campaign) ?? true) && (!by || by.value === mail.field?.[by.field]),
  );
  const last = rows.filter(({ step, now, before }) => step?.since === period.since && now.asked + before.asked > 0);
  const { rows: shown, count } = mostAsked(last, mostCampaigns);
  const results = shown.map((row) => ({
    row,
    trend: steps.map((step) => {
      const then = rows.find(({ campaign, step: of }) => campaign === row.campaign && of?.since === step.since);
      return { period: step, figure: then ? resultOf(then.now, row.measure) : null };
    }),
  }));
  return { results, others: count };
}

/** Figures by campaign and period. A mail about one value of a custom field has the figures of that value. */
async function rowsOf(
  { campaigns, field }: ReportMail,
  steps: readonly Period[],
  { service, timeZone, readings }: MailReading,
): Promise<GradesRow[]> {
  const once = async (question: unknown, read: () => Promise<GradesRow[]>): Promise<GradesRow[]> => {
    const key = JSON.stringify(question);
    const known = readings.get(key) ?? read();
    readings.set(key, known);
    return await known;
  };
  if (field === undefined) return await once(steps, () => gradesOverTime(service, steps));
  const rows: GradesRow[] = [];
  for (const step of steps) {
    const names = Object.keys(field);
    const read = () => gradesByField(service, names, step, { campaigns, timeZone });
    rows.push(...(await once([names, campaigns, step], read)).map((row) => ({ ...row, step })));
  }
  return rows;
}

/** The worst and the best comments. The page defines happy and unhappy in the same way. */
function bestAndWorst(
  comments: readonly Comment[],
  count: number,
  sources: readonly MailSource[],
): Pick<MailFigures, 'unhappy' | 'happy'> {
  const graded = comments.flatMap((comment) => {
    const { grade, maxGrade } = comment;
    return grade === null || maxGrade === undefined
      ? []
      : [{ comment, share: grade / maxGrade, tone: toneOf(grade, maxGrade) }];
  });
  const unhappy = graded.filter(({ tone }) => tone === 'bad').toSorted((a, b) => a.share - b.share);
  const happy = graded.filter(({ tone }) => tone === 'good').toSorted((a, b) => b.share - a.share);
  const shown = (some: typeof graded) => some.slice(0, count).map(({ comment }) => commentOf(comment, sources));
  return { unhappy: shown(unhappy), happy: shown(happy) };
}

function commentOf(one: Comment, sources: readonly MailSource[]): MailComment {
  const { comment, grade, maxGrade, campaignName, values } = one;
  const of = sources.find(({ name }) => name === one.source);
  const url = of && addressOf(one.record, of.source);
  return { comment, grade, maxGrade, campaignName, values, url, noun: nounOf(of?.source) };
}

function openFollowUp({ followUp, journey, context }: FoundFollowUp<MailSource>, now: Date): OpenFollowUp {
  const record = currentRecordOf(journey);
  return {
    grade: gradesInWords(journey),
    whose: personInWords(followUp, context.source.recordNoun),
    takenBy: followUp.takenBy,
    due: dueInWords(followUp, now),
    isOverdue: isOverdue(followUp, now),
    record,
    url: addressOf(record, context.source),
  };
}

const nounOf = (source: Pick<Source, 'recordNoun'> | undefined): string => source?.recordNoun ?? 'record';
