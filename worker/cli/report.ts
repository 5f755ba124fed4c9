import { refusal } from '../../core/errors.ts';
import { minutesInWords } from '../../core/schedule/duration.ts';
import type { Journey } from '../journey/journey.ts';
import { cellsOf, csv, type ReportRow, rangeOf } from '../reports/cells.ts';
import { type Comment, newestComments } from '../reports/comments.ts';
import { type FollowUpFigures, followUpReport } from '../reports/follow-ups.ts';
import { type GradesRow, gradesByCampaign, gradesOverTime, rateOf, resultOf } from '../reports/grades.ts';
import { gradesByField } from '../reports/grades-by-field.ts';
import { type Period, periodBefore, periodCalled, stepsOf } from '../reports/period.ts';
import type { PeriodName, StepName } from '../reports/period-names.ts';
import { byChannel, channelInWords, channelsAt, storedCounts } from '../reports/stored-counts.ts';
import { daysIn, inZone } from '../support/shown-time.ts';
import { bar, say, table, writeLines } from './output.ts';
import { type CommandOptions, noSuch } from './runtime.ts';
import { openAccount, readFilter, type ServiceAccount, type ServiceFilter } from './service.ts';
import { withStored } from './with-stored.ts';

interface ReportOptions extends CommandOptions, Omit<ServiceFilter, 'type' | 'metric'> {
  format: 'table' | 'csv' | 'json';
  /** A named period; replaces `since` and `until`. */
  period?: PeriodName;
  /** Names of custom fields, separated by commas. */
  by?: string;
  every?: StepName;
  /** Shows response rates by hour of asking and by channel, in place of grades. */
  hours?: boolean;
  /** How many of the newest comments to show. */
  comments?: number;
}

/** The grades of a period beside those of the period before it, by campaign, by the values of custom fields, or step by step. */
export async function report(options: ReportOptions): Promise<number> {
  const format = options.json ? 'json' : options.format;
  refuse(options, format);
  const account = await openAccount(options);
  const period = periodOf(options, account.timeZone);
  if (options.hours) return await reportHours(options, format, period, account);
  const fields = options.by?.split(',').map((name) => name.trim());
  const [rows, { counts, comments, followUps }] = await Promise.all([
    rowsOf(options, fields, period, account),
    storedOf(options, period, account.timeZone),
  ]);
  const notFound = fields?.filter((field) => !rows.some(({ by }) => by?.field === field)) ?? [];
  const isStored = options.campaign !== undefined && (counts?.has(options.campaign) === true || hasAny(followUps));
  const isCampaignUnseen = options.campaign !== undefined && !isStored && rows.length + comments.length === 0;
  if (isCampaignUnseen || notFound.length > 0) await refuseUnknown(options.campaign, notFound, account);
  const shown = rows.map((row) => ({ ...row, ...(counts && { closeloop: counts.get(row.campaign) ?? nobody }) }));
  if (format === 'json') {
    const ofFollowUps = hasAny(followUps) ? [{ ...period, followUps }] : [];
    await writeLines([...shown.map((row) => ({ ...period, ...row })), ...ofFollowUps, ...comments]);
    return 0;
  }
  if (rows.length === 0) say(nothing(fields, period));
  else process.stdout.write(format === 'csv' ? csv(cellsOf(shown, 'csv')) : tableOf(shown, period));
  if (format === 'table' && hasAny(followUps)) process.stdout.write(followUpTable(followUps, period));
  for (const one of comments) process.stdout.write(commentLines(one, account.timeZone));
  return 0;
}

const nobody = { asked: 0, answered: 0, responses: 0 };

/** @throws CloseloopError config for options that do not go together */
function refuse(options: ReportOptions, format: string): void {
  const { by, every, hours, changedSince, comments, period, since, until } = options;
  const [isBy, isEvery, hasComments] = [by, every, comments].map((one) => one !== undefined);
  if (hours && (isBy || isEvery || hasComments))
    throw refusal('--hours stands alone: no --by, --every and --comments with it.');
  if (!isBy && changedSince !== undefined)
    throw refusal('--changed-since is for "--by": the statistics of whole campaigns do not take it.');
  if (isBy && isEvery) throw refusal('--every and --by: the figures are by step or by value, one of both.');
  if (period !== undefined && (since !== undefined || until !== undefined))
    throw refusal('--period stands in place of --since and --until: name one of both.');
  if (hasComments && format === 'csv') throw refusal('--comments is not for "--format csv", whose rows are figures.');
}

/** @throws CloseloopError config for a campaign that the service does not have, and for a field that none of its campaigns has */
async function refuseUnknown(
  campaign: number | undefined,
  fields: readonly string[],
  { service }: ServiceAccount,
): Promise<void> {
  const all = await Array.fromAsync(service.campaigns());
  const ids = all.map(({ id }) => id);
  if (campaign !== undefined && !ids.includes(campaign)) throw noSuch('campaign', campaign, ids);
  const names = [...new Set(all.flatMap((one) => one.custom_fields.map(({ name }) => name)))];
  const unknown = fields.find((field) => !names.includes(field));
  if (unknown !== undefined) throw noSuch('field', unknown, names);
}

/** The period of a report. The defaults are thirty days, up to today. */
function periodOf(options: ReportOptions, timeZone: string): Period {
  const today = daysIn(timeZone)(new Date());
  const { since, until = today } = readFilter({ until: 'today', ...options }, timeZone);
  const named = periodCalled(options.period ?? '30-days', until);
  return since === undefined ? named : { since, until };
}

async function rowsOf(
  options: ReportOptions,
  fields: readonly string[] | undefined,
  period: Period,
  { service, timeZone }: ServiceAccount,
): Promise<GradesRow[]> {
  const { campaign, every } = options;
  if (fields) {
    const { changedSince } = readFilter(options, timeZone);
    const campaigns = campaign === undefined ? undefined : [campaign];
    return await gradesByField(service, fields, period, { campaigns, changedSince, timeZone });
  }
  if (every) return await gradesOverTime(service, stepsOf(period, every), { campaign });
  return await gradesByCampaign(service, period, { campaign });
}

/** From closeloop's own journeys of the same days: the newest comments, and, if the report is by campaign, counts and follow-ups. */
async function storedOf(options: ReportOptions, period: Period, timeZone: string) {
  const { by, every, comments: size = 0, campaign } = options;
  const isByCampaign = by === undefined && every === undefined;
  if (!isByCampaign && size === 0) return { comments: [] };
  const now = new Date();
  const ofCampaign = campaign === undefined ? undefined : (journey: Journey) => journey.campaign === campaign;
  return await withStored(options, async ({ sources }) => ({
    ...(isByCampaign && {
      counts: (await storedCounts(sources(), period, { timeZone, now })).byCampaign,
      followUps: await followUpReport(sources(), period, { timeZone, now, fits: ofCampaign }),
    }),
    comments: size === 0 ? [] : await newestComments(sources(), { ...period, timeZone, size, campaign }),
  }));
}

type FollowUps = Awaited<ReturnType<typeof followUpReport>>;

/** Whether a follow-up was opened in one of the two periods. */
function hasAny(followUps: FollowUps | undefined): followUps is FollowUps {
  return followUps !== undefined && followUps.now.opened + followUps.before.opened > 0;
}

function followUpTable({ now, before, isCut }: FollowUps, period: Period): string {
  const head = ['follow-ups', 'opened', 'done', 'in time', 'overdue', 'first action', 'graded again', 'recovered'];
  const cells = (name: Period, one: FollowUpFigures) => [
    `${name.since} to ${name.until}`,
    ...[one.opened, one.done, one.withinDue, one.overdue].map(String),
    one.firstActionMs === null ? '–' : minutesInWords(Math.round(one.firstActionMs / 60_000)),
    ...[one.gradedAgain, one.recovered].map(String),
  ];
  const cut = isCut ? '\nThere are more follow-ups than are read.\n' : '';
  return `\n${table([head, cells(period, now), cells(periodBefore(period), before)])}${cut}`;
}

function nothing(fields: readonly string[] | undefined, { since, until }: Period): string {
  if (fields === undefined) return `Nobody was asked from ${since} to ${until}, nor in the period before.`;
  const names = fields.map((name) => `"${name}"`).join(' or ');
  return `From ${since} to ${until}, and in the period before, no request has a value of ${names} that its campaign shows in reports.`;
}

/** The columns for people, with a bar of the row's own figure on its scale. */
function tableOf(rows: readonly ReportRow[], period: Period): string {
  const [head = [], ...body] = cellsOf(rows, 'table');
  const before = periodBefore(period);
  const drawn = body.map((cells, i) => [...cells, barOf(rows[i])]);
  const against = rows.some(({ step }) => step) ? 'the step before' : `${before.since} to ${before.until}`;
  return `${period.since} to ${period.until}, change against ${against}\n\n${table([[...head, ''], ...drawn])}`;
}

function barOf(row: ReportRow | undefined): string {
  const range = row && rangeOf(row);
  const figure = row ? resultOf(row.now, row.measure) : null;
  return range === undefined || figure === null ? '' : bar((figure - range[0]) / (range[1] - range[0]));
}

function commentLines({ at, grade, maxGrade, comment, journey }: Comment, timeZone: string): string {
  const given = grade === null ? 'no grade' : `grade ${grade}${maxGrade === undefined ? '' : ` of ${maxGrade}`}`;
  // Whatever customers write must not command the terminal.
  const text = comment.replace(/[^\P{Cc}\n]/gu, ' ').replaceAll('\n', '\n  ');
  return `\n${inZone(at.toISOString(), timeZone)}  ${given}  ${journey}\n  ${text}\n`;
}

/** How many of the customers whom closeloop asked in an hour of the day have answered, by channel: evidence for windows. */
async function reportHours(
  options: ReportOptions,
  format: ReportOptions['format'],
  period: Period,
  { service, timeZone }: ServiceAccount,
): Promise<number> {
  const asking = { timeZone, now: new Date(), campaign: options.campaign };
  const [counts, channels] = await Promise.all([
    withStored(options, ({ sources }) => storedCounts(sources(), period, asking)),
    channelsAt(service),
  ]);
  const rows = byChannel(counts.hours, channels).flatMap(({ channel, hours }) =>
    hours.map(({ hour, asked, responses: answered }) => {
      return { channel, hour, asked, answered, rate: rateOf(asked, answered) ?? 0 };
    }),
  );
  const { campaign } = options;
  // An earlier campaign that the service does not name any more has rows.
  if (rows.length === 0 && campaign !== undefined && !channels.has(campaign))
    throw noSuch('campaign', campaign, [...channels.keys()]);
  const { since, until } = period;
  const head = ['channel', 'hour', 'asked', 'answered', 'rate'];
  if (format === 'json') await writeLines(rows.map((row) => ({ ...period, ...row })));
  else if (rows.length === 0) say(`closeloop asked nobody from ${since} to ${until}.`);
  else if (format === 'csv') {
    const cells = rows.map(({ channel, hour, asked, answered, rate }) => {
      return [channel, ...[hour, asked, answered, Math.round(rate * 10_000) / 10_000].map(String)];
    });
    process.stdout.write(csv([head, ...cells]));
  } else {
    const highest = Math.max(...rows.map(({ rate }) => rate), 0.01);
    const cells = rows.map(({ channel, hour, asked, answered, rate }) => [
      channelInWords(channel),
      `${String(hour).padStart(2, '0')}:00`,
      ...[asked, answered].map(String),
      `${Math.round(rate * 100)} %`,
      bar(rate / highest),
    ]);
    const title = `${since} to ${until}, by the hour in which closeloop asked, on the clock of ${timeZone}`;
    process.stdout.write(`${title}\n\n${table([[...head, ''], ...cells])}`);
  }
  return 0;
}
