import { z } from 'zod';
import { adviceOf, CloseloopError, messageOf } from '../../errors.ts';
import { errorAt } from '../check.ts';
import { VendorError } from '../classify.ts';
import type { ActionRequest, ActionResult, Finding, RecordState, Source, UsedAction } from '../contract.ts';
import { isFailure, type RowReading, rowsOf } from './rows.ts';
import { type DeskWords, type DeskWriting, isNoted, putOne, Refusal } from './write.ts';

/* What answers lead to at a vendor: notes and tags, which the desk declares for answers already, and actions of its own. */

/** One action of a desk. `doing` makes one of a schema. */
export interface DeskAction<Row> {
  /** Does the action, and returns what was done, in words for the trace. Called again after an unknown outcome: then it first looks whether the action was done. */
  run(row: Row, request: ActionRequest): Promise<string>;
  /** What keeps it from working: 'there is no group "Escalations"', and what to do. */
  flaw?(params: unknown): Promise<{ problem: string; remedy: string } | undefined>;
}

/** An action whose parameters are read by a schema. */
export const doing = <Row, S extends z.ZodType>(
  takes: S,
  run: (row: Row, params: z.output<S>, request: ActionRequest) => Promise<string>,
  flaw?: (params: z.output<S>) => Promise<{ problem: string; remedy: string } | undefined>,
): DeskAction<Row> => ({
  run: (row, request) => run(row, takes.parse(request.params), request),
  ...(flaw && { flaw: (params) => flaw(takes.parse(params)) }),
});

/** Schemas of the actions that most desks share, for `defineConnector`. */
export const noteAction = z
  .string()
  .min(1)
  .describe('A note that no customer sees: JSONata over `answer` and the record, like \'"Graded " & answer.grade\'');
export const tagAction = z.array(z.string().trim().min(1).max(100)).min(1).describe('Tags to add');

/** Whether a record that is to be reopened is open already, or was closed again since the action was begun. */
export const isReopened = (state: RecordState, { closing }: Pick<ActionRequest, 'closing'>): boolean =>
  state.is !== 'closed' || (closing !== '' && state.closing !== closing);

type Writing<Row, Value> = Partial<Pick<DeskWriting<Row, Value>, 'notes' | 'tags' | 'put' | 'putMany' | 'closed'>>;

/** The actions that a desk has by what it declares for answers. */
function sharedActions<Row, Value>(writing: Writing<Row, Value>): Map<string, DeskAction<Row>> {
  const { notes, tags } = writing;
  const actions = new Map<string, DeskAction<Row>>();
  if (notes !== undefined) {
    const add = doing<Row, typeof noteAction>(noteAction, async (row, text, request) => {
      const { marker, again, recordId } = request;
      if (!again || !(await isNoted(request, row, notes))) await notes.add(row, { text, marker }, recordId);
      return 'a note is added';
    });
    actions.set('note', add);
  }
  if (tags !== undefined) {
    const tag = doing<Row, typeof tagAction>(tagAction, async (row, wanted, { recordId: id }) => {
      const there = tags(row);
      const all = [...new Set([...there, ...wanted])];
      const changed = { id, row, change: { values: new Map<string, Value | null>(), tags: all } };
      const written = all.length > there.length ? await putOne(changed, writing) : undefined;
      if (written instanceof Refusal) throw new CloseloopError(written.findings.join('; '), { kind: 'permanent' });
      return `tagged ${wanted.join(', ')}`;
    });
    actions.set('tag', tag);
  }
  return actions;
}

const failed = (error: unknown): ActionResult => {
  return { ok: false, why: 'error', error: error instanceof Error ? error : new Error(String(error)) };
};

/** Where an action of the record has just failed, the next one waits for the same. */
const notTried = (error: Error): ActionResult => failed(new CloseloopError(messageOf(error), adviceOf(error)));

/**
 * @param together does what it can of several actions in few calls, and returns what is done, in words; what is missing is done alone.
 * @throws for a failure of the whole call
 */
export function deskActor<Row, Value>(
  { vendor, record }: DeskWords,
  rows: RowReading<Row>,
  writing: Writing<Row, Value>,
  own: Readonly<Record<string, DeskAction<Row>>>,
  together: (requests: readonly ActionRequest[]) => Promise<ReadonlyMap<ActionRequest, string>> = async () => new Map(),
): Required<Pick<Source, 'act' | 'checkActions'>> {
  const { closed } = writing;
  const actions = new Map([...sharedActions(writing), ...Object.entries(own)]);
  const noMore = (id: string, why: string): ActionResult => ({
    ok: false,
    why: 'closed',
    message: `${vendor} takes nothing on ${record} ${id}: ${why}.`,
  });

  async function run(request: ActionRequest, row: Row | CloseloopError | undefined): Promise<ActionResult> {
    const { recordId: id, name } = request;
    if (isFailure(row)) return { ok: false, why: 'error', error: row };
    if (row === undefined)
      return { ok: false, why: 'not-found', message: `${vendor} has no ${record} ${id} any more.` };
    const why = closed?.(row);
    if (why !== undefined) return noMore(id, why);
    const action = actions.get(name);
    if (action === undefined) throw new TypeError(`${vendor}: it has no action "${name}"`);
    try {
      return { ok: true, done: await action.run(row, request) };
    } catch (error) {
      const over = error instanceof VendorError ? closed?.(error) : undefined;
      return over === undefined ? failed(error) : noMore(id, over);
    }
  }

  /** The actions on one record. Each may change what the next one goes by, so the record is read again. */
  async function inTurn(requests: readonly ActionRequest[], first: Row | CloseloopError | undefined) {
    const results: ActionResult[] = [];
    for (const [n, request] of requests.entries()) {
      const before = results.at(-1);
      if (before?.ok === false && before.why === 'error' && adviceOf(before.error).kind !== 'permanent') {
        results.push(notTried(before.error));
        continue;
      }
      try {
        const row = n === 0 ? first : (await rowsOf(rows, [request.recordId])).get(request.recordId);
        results.push(await run(request, row));
      } catch (error) {
        results.push(failed(error));
      }
    }
    return results;
  }

  async function singly(requests: readonly ActionRequest[]): Promise<[ActionRequest, ActionResult | undefined][]> {
    const byRecord = Map.groupBy(requests, ({ recordId }) => recordId);
    const first = await rowsOf(rows, [...byRecord.keys()]);
    const results = [...byRecord].map(async ([id, some]) => {
      const inOrder = await inTurn(some, first.get(id));
      return some.map((request, n): [ActionRequest, ActionResult | undefined] => [request, inOrder[n]]);
    });
    return (await Promise.all(results)).flat();
  }

  async function act(requests: readonly ActionRequest[]): Promise<ActionResult[]> {
    // Calls for many records pay from the second action on.
    const done = requests.length > 1 ? await together(requests) : new Map<ActionRequest, string>();
    const left = requests.filter((request) => !done.has(request));
    const results = new Map(
      await singly(left).catch((error: unknown) => {
        if (done.size === 0) throw error;
        return left.map((request) => [request, failed(error)] as const);
      }),
    );
    return requests.map((request): ActionResult => {
      const said = done.get(request);
      if (said !== undefined) return { ok: true, done: said };
      return results.get(request) ?? failed(new TypeError('an action without a result'));
    });
  }

  async function checkActions(used: readonly UsedAction[]): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const { at, name, params } of used) {
      const flaw = await actions.get(name)?.flaw?.(params);
      if (flaw) findings.push(errorAt(at, flaw.problem, flaw.remedy));
    }
    return findings;
  }

  return { act, checkActions };
}
