import { CloseloopError } from '../../core/errors.ts';
import { type Counts, sumOf } from '../journey/hourly-counts.ts';
import { type GradeFigures, type GradesRow, gradesByCampaign, gradesByField, resultOf } from '../reports/grades.ts';
import { instantsOf, type Period, periodBefore, thirtyDaysUntil } from '../reports/period.ts';
import { daysIn } from '../support/shown-time.ts';
import type { RuntimeOptions } from './runtime.ts';
import { openAccount } from './service.ts';
import { readFilter, type ServiceFilter } from './service-filter.ts';
import { bar, csv, table } from './table.ts';
import { withStored } from './with-stored.ts';

interface ReportOptions extends RuntimeOptions, Omit<ServiceFilter, 'type' | 'metric'> {
  json: boolean;
  format: 'table' | 'csv' | 'json';
  /** Names of custom fields, separated by commas. */
  by?: string;
}

/** The grades of a period beside those of the period before it, by campaign or by the values of custom fields. */
export async function report(options: ReportOptions): Promise<number> {
  const { service, timeZone } = await openAccount(options);
  const period = periodOf(options, timeZone);
  const { campaign, by } = options;
  const { changedSince } = readFilter(options, timeZone);
  if (by === undefined && changedSince !== undefined) {
    throw new CloseloopError('--changed-since is for "--by": the statistics of whole campaigns do not take it.', {
      kind: 'config',
    });
  }
  const fields = by?.split(',').map((name) => name.trim());
  const rows = fields
    ? await gradesByField(service, fields, period, { campaign, changedSince })
    : await gradesByCampaign(service, period, { campaign });
  const ours = fields ? undefined : await countsOf(options, period, timeZone);
  const shown = rows.map((row) => ({ ...row, ...(ours && { closeloop: ours.get(row.campaign) ?? nobody }) }));
  const format = options.json ? 'json' : options.format;
  if (format === 'json') {
    for (const row of shown) process.stdout.write(`${JSON.stringify({ ...period, ...row })}\n`);
    return 0;
  }
  if (rows.length === 0) process.stderr.write(`${nothing(fields, period)}\n`);
  else process.stdout.write(format === 'csv' ? csv(cellsOf(shown, 'csv')) : tableOf(shown, period));
  return 0;
}

type Shown = GradesRow & { closeloop?: Counts };
const nobody: Counts = { asked: 0, answered: 0, responses: 0 };

/** What is not given: thirty days, up to today. */
function periodOf(options: ReportOptions, timeZone: string): Period {
  const { since, until = daysIn(timeZone)(new Date()) } = readFilter({ until: 'today', ...options }, timeZone);
  return { since: since ?? thirtyDaysUntil(until).since, until };
}

/** What closeloop's own journeys say of the same days, by campaign and over all sources. */
async function countsOf(options: ReportOptions, period: Period, timeZone: string): Promise<Map<number, Counts>> {
  return await withStored(options, async ({ sources }) => {
    const time = instantsOf(period, timeZone);
    const all = await Promise.all(sources().map(({ store }) => store.queries.countsBetween(time)));
    const campaigns = new Set(all.flatMap((one) => [...one.keys()]));
    return new Map([...campaigns].map((id) => [id, sumOf(all.flatMap((one) => one.get(id) ?? []))]));
  });
}

function nothing(fields: readonly string[] | undefined, { since, until }: Period): string {
  if (fields === undefined) return `Nobody was asked from ${since} to ${until}, nor in as many days before.`;
  const names = fields.map((name) => `"${name}"`).join(' or ');
  return `From ${since} to ${until}, and in as many days before, no request has a value of ${names} that its campaign shows in reports.`;
}

function cellsOf(rows: readonly Shown[], form: 'csv' | 'table'): string[][] {
  const has = { by: rows.some(({ by }) => by), ours: rows.some(({ closeloop }) => closeloop) };
  const written = (figure: number | null) => (figure === null ? '' : String(figure));
  const percent = (share: number | null) =>
    share === null ? '' : form === 'csv' ? String(Math.round(share * 10_000) / 10_000) : `${Math.round(share * 100)} %`;
  const figures = ({ asked, answered, rate, average, index }: GradeFigures) => [
    String(asked),
    ...(has.by ? [] : [written(answered), percent(rate)]),
    written(average),
    ...(has.by ? [] : [written(index)]),
  ];
  const names = ['asked', ...(has.by ? [] : ['answered', 'rate']), 'average', ...(has.by ? [] : ['index'])];
  const before = form === 'csv' ? names.map((name) => `${name} before`) : [];
  const head = [
    ...(form === 'csv' ? ['campaign id'] : []),
    'campaign',
    ...(has.by ? ['field', 'value'] : []),
    ...names,
    ...before,
    'change',
    ...(has.ours ? ['by closeloop'] : []),
  ];
  const body = rows.map((row) => [
    ...(form === 'csv' ? [String(row.campaign)] : []),
    row.name,
    ...(row.by ? [row.by.field, row.by.value] : []),
    ...figures(row.now),
    ...(form === 'csv' ? figures(row.before) : []),
    row.change === null ? '' : form === 'csv' || row.change <= 0 ? String(row.change) : `+${row.change}`,
    ...(has.ours ? [String(row.closeloop?.asked ?? 0)] : []),
  ]);
  return [head, ...body];
}

/** The columns for people, with a bar of the campaign's own figure on its scale. */
function tableOf(rows: readonly Shown[], period: Period): string {
  const [head = [], ...body] = cellsOf(rows, 'table');
  const before = periodBefore(period);
  const drawn = body.map((cells, i) => [...cells, barOf(rows[i])]);
  return `${period.since} to ${period.until}, change against ${before.since} to ${before.until}\n\n${table([[...head, ''], ...drawn])}`;
}

function barOf(row: Shown | undefined): string {
  if (row === undefined) return '';
  const isAverage = row.metric === 'avg' || row.by !== undefined;
  const [low = 0, high = 0] = isAverage
    ? [row.scale[0], row.scale.at(-1)]
    : row.metric === 'nps'
      ? [-100, 100]
      : [0, 100];
  const figure = isAverage ? row.now.average : resultOf(row.now, row.metric);
  return figure === null || high <= low ? '' : bar((figure - low) / (high - low));
}
