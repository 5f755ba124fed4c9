import { styleText } from 'node:util';
import type { Condition } from '../support/conditions.ts';
import type { Standing } from '../support/explain.ts';
import { type Answer, answerWhy, type ExplainedClosing, unheardOf } from '../support/why.ts';
import type { ExplainedRecord, IfClosedNow } from '../support/why-record.ts';
import { forecastForMachines, forecastLines } from './forecast.ts';
import { printStanding } from './journeys.ts';
import { print, say } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import { withReading, withRecordNames } from './with-records.ts';

/**
 * Why a customer was asked or not: every closing of theirs, or of a record, with the reason for its state, and what would be sent if
 * the record closed now. Returns 1 when closeloop has never heard of them.
 * @param options `stored`: from what is stored alone
 */
export async function why(
  options: CommandOptions & { about: string; source?: string; stored: boolean },
): Promise<number> {
  const answer = options.stored ? await storedAnswer(options) : await wholeAnswer(options);
  const { closings, records, sources } = answer;
  if (options.json) print(options, forMachines(answer), '');
  else {
    for (const one of sources) printStanding(one);
    for (const { timeZone, ...closing } of closings) print({ json: false, timeZone }, closing, closingLines(closing));
    for (const one of records) print({ json: false, timeZone: one.timeZone }, one, ['', ...recordLines(one)]);
    printMissing(answer);
  }
  return closings.length > 0 ? 0 : 1;
}

async function storedAnswer(options: CommandOptions & { about: string; source?: string }): Promise<Answer> {
  return await withRecordNames(options, ({ sources, runtime: { redis } }) =>
    answerWhy(
      sources(options.source).map((context) => ({ ...context, context })),
      options.about,
      { redis },
    ),
  );
}

async function wholeAnswer(options: CommandOptions & { about: string; source?: string }): Promise<Answer> {
  const { explainRecord } = await import('../support/why-record.ts');
  return await withReading(options, ({ sources, runtime: { redis } }) =>
    answerWhy(sources(options.source), options.about, { redis, explainRecord }),
  );
}

function printMissing(answer: Answer): void {
  const { closings, earlier } = answer;
  if (earlier > 0) say(`${earlier} earlier closings are not shown.`);
  if (closings.length > 0) return;
  say(`${unheardOf(answer)} "closeloop contact show" tells what the service knows of them.`);
}

function closingLines({ ref, journey, what, because, remedy }: Omit<ExplainedClosing, 'timeZone'>): string[] {
  const { closedAt, rule, campaign, requestId } = journey;
  const details = [
    `closed ${closedAt.toISOString()}`,
    ...(rule === undefined ? [] : [`rule ${rule}`]),
    ...(campaign === undefined ? [] : [`campaign ${campaign}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ];
  return [
    `${styleText('bold', ref)}  ${what}`,
    `  ${details.join(' · ')}`,
    ...because.map((line) => `  ${line}`),
    ...(remedy === undefined ? [] : [`  → closeloop ${remedy}`]),
  ];
}

function recordLines(one: ExplainedRecord): string[] {
  const { source, timeZone, record, state, why, closedAt, conditions, journey, ifClosedNow } = one;
  const of = styleText('bold', `record ${record} of ${source}`);
  if (state === 'unreachable') return [`${of} could not be read now: ${why}`];
  if (state === 'out') return [`${of}, as it is now: nobody is asked about it: ${why}`];
  const now =
    closedAt === undefined
      ? 'it is not closed'
      : `closed ${closedAt.toISOString()}${journey === undefined ? ', and nothing is decided about that yet' : ` (${journey})`}`;
  return [
    `${of}, as it is now: ${now}`,
    ...conditions.map(conditionLine),
    ...(ifClosedNow ? forecast(ifClosedNow, timeZone) : []),
  ];
}

function conditionLine({ of, rule, condition, is, why, saw = {}, decides }: Condition): string {
  const seen = Object.entries(saw).map(([name, value]) => `${name} is ${value}`);
  const text = `  ${of === 'never' ? 'never' : `rule "${rule}"`}: ${condition} → ${is.replace('-', ' ')}`;
  const because = why ?? seen.join(', ');
  const line = `${text}${because === '' ? '' : ` (${because})`}`;
  return decides ? styleText('bold', `${line}  ← decides`) : line;
}

function forecast(found: IfClosedNow, timeZone: string): string[] {
  const heads = { ask: 'the customer would be asked', skip: 'nobody would be asked', unknown: 'that is not known now' };
  const because = found.why === undefined ? '' : `: ${found.why}`;
  return [
    styleText('bold', `  if it closed now: ${heads[found.decision]}${because}`),
    ...found.heldUp.map((one) => `  but held up: ${one}`),
    ...(found.decision === 'unknown' ? [] : forecastLines(found, timeZone).map((line) => `  ${line}`)),
  ];
}

/** The shape is documented: docs/journeys.md. */
function forMachines({ closings, earlier, records, isErased, sources }: Answer): object {
  const shown = closings.map(closingForMachines);
  return {
    first: shown[0],
    closings: shown,
    earlier,
    records: records.map(recordForMachines),
    erased: isErased || undefined,
    sources: sources.map(standingForMachines),
  };
}

function closingForMachines({ ref, journey, isAsked, what, because, remedy }: ExplainedClosing): object {
  const { state, reason, closedAt, rule, campaign, requestId, test } = journey;
  return {
    journey: ref,
    state,
    isAsked,
    what,
    because,
    reason,
    closedAt,
    rule,
    campaign,
    requestId,
    test: test && true,
    remedy,
  };
}

function recordForMachines({ timeZone: _, ifClosedNow, ...record }: ExplainedRecord): object {
  if (ifClosedNow === undefined) return record;
  const { heldUp } = ifClosedNow;
  const { decision, why } = ifClosedNow;
  const found = ifClosedNow.decision === 'unknown' ? { decision, why } : forecastForMachines(ifClosedNow);
  return { ...record, ifClosedNow: { ...found, heldUp } };
}

function standingForMachines({ source, paused, held, notPlanned }: Standing): object {
  return {
    source,
    paused: paused.map(({ stage, why, at, by }) => ({ stage, why, at, by })),
    held: held.map(({ stage, only, why, at }) => ({ stage, only, why, at })),
    notPlanned,
  };
}
