import type { Contact } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import { type PreviewContext, type PreviewedClosing, previewClosings } from '../support/preview.ts';
import { inZone } from '../support/shown-time.ts';
import { table } from './output.ts';
import { closingsOn, type Period, pagesOf } from './past-closings.ts';
import { type Progress, progress } from './progress.ts';
import { SummaryCount, summaryText } from './summary.ts';

/**
 * Shows what would become of the closings of a period in these sources: a table, and the summary that a dry run ends with.
 * @returns 3 where a source would ask about none of its closings, which is seldom meant; else 0
 */
export async function previewPast(
  contexts: readonly PreviewContext[],
  period: Period,
  { limit = Number.POSITIVE_INFINITY, json }: { limit?: number | undefined; json: boolean },
): Promise<number> {
  const shown = progress(process.stderr);
  const listing = contexts.filter(({ source }) => source.poll !== undefined);
  for (const { name } of contexts.filter((one) => !listing.includes(one)))
    shown.say(`Source ${name} can't list its closings: "closeloop preview ${name}/<record>" shows one.`);
  if (listing.length === 0) throw refusal('No source here can list its closings.');
  const count = new SummaryCount();
  const rows: ReturnType<typeof rowOf>[] = [];
  const silent: string[] = [];
  for (const context of listing) {
    const { name, timeZone } = context;
    let closings = 0;
    let isAsking = false;
    for await (const closing of closingsOf(context, period, limit, shown)) {
      if (isClosed(closing)) closings++;
      isAsking ||= mayAsk(closing);
      count.addForecast(name, closing);
      const row = rowOf(name, closing);
      if (json) process.stdout.write(`${JSON.stringify(row)}\n`);
      else rows.push({ ...row, ...(row.why && { why: inZone(row.why, timeZone) }) });
    }
    if (closings > 0 && !isAsking) silent.push(name);
  }
  const summary = count.summary();
  const zone = listing[0]?.timeZone ?? 'UTC';
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${tableOf(rows, zone)}${summaryText(summary)}`);
  if (silent.length === 0) return 0;
  const example =
    rows.length > 0 ? ` "closeloop why ${rows.at(-1)?.record}" shows every condition with its value.` : '';
  shown.say(
    `Nobody would be asked by ${silent.join(', ')}: mend the rules, "never", the campaign or the data.${example}`,
  );
  return 3;
}

async function* closingsOf(
  context: PreviewContext,
  period: Period,
  limit: number,
  shown: Progress,
): AsyncGenerator<PreviewedClosing> {
  const seen = new Set<string>();
  const wanted = Math.min(period.until.getTime(), Date.now());
  for await (const page of pagesOf(context, { since: period.since }, shown)) {
    const ids = new Set(closingsOn(page, period).map(({ recordId }) => recordId));
    const fresh = [...ids].filter((id) => !seen.has(id)).slice(0, limit - seen.size);
    for (const id of fresh) seen.add(id);
    yield* previewClosings(fresh, period, context);
    shown.update(`${page.reached.toISOString().slice(0, 10)}  ${context.name}: ${seen.size} closings looked at`);
    if (seen.size >= limit) break;
    const { done, reached } = page;
    if (done && reached.getTime() < wanted - exactMs)
      shown.say(inZone(lateText(context.name, reached), context.timeZone));
  }
  shown.end();
}

/** Some vendors tell times in seconds. */
const exactMs = 5_000;

const lateText = (source: string, reached: Date): string =>
  `${source}: closings since ${reached.toISOString()} are not listed yet, as the vendor's list lags; "closeloop preview ${source}/<record>" shows one.`;

/** Whether the record is still closed: rules decide about closed records only. */
const isClosed = ({ forecast: { reason } }: PreviewedClosing): boolean => reason !== 'out' && reason !== 'reopened';

/** Whether the rules would ask, whatever else keeps the person from being asked this time. */
function mayAsk({ forecast: { request, reason } }: PreviewedClosing): boolean {
  return request !== undefined || reason === 'sample' || reason === 'asked-already';
}

/**
 * A closing with what would become of it, for the table. Contacts are masked: people may paste the output into a ticket. `state`: of the
 * journey that the closing has, which `backfill` does not change.
 */
function rowOf(source: string, { record, state, forecast }: PreviewedClosing) {
  const { decision, reason, why, rule, request } = forecast;
  const to = decision === 'ask' && request ? (request.test ?? request.contact) : undefined;
  return {
    record: refOf(source, record),
    decision,
    dueAt: to && request?.dueAt,
    contact: to && `${request?.test ? 'TEST ' : ''}${masked(to)}`,
    campaign: request?.campaign.id,
    rule: rule?.name,
    reason,
    why,
    state,
  };
}

/** `email c…@example.com`, `phone +372…45` */
function masked({ kind, value }: Contact): string {
  const at = value.lastIndexOf('@');
  const end = kind === 'email' ? value.slice(at) : value.slice(-2);
  return `${kind} ${value.slice(0, kind === 'phone' ? 4 : 1)}…${end}`;
}

function tableOf(rows: readonly ReturnType<typeof rowOf>[], timeZone: string): string {
  if (rows.length === 0) return '';
  const head = ['record', 'asked', 'when', 'whom', 'campaign', 'because'];
  const cells = rows.map(({ record, decision, dueAt, contact = '', campaign = '', rule, why, state }) => [
    record,
    decision === 'ask' ? 'yes' : 'no',
    dueAt ? inZone(dueAt.toISOString(), timeZone) : '',
    contact,
    String(campaign),
    why ?? `rule "${rule}"${state === undefined ? '' : `; it has a journey: ${state}`}`,
  ]);
  return `${table([head, ...cells])}\n`;
}
