import { minutesInWords } from '../../core/schedule/duration.ts';
import { count, daysInWords, figureOf, nameOf, percent, shortDays } from '../dashboard/views/figures.ts';
import { isFew, resultOf } from '../reports/grades.ts';
import type { Period } from '../reports/period.ts';
import type { MailComment, MailFigures, OpenFollowUp, Result } from './figures.ts';
import { mostOpen } from './figures.ts';

/* The words of a mail, in HTML and as plain text. Pure. */

/** Longer comments are cut. The whole comment is on the record. */
const longestComment = 400;

export function subjectOf({ name, every, period, results }: MailFigures): string {
  const [first] = results;
  const result = first && resultOf(first.row.now, first.row.measure);
  const told = first && result !== null && result !== undefined ? `: ${headline(first)}` : '';
  // Some mail programs show the thin spaces between two days as boxes in a subject.
  const when = every === 'week' ? shortDays(period).replaceAll('\u2009', ' ') : monthOf(period);
  return `${name}, ${every} of ${when}${told}`;
}

/** "CSAT 87.2 %", "CSAT 33.3 % (few answers)". */
function headline({ row }: Pick<Result, 'row'>): string {
  const figure = resultOf(row.now, row.measure);
  return `${nameOf(row.measure)} ${figureOf(figure, row.measure)}${isOfFew({ row }) ? ` (${ofFew})` : ''}`;
}

/** The mark that the page has, too, for a figure that says little. */
export const ofFew = 'few answers';
export const isOfFew = ({ row }: Pick<Result, 'row'>): boolean =>
  resultOf(row.now, row.measure) !== null && isFew(row.now);

export const inWords = (every: MailFigures['every'], period: Period): string =>
  every === 'week' ? daysInWords(period) : monthOf(period, 'numeric');

const month = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'long' });
const monthAndYear = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'long', year: 'numeric' });
const monthOf = ({ since }: Period, year?: 'numeric'): string => (year ? monthAndYear : month).format(new Date(since));

/** The label below a bar of the chart: "16 Nov", "Nov". */
const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });
const shortMonth = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'short' });
export const labelOf = (every: MailFigures['every'], { since }: Period): string =>
  (every === 'week' ? day : shortMonth).format(new Date(since));

/** The change of the result against the period before. `by` is for its colour, which few answers do not get. */
export function changeOf({ row }: Result, every: MailFigures['every']): { words: string; by: number } {
  const { change, measure, now, before } = row;
  if (change === null || measure === null) return { words: `nothing to compare with the ${every} before`, by: 0 };
  const was = figureOf(resultOf(before, measure), measure);
  if (change === 0) return { words: `as in the ${every} before`, by: 0 };
  // The difference of two percentages is in points, not in per cent.
  const points = `${figureOf(Math.abs(change), measure).replace(' %', '')}${measure === 'csat' ? ' points' : ''}`;
  return {
    words: `${change > 0 ? '▲' : '▼'} ${points} ${change > 0 ? 'up' : 'down'} from ${was}`,
    by: isFew(now) || isFew(before) ? 0 : change,
  };
}

/** "133 of 412 answered, 32 % (30 % in the week before)". */
export function answersOf({ row: { now, before } }: Result, every: MailFigures['every']): string {
  if (now.answered === null) return `${count(now.asked)} were asked`;
  const earlier = before.rate === null ? '' : ` (${percent(before.rate)} in the ${every} before)`;
  return `${count(now.answered)} of ${count(now.asked)} answered, ${percent(now.rate)}${earlier}`;
}

/** "2 of 5 · Store: Tallinn · Agent: Ann". */
export function aboutComment({ grade, maxGrade, campaignName, values }: Omit<MailComment, 'url'>): string {
  const given = `${grade ?? '–'}${maxGrade === undefined ? '' : ` of ${maxGrade}`}`;
  const fields = Object.entries(values).map(([name, value]) => `${name}: ${value}`);
  return [given, ...(campaignName === undefined ? [] : [campaignName]), ...fields.slice(0, 3)].join(' · ');
}

export function cut(comment: string): string {
  const text = comment.trim();
  return [...text].length > longestComment ? `${[...text].slice(0, longestComment - 1).join('')}…` : text;
}

/** Empty where no follow-up was opened and none is open. */
export function followUpsInWords({ followUps, every, openCount, overdueCount }: MailFigures): string[] {
  const { opened, done, withinDue, untaken, firstActionMs, gradedAgain, recovered } = followUps;
  const most = openCount >= mostOpen ? `${count(mostOpen)} or more are` : `${count(openCount)} are`;
  const open = `${openCount === 1 ? '1 is' : most} open now`;
  const now =
    openCount === 0 ? 'None is open now.' : `${open}, ${overdueCount === 0 ? 'none' : count(overdueCount)} overdue.`;
  if (opened === 0 && openCount === 0) return [];
  if (opened === 0) return [`None was opened in this ${every}. ${now}`];
  const first =
    firstActionMs === null
      ? ''
      : `, the first action after ${minutesInWords(Math.round(firstActionMs / 60_000))} (median${untaken === 0 ? '' : `; ${count(untaken)} not taken up yet`})`;
  const ended = done === 0 ? 'none of them done' : `${count(done)} of them done, ${count(withinDue)} in time`;
  const again =
    gradedAgain === 0
      ? []
      : [`${count(gradedAgain)} of these customers have graded again since, ${count(recovered)} of them better.`];
  return [`${count(opened)} opened in this ${every}, ${ended}${first}. ${now}`, ...again];
}

export function openInWords({ grade, whose, takenBy, due }: OpenFollowUp): string {
  return [
    ...(grade === undefined ? [] : [`grade ${grade}`]),
    takenBy === undefined ? `for ${whose}` : `taken by ${takenBy}`,
    due,
  ].join(' · ');
}

export const footer =
  'You get this because the configuration of closeloop names you. Whoever keeps it takes you off with reports.optOut.';

/** The plain-text part. */
export function textOf(figures: MailFigures): string {
  const { name, every, period, scope, results, others, unhappy, happy } = figures;
  const parts = [
    `${name}: ${inWords(every, period)}${scope === undefined ? '' : ` · ${scope}`}`,
    ...(results.length === 0 ? [nobodyAsked(every)] : results.map((one) => resultText(one, every))),
    ...(others === 0 ? [] : [othersInWords(others)]),
    ...commentsText('Unhappy customers', unhappy),
    ...commentsText('Happy customers', happy),
    ...followUpText(figures),
    `--\n${footer}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

export const nobodyAsked = (every: MailFigures['every']): string =>
  `Nobody was asked in this ${every}, nor in the one before.`;
export const othersInWords = (others: number): string =>
  `… and ${others} more ${others === 1 ? 'campaign' : 'campaigns'}.`;

function resultText(result: Result, every: MailFigures['every']): string {
  const { row, trend } = result;
  const figures = trend.map(({ period, figure }) => `${labelOf(every, period)} ${figureOf(figure, row.measure)}`);
  const ofGrade = row.measure === null ? [] : [`  ${headline(result)}, ${changeOf(result, every).words}`];
  return [
    row.name,
    ...ofGrade,
    `  ${answersOf(result, every)}`,
    ...(row.measure === null ? [] : [`  ${every} by ${every}: ${figures.join(', ')}`]),
  ].join('\n');
}

function commentsText(title: string, comments: readonly MailComment[]): string[] {
  if (comments.length === 0) return [];
  const each = comments.map(({ url, ...one }) =>
    [`  ${aboutComment(one)}`, ...quoted(one.comment), ...(url === undefined ? [] : [`  ${url}`])].join('\n'),
  );
  return [`${title}\n${each.join('\n\n')}`];
}

/** Mail programs show a line that begins with ">" as a quotation, so each line of the comment gets one. */
function quoted(comment: string): string[] {
  return cut(comment)
    .split(/\r?\n/)
    .map((line) => `  > ${line}`);
}

function followUpText(figures: MailFigures): string[] {
  const lines = followUpsInWords(figures);
  if (lines.length === 0) return [];
  const open = figures.open.map(
    (one) => `  - ${one.record}: ${openInWords(one)}${one.url === undefined ? '' : `\n    ${one.url}`}`,
  );
  return [['Follow-ups', ...lines.map((line) => `  ${line}`), ...open].join('\n')];
}
