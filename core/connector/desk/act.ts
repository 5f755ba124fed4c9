import { z } from 'zod';
import { CloseloopError } from '../../errors.ts';
import { placesOf } from '../answer.ts';
import { errorAt } from '../check.ts';
import { VendorError } from '../classify.ts';
import type { ActionRequest, ActionResult, Finding, RecordState, Source, UsedAction } from '../contract.ts';
import { failed, inTurn, type Together } from './in-turn.ts';
import type { DeskFields } from './preflight.ts';
import { isFailure, type RowReading, rowsOf } from './rows.ts';
import { type DeskNotes, type DeskWords, type DeskWriting, holdsValue, isNoted, putOne, Refusal } from './write.ts';

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

/** The flaw of an action that names something which the vendor lacks: `there is no group "Nobody"`. */
export const noSuch = (what: string, name: string, remedy: string): Flaw => ({
  problem: `there is no ${what} "${name}"`,
  remedy,
});

type Writing<Row, Value> = Partial<
  Pick<
    DeskWriting<Row, Value>,
    'settings' | 'written' | 'at' | 'holds' | 'notKept' | 'notes' | 'tags' | 'put' | 'putMany' | 'closed'
  >
>;

const permanent = (problems: readonly string[]) => new CloseloopError(problems.join('; '), { kind: 'permanent' });

function noting<Row>(notes: DeskNotes<Row>): DeskAction<Row> {
  return doing<Row, typeof noteAction>(noteAction, async (row, text, request) => {
    const { marker, again, recordId } = request;
    if (!again || !(await isNoted(request, row, notes))) await notes.add(row, { text, marker }, recordId);
    return 'a note is added';
  });
}

function tagging<Row, Value>(tags: (row: Row) => readonly string[], writing: Writing<Row, Value>): DeskAction<Row> {
  return doing<Row, typeof tagAction>(tagAction, async (row, wanted, { recordId: id }) => {
    const there = tags(row);
    const all = [...new Set([...there, ...wanted])];
    const changed = { id, row, change: { values: new Map<string, Value | null>(), tags: all } };
    const written = all.length > there.length ? await putOne(changed, writing) : undefined;
    if (written instanceof Refusal) throw permanent(written.findings);
    return `tagged ${wanted.join(', ')}`;
  });
}

/**
 * Sets fields in the way that an answer is written: only where the record has another value, in the vendor's form; then checks whether the
 * vendor kept the values.
 */
function setting<Row, Value>(
  { vendor, record }: DeskWords,
  rows: RowReading<Row>,
  { written, settings, at, holds = holdsValue, notKept, ...writing }: Writing<Row, Value> & Settable<Row, Value>,
  fields: DeskFields | undefined,
): DeskAction<Row> {
  const inForm = (value: string | number | null) => {
    const found = written(typeof value === 'number' ? { part: 'grade', value } : { part: 'comment', value }, settings);
    if (found instanceof Refusal) throw permanent(found.findings);
    return found;
  };
  const run = async (row: Row, wanted: SetFields, id: string) => {
    const lackingOn = (one: Row) => [...values].filter(([place, value]) => !holds(at(one, place), value, place));
    const values = new Map(Object.entries(wanted).map(([place, value]) => [place, inForm(value)]));
    const done = `set ${[...values.keys()].join(', ')}`;
    const lacking = lackingOn(row);
    if (lacking.length === 0) return done;
    const after = await putOne({ id, row, change: { values: new Map(lacking) } }, writing);
    if (after instanceof Refusal) throw permanent(after.findings);
    const now = after ?? (await rowsOf(rows, [id])).get(id);
    if (isFailure(now)) throw now;
    if (now === undefined) throw permanent([`the ${record} ${id} is gone`]);
    const hint = (place: string, value: Value | null) => notKept?.(place, value) ?? 'look at what it takes';
    const lost = lackingOn(now).map(([place, value]) => `${vendor} did not keep "${place}": ${hint(place, value)}`);
    if (lost.length > 0) throw permanent(lost);
    return done;
  };
  const own = new Set(placesOf(settings).values());
  return doing(
    setAction,
    (row, wanted, { recordId }) => run(row, wanted, recordId),
    async (wanted) => {
      const answers = Object.keys(wanted).find((name) => own.has(name));
      if (answers !== undefined)
        return { problem: `"${answers}" takes answers (writeBack)`, remedy: 'Name another one' };
      return fields && (await fieldFlaw(wanted, fields));
    },
  );
}

/** The parts of a desk that setting fields needs. */
type Settable<Row, Value> = Pick<DeskWriting<Row, Value>, 'written' | 'settings' | 'at'>;

const isSettable = <Row, Value>(writing: Writing<Row, Value>): writing is Writing<Row, Value> & Settable<Row, Value> =>
  [writing.written, writing.settings, writing.at, writing.put ?? writing.putMany].every((part) => part !== undefined);

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

/** The actions that a desk gets from what it declares for write-back. */
function sharedActions<Row, Value>(
  words: DeskWords,
  rows: RowReading<Row>,
  writing: Writing<Row, Value>,
  fields: DeskFields | undefined,
): Map<string, DeskAction<Row>> {
  const { notes, tags } = writing;
  const actions = new Map<string, DeskAction<Row>>();
  if (notes !== undefined) actions.set('note', noting(notes));
  if (tags !== undefined) actions.set('tag', tagging(tags, writing));
  if (isSettable(writing)) actions.set('set', setting(words, rows, writing, fields));
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
  writing: Writing<Row, Value>,
  own: Readonly<Record<string, DeskAction<Row>>>,
  { fields, together }: MoreActions = {},
): Required<Pick<Source, 'act' | 'checkActions'>> {
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

  return { act: inTurn({ rows, run, together }), checkActions };
}
