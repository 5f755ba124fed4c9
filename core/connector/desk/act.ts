import { z } from 'zod';
import { CloseloopError } from '../../errors.ts';
import { placesOf } from '../answer.ts';
import { errorAt } from '../check.ts';
import { VendorError } from '../classify.ts';
import type { ActionRequest, ActionResult, Finding, RecordState, Source, UsedAction } from '../contract.ts';
import { failed, inTurn, type Together } from './in-turn.ts';
import type { DeskFields } from './preflight.ts';
import { isFailure, type RowReading } from './rows.ts';
import { DeskWriter, isNoted, putOne } from './write.ts';
import { type DeskNotes, type DeskWords, type DeskWriting, Refusal } from './writing.ts';

/* The actions of answer rules at a vendor: notes, tags and fields, made from what the desk declares for write-back, and actions of the desk's own. */

/** Why an action can't work, and what to do. */
export interface Flaw {
  problem: string;
  remedy: string;
}

/** One action of a desk. `doing` makes an action from a schema. */
export interface DeskAction<Row> {
  /**
   * Does the action, and returns what was done, in words for the trace. Called again after an unknown outcome: then `run` first checks whether
   * the action was done.
   */
  run(row: Row, request: ActionRequest): Promise<string>;
  /** Why the action can't work (`noSuch`). Reads from the vendor, and changes nothing. */
  flaw?(params: unknown): Promise<Flaw | undefined>;
}

/** An action whose parameters are read by a schema. */
export const doing = <Row, S extends z.ZodType>(
  takes: S,
  run: (row: Row, params: z.output<S>, request: ActionRequest) => Promise<string>,
  flaw?: (params: z.output<S>) => Promise<Flaw | undefined>,
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
export const setAction = z
  .record(z.string().trim().min(1).max(200), z.union([z.string(), z.number(), z.null()]))
  .refine((fields) => Object.keys(fields).length > 0, 'names nothing to set')
  .describe('Sets fields of the record, by name; null empties one');
export type SetFields = z.output<typeof setAction>;

/** Whether a record that is to be reopened is open already, or was closed again since the action was begun. */
export const isReopened = (state: RecordState, { closing }: Pick<ActionRequest, 'closing'>): boolean =>
  state.is !== 'closed' || (closing !== '' && state.closing !== closing);

const permanent = (problems: readonly string[]) => new CloseloopError(problems.join('; '), { kind: 'permanent' });

/** The flaw of an action that names something which the vendor lacks: `there is no group "Nobody"`. */
export const noSuch = (what: string, name: string, remedy: string): Flaw => ({
  problem: `there is no ${what} "${name}"`,
  remedy,
});

function noting<Row>(notes: DeskNotes<Row>): DeskAction<Row> {
  return doing<Row, typeof noteAction>(noteAction, async (row, text, request) => {
    const { marker, again, recordId } = request;
    if (!again || !(await isNoted(request, row, notes))) await notes.add(row, { text, marker }, recordId);
    return 'a note is added';
  });
}

function tagging<Row, Value>(
  words: DeskWords,
  tags: (row: Row) => readonly string[],
  writing: Partial<DeskWriting<Row, Value>>,
): DeskAction<Row> {
  return doing<Row, typeof tagAction>(tagAction, async (row, wanted, { recordId: id }) => {
    const there = tags(row);
    const all = [...new Set([...there, ...wanted])];
    const changed = { id, row, change: { values: new Map<string, Value | null>(), tags: all } };
    const written = all.length > there.length ? await putOne(words, changed, writing) : undefined;
    if (written instanceof Refusal) throw permanent(written.findings);
    return `tagged ${wanted.join(', ')}`;
  });
}

/** Sets fields as an answer is written, in the vendor's form. */
function setting<Row, Value>(
  words: DeskWords,
  writing: DeskWriting<Row, Value> & { rows: RowReading<Row> },
  fields: DeskFields | undefined,
): DeskAction<Row> {
  const { settings, written } = writing;
  const writer = new DeskWriter(words, writing);
  const own = new Set(placesOf(settings).values());
  const inForm = (value: string | number | null) => {
    const found = written(typeof value === 'number' ? { part: 'grade', value } : { part: 'comment', value }, settings);
    if (found instanceof Refusal) throw permanent(found.findings);
    return found;
  };
  return doing<Row, typeof setAction>(
    setAction,
    async (row, wanted, { recordId }) => {
      const values = new Map(Object.entries(wanted).map(([place, value]) => [place, inForm(value)]));
      const lost = await writer.set(recordId, row, values);
      if (lost.length > 0) throw permanent(lost);
      return `set ${[...values.keys()].join(', ')}`;
    },
    async (wanted) => {
      const answers = Object.keys(wanted).find((name) => own.has(name));
      if (answers === undefined) return fields && (await fieldFlaw(wanted, fields));
      return { problem: `"${answers}" takes answers (writeBack)`, remedy: 'Name another one' };
    },
  );
}

async function fieldFlaw(wanted: SetFields, { list, field, place, of }: DeskFields): Promise<Flaw | undefined> {
  const texts = Object.entries(wanted).map(([name, value]) => [name, value === null ? [] : [String(value)]] as const);
  const there = await list(texts.map(([name, values]) => ({ part: 'status', name, types: [''], values })));
  for (const [name, values] of texts) {
    const found = there.find((one) => one.name === name);
    if (found === undefined) return noSuch(`${field} of ${of}`, name, `Name one as ${place} does`);
    const unfit = values.find((value) => found.values?.includes(value) === false);
    if (unfit !== undefined)
      return {
        problem: `the ${field} "${name}" does not take "${unfit}"`,
        remedy: `Name a value that it has: ${place}`,
      };
  }
  return undefined;
}

/** Whether a desk declares all that setting fields needs. */
const isWhole = <Row, Value>(writing: Partial<DeskWriting<Row, Value>>): writing is DeskWriting<Row, Value> =>
  [writing.settings, writing.written, writing.at, writing.put ?? writing.putMany].every((part) => part !== undefined);

/** The actions that a desk gets from what it declares for write-back. */
function sharedActions<Row, Value>(
  words: DeskWords,
  rows: RowReading<Row>,
  writing: Partial<DeskWriting<Row, Value>>,
  fields: DeskFields | undefined,
): Map<string, DeskAction<Row>> {
  const { notes, tags } = writing;
  const actions = new Map<string, DeskAction<Row>>();
  if (notes !== undefined) actions.set('note', noting(notes));
  if (tags !== undefined) actions.set('tag', tagging(words, tags, writing));
  if (isWhole(writing)) actions.set('set', setting(words, { ...writing, rows }, fields));
  return actions;
}

/** The flaw in a refusal: a vendor that refuses to let closeloop read what an action names would refuse the action too. */
function flawIn(error: unknown): Flaw {
  if (error instanceof VendorError) return error;
  throw error;
}

interface MoreActions {
  /** The fields that `set` can name. Left out: any field. */
  fields?: DeskFields;
  together?: Together;
}

export function deskActor<Row, Value>(
  words: DeskWords,
  rows: RowReading<Row>,
  writing: Partial<DeskWriting<Row, Value>>,
  own: Readonly<Record<string, DeskAction<Row>>>,
  { fields, together }: MoreActions = {},
): Required<Pick<Source, 'act' | 'acts' | 'checkActions'>> {
  const { vendor, record } = words;
  const { closed } = writing;
  const actions = new Map([...sharedActions(words, rows, writing, fields), ...Object.entries(own)]);
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

  async function checkActions(used: readonly UsedAction[]): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const { at, name, params } of used) {
      const flaw = await actions.get(name)?.flaw?.(params).catch(flawIn);
      if (flaw) findings.push(errorAt(at, flaw.problem, flaw.remedy));
    }
    return findings;
  }

  return { act: inTurn({ rows, run, together }), acts: [...actions.keys()], checkActions };
}
