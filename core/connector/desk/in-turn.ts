import { adviceOf, CloseloopError, messageOf } from '../../errors.ts';
import { aboutRecords } from '../calls.ts';
import type { ActionRequest, ActionResult, Source } from '../contract.ts';
import { type RowReading, rowsOf } from './rows.ts';

/**
 * Does as many of the actions as possible in few calls, and returns the done actions, each with words for the trace. The caller does each
 * missing action alone.
 * @throws for a failure of the whole call
 */
export type Together = (requests: readonly ActionRequest[]) => Promise<ReadonlyMap<ActionRequest, string>>;

interface InTurn<Row> {
  rows: RowReading<Row>;
  /** Does one action. `row`: the present record; undefined if it no longer exists. */
  run(request: ActionRequest, row: Row | CloseloopError | undefined): Promise<ActionResult>;
  together?: Together | undefined;
}

export const failed = (error: unknown): ActionResult => {
  return { ok: false, why: 'error', error: error instanceof Error ? error : new Error(String(error)) };
};

/** The result of an action after a failed action of the same record: it waits for the same reason. */
const notTried = (error: Error): ActionResult => failed(new CloseloopError(messageOf(error), adviceOf(error)));

const none: ReadonlyMap<ActionRequest, string> = new Map();

/**
 * A vendor may refuse a call for many records because of one record: then nothing counts as done, and each action is done alone. @throws any
 * other error
 */
export function noneOf(error: unknown): typeof none {
  const isRefused = error instanceof CloseloopError && error.outcome === 'refused';
  if (!isRefused || error.advice.kind !== 'permanent' || error.advice.doubtful) throw error;
  return none;
}

/** The `act` of a desk: first the actions that one call can do together, then the rest, record by record in order. */
export function inTurn<Row>(options: InTurn<Row>): NonNullable<Source['act']> {
  const { together } = options;
  return async (requests) => {
    // A call for many records saves calls only from the second action on.
    const done = requests.length > 1 && together ? await together(requests).catch(noneOf) : none;
    const left = requests.filter((request) => !done.has(request));
    const results = new Map(
      await ofRecords(left, options).catch((error: unknown) => {
        // If some actions are done, the results must say so, or they would be done again.
        if (done.size === 0) throw error;
        return left.map((request): [ActionRequest, ActionResult] => [request, failed(error)]);
      }),
    );
    return requests.map((request): ActionResult => {
      const said = done.get(request);
      if (said !== undefined) return { ok: true, done: said };
      return results.get(request) ?? failed(new TypeError('an action without a result'));
    });
  };
}

/** Acts on several records at the same time. */
async function ofRecords<Row>(requests: readonly ActionRequest[], options: InTurn<Row>) {
  const byRecord = Map.groupBy(requests, ({ recordId }) => recordId);
  const first = await rowsOf(options.rows, [...byRecord.keys()]);
  const results = await Promise.all(
    [...byRecord].map(([id, some]) => aboutRecords([id], () => ofRecord(some, first.get(id), options))),
  );
  return results.flat();
}

/** Does the actions on one record, one after the other. Each may change what the next action depends on, so the record is read again before it. */
async function ofRecord<Row>(
  requests: readonly ActionRequest[],
  first: Row | CloseloopError | undefined,
  { rows, run }: InTurn<Row>,
): Promise<[ActionRequest, ActionResult][]> {
  const results: [ActionRequest, ActionResult][] = [];
  let down: Error | undefined;
  for (const [n, request] of requests.entries()) {
    const { recordId } = request;
    const attempt = async () => await run(request, n === 0 ? first : (await rowsOf(rows, [recordId])).get(recordId));
    const result = down === undefined ? await attempt().catch(failed) : notTried(down);
    if (!result.ok && result.why === 'error' && adviceOf(result.error).kind !== 'permanent') down ??= result.error;
    results.push([request, result]);
  }
  return results;
}
