import { messageOf } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import type { ReadingContext } from '../pipeline/reading-source.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import { type Condition, conditionsOf } from './conditions.ts';
import { type Standing, stopsOf } from './explain.ts';
import type { Forecast } from './preview.ts';
import { ifClosedAt, isUnkept, readRecord, unkept } from './preview.ts';

/** A record as the vendor has it now. */
export interface ExplainedRecord {
  source: string;
  timeZone: string;
  record: string;
  /** At its vendor. */
  url?: string;
  /** `out`: nobody is asked about it whatever the rules say; `unreachable`: it could not be read. */
  state: 'closed' | 'open' | 'out' | 'unreachable';
  /** The reason, for `out` and `unreachable`. */
  why?: string;
  closedAt?: Date;
  /** The journey of the closing that the record shows; undefined: closeloop has not decided about that closing yet. */
  journey?: string;
  conditions: readonly Condition[];
  ifClosedNow?: IfClosedNow;
}

/** The forecast for a closing at this moment. `heldUp`: what would delay the request. */
export type IfClosedNow = (Forecast | { decision: 'unknown'; why: string }) & { heldUp: readonly string[] };

/** Reads the record at its vendor: every condition with its value, and what would be sent. Sends, stores and reserves nothing. */
export async function explainRecord(
  recordId: string,
  context: ReadingContext,
  standing: Standing | undefined,
): Promise<ExplainedRecord> {
  const { name, timeZone, clock } = context;
  const url = context.source.recordUrl?.(recordId);
  const about = {
    source: name,
    timeZone,
    record: recordId,
    ...(url !== undefined && { url }),
    conditions: [],
  };
  const read = await attempt(() => readRecord(recordId, context));
  if (!read.ok) return { ...about, state: 'unreachable', why: read.why };
  const status = read.value;
  if (status.is === 'out') return { ...about, state: 'out', why: status.why };
  const { record } = status;
  if (isUnkept(status))
    return { ...about, state: 'open', ifClosedNow: { decision: 'unknown', why: unkept, heldUp: [] } };
  const closed = status.is === 'closed' ? { closedAt: status.closedAt } : {};
  const named =
    status.is === 'closed' ? await context.store.records.nameOf(record.currentId, status.closing) : undefined;
  const found = await attempt(() => ifClosedAt(record, context));
  const forecast = found.ok ? found.value : { decision: 'unknown' as const, why: found.why };
  const decided: Partial<Forecast> = found.ok ? found.value : {};
  const { rule, request } = decided;
  const asking = rule && request ? { name: rule.name, campaign: request.campaign.id } : undefined;
  return {
    ...about,
    state: status.is,
    ...closed,
    ...(named?.exists && { journey: refOf(name, named.id) }),
    conditions: await conditionsOf(record.shape, closed.closedAt ?? clock.now(), context, decided),
    ifClosedNow: {
      ...forecast,
      heldUp: ['plan', 'ask'].flatMap((step) => stopsOf(step, asking, standing)).map(({ why }) => why),
    },
  };
}

/** Runs one reading. If the vendor or the service refuses or does not answer, the other parts of the explanation stay. */
async function attempt<T>(work: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; why: string }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    return { ok: false, why: messageOf(error) };
  }
}
