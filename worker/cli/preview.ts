import { styleText } from 'node:util';
import type { PresentedRecord } from '../../core/connector/contract.ts';
import { present } from '../../core/connector/customer.ts';
import { refusal } from '../../core/errors.ts';
import { truth } from '../../core/mapping/expression.ts';
import { formatDuration } from '../../core/schedule/duration.ts';
import { sourceNameFlaw } from '../config/config.ts';
import type { AnswerShape, LoadedAnswerRule } from '../pipeline/policy/answer-rules.ts';
import { knownRecordIn, withinSource } from '../support/journey-filter.ts';
import type { Forecast } from '../support/preview.ts';
import { type Preview, type PreviewContext, previewOf, unkept } from '../support/preview.ts';
import { inZone } from '../support/shown-time.ts';
import { forecastForMachines, forecastLines, row } from './forecast.ts';
import { print } from './output.ts';
import { periodOf } from './past-closings.ts';
import { previewPast } from './preview-closings.ts';
import { type CommandOptions, named } from './runtime.ts';
import { withSources } from './with-engine.ts';

interface Options extends CommandOptions {
  /** `<source>/<record>`, or a record of `source`. */
  record?: string | undefined;
  source?: string;
  since?: string;
  until?: string;
  limit?: number;
  /** A grade, and a comment, that the record's customer might give. */
  answer?: number;
  comment?: string;
  showRecord: boolean;
}

/**
 * Shows what would be sent about a record, or about the closings since a date: to whom, when, with which values and why; or why not. For an
 * open record: what would be if it closed now. Sends and stores nothing.
 */
export async function preview(options: Options): Promise<number> {
  const { record, since } = options;
  if ((record === undefined) === (since === undefined)) {
    throw refusal(
      `Name a record ("closeloop preview support/41960"), or a time (--since yesterday)${since === undefined ? '' : ', not both'}.`,
    );
  }
  return await withSources(options, async ({ pipelines, runtime }) => {
    const contexts = pipelines(options.source).map(({ context }) => context);
    if (record !== undefined) return await previewRecord(record, contexts, options);
    const { json, limit, until } = options;
    const period = periodOf({ since: since ?? '', until }, runtime.config.feedback.timeZone);
    return await previewPast(contexts, period, { json, limit });
  });
}

async function previewRecord(
  written: string,
  contexts: readonly PreviewContext[],
  { answer, comment, showRecord, json }: Options,
): Promise<number> {
  const context = sourceOf(written, contexts);
  const found = await previewOf(recordIn(context, written), context);
  const shape = showRecord ? found.record?.shape : undefined;
  const acts = answer === undefined ? [] : await actsOn(found, { grade: answer, comment }, context);
  const end = shape === undefined ? [] : ['', 'record', JSON.stringify(shape, null, 2)];
  const result = { ...forMachines(found), ...(answer !== undefined && { answerRules: acts }), record: shape };
  const decided = inZone(linesOf(found, context).join('\n'), context.timeZone);
  print({ json }, result, [decided, ...acts.flatMap(linesOfActs), ...end]);
  return found.record === undefined ? 1 : 0;
}

/** The actions that answer rules would take because of an answer of the record's customer. */
async function actsOn(
  found: Preview,
  { grade, comment }: { grade: number; comment: string | undefined },
  context: PreviewContext,
): Promise<PreviewedActs[]> {
  const forecast = found.is === 'closed' ? found.forecast : found.is === 'open' ? found.ifClosed : undefined;
  const campaign = forecast?.request?.campaign;
  const maxGrade = campaign?.grade_list.length ? Math.max(...campaign.grade_list) : undefined;
  const given = present({ grade, maxGrade, comment });
  const answer = { ...given, campaign: campaign?.name ?? '', answers: {}, changed: false };
  return await previewActs(answer, found.record, context.answerRules);
}

function linesOfActs({ rule, settleMs, actions }: PreviewedActs): string[] {
  if (actions.length === 0) return ['', heading(`answer rule "${rule}" would not match`)];
  const when = settleMs === 0 ? 'at once' : `once the answer has stayed so for ${formatDuration(settleMs)}`;
  return [
    '',
    heading(`answer rule "${rule}" would match: ${when}`),
    ...actions.map(({ name, params }) => row(name, JSON.stringify(params))),
  ];
}

/** @throws CloseloopError config where it is not clear which source is meant */
function sourceOf(written: string, contexts: readonly PreviewContext[]): PreviewContext {
  const [only, ...others] = contexts;
  const found = contexts.find((context) => withinSource(context, written) !== undefined);
  if (found) return found;
  if (only && others.length === 0) return only;
  throw refusal(
    `Which source is it of? Write <source>/${written}; there are: ${contexts.map(({ name }) => name).join(', ')}.`,
  );
}

/** @throws CloseloopError config for what can't be a record of this source */
function recordIn(context: PreviewContext, written: string): string {
  const { name, source } = context;
  const found = knownRecordIn(context, written);
  if (found !== undefined) return found;
  const before = written.split('/', 1)[0] ?? '';
  if (
    written.startsWith(`${before}/`) &&
    sourceNameFlaw(before) === undefined &&
    withinSource(context, written) === undefined
  )
    named('source', before, [context]);
  throw refusal(`"${written}" is no record of source ${name}: write ${source.recordNames?.like}.`);
}

const open = 'it is not closed';

function forMachines(found: Preview): object {
  if (found.is === 'out') return { decision: 'skip', why: found.why };
  if (found.is === 'open') {
    return {
      decision: 'skip',
      why: open,
      readAgainAt: found.readAgainAt,
      ifClosed: found.ifClosed && forecastForMachines(found.ifClosed),
    };
  }
  const { ref, journey, closedAt, closing, forecast } = found;
  return {
    journey: ref,
    exists: journey !== undefined,
    state: journey?.state,
    closedAt,
    closing,
    ...forecastForMachines(forecast),
  };
}

function linesOf(found: Preview, context: PreviewContext): string[] {
  if (found.is === 'out') return [heading('would not ask', found.why)];
  if (found.is === 'open') {
    const { readAgainAt, ifClosed } = found;
    return [
      heading('would not ask', open),
      ...(readAgainAt ? [row('closed', `from ${readAgainAt.toISOString()}, if nothing else happens`)] : []),
      '',
      ...(ifClosed === undefined
        ? [heading('if it were closed: not known', unkept)]
        : [
            heading(`if it were closed: ${inWords(ifClosed)}`, ifClosed.why),
            ...forecastLines(ifClosed, context.timeZone),
          ]),
    ];
  }
  const { ref, journey, closedAt, closing, forecast } = found;
  return [
    heading(inWords(forecast), forecast.why),
    row('closed', `${closedAt.toISOString()} (closing ${closing})`),
    row('journey', journey ? `${ref}, ${journey.state}${journey.why ? `: ${journey.why}` : ''}` : 'none yet'),
    ...forecastLines(forecast, context.timeZone),
  ];
}

const inWords = ({ decision }: Forecast): string => (decision === 'ask' ? 'would ask' : 'would not ask');

const heading = (decision: string, why?: string): string =>
  styleText('bold', `${decision}${why === undefined ? '' : `: ${why}`}`);

/** The actions of an answer rule for an answer. */
interface PreviewedActs {
  rule: string;
  settleMs: number;
  /** Nothing where it doesn't match. `params`: of a note its text. */
  actions: { name: string; params: unknown }[];
}

/** Lists what the answer rules would do because of this answer on this record, and does none of it. @throws the error of an expression that fails */
async function previewActs(
  answer: AnswerShape,
  record: PresentedRecord | undefined,
  rules: readonly LoadedAnswerRule[],
): Promise<PreviewedActs[]> {
  const input = { ...record?.shape, answer };
  return await Promise.all(
    rules.map(async ({ name: rule, settle: settleMs, when, do: steps }) => {
      const matches = when === undefined || truth(await when.evaluate(input)) === true;
      const actions = steps.map(async ({ name, params, text }) => ({
        name,
        params: text ? await text.evaluate(input) : params,
      }));
      return { rule, settleMs, actions: matches ? await Promise.all(actions) : [] };
    }),
  );
}
