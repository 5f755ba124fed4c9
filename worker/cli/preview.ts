import { styleText } from 'node:util';
import { recordNamed } from '../../core/connector/record-name.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { type Trial, tryLatest } from '../preflight/trial.ts';
import { type Forecast, forecastForMachines } from '../support/forecast.ts';
import { withinSource } from '../support/journey-filter.ts';
import { type Preview, previewOf } from '../support/preview.ts';
import { inZone } from '../support/shown-time.ts';
import { forecastLines, row } from './forecast-lines.ts';
import type { RuntimeOptions } from './runtime.ts';
import { trialTable } from './trial-table.ts';
import { withSources } from './with-engine.ts';

/**
 * What would be sent about a record: to whom, when, with which values and why; or why not. Of an open record: what would be if
 * it closed now. Sends and stores nothing.
 */
export async function preview(
  options: RuntimeOptions & { source: string; record?: string; showRecord: boolean; json: boolean },
): Promise<number> {
  return await withSources(options, async ({ pipeline }) => {
    const { context } = pipeline(options.source);
    if (options.record === undefined) return await previewLatest(context, options);
    const found = await previewOf(recordIn(context, options.record), context);
    const shape = options.showRecord ? found.record?.shape : undefined;
    const end = shape === undefined ? [] : ['', 'record', JSON.stringify(shape, null, 2)];
    const text = options.json
      ? JSON.stringify({ ...forMachines(found), record: shape })
      : [inZone(linesOf(found, context).join('\n'), context.timeZone), ...end].join('\n');
    process.stdout.write(`${text}\n`);
    return found.record === undefined ? 1 : 0;
  });
}

/** What each condition gave over the latest closings, and what would become of them. */
async function previewLatest(context: SourceContext, { json }: { json: boolean }): Promise<number> {
  const trial = await tryLatest(context);
  if (trial === undefined) {
    const message = `source ${context.name} can't list its latest closings: name one with --record.`;
    throw new CloseloopError(message, { kind: 'config' });
  }
  const { closings, conditions, decisions } = trial;
  const lines = decisions.map(({ count, ...decision }) => `${String(count).padStart(6)}  ${inWordsOf(decision)}`);
  const text = json
    ? JSON.stringify({ source: context.name, closings, conditions, decisions })
    : [trialTable(context.name, trial), ...lines, ...(closings === 0 ? [] : ['', notInIt])].join('\n').trimEnd();
  process.stdout.write(`${text}\n`);
  return 0;
}

const notInIt =
  'Throttles, caps and what was asked before are not in these figures; "--record" shows them for one record.';

function inWordsOf({ decision, rule, campaign, reason }: Omit<Trial['decisions'][number], 'count'>): string {
  const by = rule === undefined ? '' : ` (rule "${rule}"${campaign === undefined ? '' : `, campaign ${campaign}`})`;
  return decision === 'ask' ? `would be asked about${by}` : `would not: ${reason}${by}`;
}

/** @throws CloseloopError config for what can't be a record of this source */
function recordIn({ name, source }: SourceContext, written: string): string {
  const found = recordNamed(source, withinSource(name, written) ?? written);
  if (found !== undefined) return found;
  const message = `--record: "${written}" is no record of source ${name}: write ${source.recordNames?.like}.`;
  throw new CloseloopError(message, { kind: 'config' });
}

const open = 'it is not closed';

function forMachines(found: Preview): object {
  if (found.is === 'out') return { decision: 'skip', why: found.why };
  if (found.is === 'open') {
    return {
      decision: 'skip',
      why: open,
      readAgainAt: found.readAgainAt,
      ifClosed: forecastForMachines(found.ifClosed),
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

function linesOf(found: Preview, context: SourceContext): string[] {
  if (found.is === 'out') return [heading('would not ask', found.why)];
  if (found.is === 'open') {
    const { readAgainAt, ifClosed } = found;
    return [
      heading('would not ask', open),
      ...(readAgainAt ? [row('closed', `from ${readAgainAt.toISOString()}, if nothing else happens`)] : []),
      '',
      heading(`if it were closed: ${inWords(ifClosed)}`, ifClosed.why),
      ...forecastLines(ifClosed, context.timeZone),
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
