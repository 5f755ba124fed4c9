import { noteText } from '../../../../../core/connector/answer.ts';
import { permanent, VendorError } from '../../../../../core/connector/classify.ts';
import type { WriteBack } from '../../../../../core/connector/contract.ts';
import { deskActor } from '../../../../../core/connector/desk/act.ts';
import type { DeskFields } from '../../../../../core/connector/desk/preflight.ts';
import type { RowReading } from '../../../../../core/connector/desk/rows.ts';
import { deskWriter } from '../../../../../core/connector/desk/write.ts';
import { type ChangedRow, type DeskWriting, Refusal } from '../../../../../core/connector/desk/writing.ts';

export interface Row {
  id: string;
  fields: Record<string, unknown>;
  tags: string[];
  notes: string[];
  archived?: true;
}

type Value = string | number;

export const settings = {
  grade: 'grade',
  comment: 'comment',
  answeredAt: 'at',
  status: 'status',
  note: true,
  tags: true,
};

export const answer = (more: Partial<WriteBack> = {}): WriteBack => ({
  recordId: '1',
  status: 'answered',
  marker: '7.v1',
  grade: 9,
  comment: 'fine',
  answeredAt: new Date('2026-11-20T10:00:00Z'),
  campaign: 'Support',
  maxGrade: 10,
  ...more,
});

export const failure = (status: number, kind: 'permanent' | 'transient' | 'config' = 'permanent') =>
  new VendorError('Desk: PUT /records/{id}', {
    ...permanent('refused', 'look at it'),
    advice: { kind },
    outcome: 'unknown',
    status,
    code: '',
  });

interface Peculiar {
  /** Written, but not kept. */
  swallows?: readonly string[];
  /** Refused with the whole call. */
  refuses?: readonly string[];
  /** Called before each call that changes something. @throws in its place */
  before?: (call: string) => void;
  /** Called after it has been done. @throws in place of the response */
  after?: (call: string) => void;
  deletesNotes?: false;
  /** Writes many at once. */
  bulk?: true;
  /** The response to a write holds no record. */
  silent?: true;
  /** The row of this record in a bulk call. */
  fails?: { id: string; kind: 'permanent' | 'transient' };
  /** Records that are read for an erasure alone. */
  inTrash?: readonly string[];
  /** What else this vendor declares. */
  more?: Partial<DeskWriting<Row, Value>>;
  /** Set where the vendor takes a note with the change; the result: whether a note may be there. */
  joins?: boolean;
}

/** Those that `set` can name. */
const fields: DeskFields = {
  ...{ of: 'records', field: 'field', place: 'Settings > Fields', types: () => ({ types: ['text'] }) },
  list: async () => [
    { name: 'calls', type: 'number', required: false },
    { name: 'state', type: 'choice', required: false, values: ['new', 'called'] },
  ],
};

/** A vendor in memory, and the writer of a desk over it. */
export function fakeDesk(ids: readonly string[], peculiar: Peculiar = {}) {
  const {
    swallows = [],
    refuses = [],
    before,
    after,
    deletesNotes = true,
    bulk,
    silent,
    fails,
    inTrash = [],
    more = {},
    joins,
  } = peculiar;
  const rows = new Map(ids.map((id): [string, Row] => [id, { id, fields: {}, tags: ['vip'], notes: [] }]));
  const calls: string[] = [];

  function did<T>(call: string, work: () => T): T {
    calls.push(call);
    before?.(call);
    const result = work();
    after?.(call);
    return result;
  }

  function change({ id, change: { values, tags }, note }: ChangedRow<Row, Value>): Row | Refusal | undefined {
    const row = rows.get(id);
    if (row === undefined) throw failure(404);
    if (note) row.notes.push(noteText(note));
    const unfit = [...values.keys(), ...(tags ?? [])].filter((place) => refuses.includes(place));
    if (unfit.length > 0)
      return new Refusal(
        unfit,
        unfit.map((place) => `${place} takes no such value`),
      );
    for (const [place, value] of values) if (!swallows.includes(place)) row.fields[place] = value;
    if (tags) row.tags = [...tags];
    return silent ? undefined : structuredClone(row);
  }

  const readingBut = (hidden: readonly string[]): RowReading<Row> => ({
    isId: (id) => /^\d+$/.test(id),
    size: 10,
    many: async (some) =>
      did(`read ${some.join()}`, () => {
        const found = some.filter((id) => rows.has(id) && !hidden.includes(id));
        return new Map(found.map((id) => [id, structuredClone(rows.get(id)) as Row]));
      }),
  });

  const writing: DeskWriting<Row, Value> & { rows: RowReading<Row> } = {
    settings,
    rows: readingBut(inTrash),
    forgetRows: readingBut([]),
    written: ({ part, value }) =>
      value === null
        ? null
        : value instanceof Date
          ? value.toISOString()
          : part === 'grade'
            ? Number(value)
            : String(value),
    at: ({ fields }, place) => fields[place],
    tags: ({ tags }) => tags,
    closed: (of) => (!(of instanceof VendorError) && of.archived ? 'it is archived' : undefined),
    ...(bulk
      ? {
          putMany: async (changed) =>
            did(
              `put ${changed.map(({ id }) => id).join()}`,
              () =>
                new Map(
                  changed.map((one) => {
                    if (one.id === fails?.id) return [one.id, failure(500, fails.kind)];
                    return [one.id, rows.has(one.id) ? change(one) : failure(404)];
                  }),
                ),
            ),
        }
      : {
          put: async (changed) =>
            did(`put ${changed.id} ${[...changed.change.values.keys()].join()}`, () => change(changed)),
        }),
    notes: {
      list: async (row) =>
        did(`look ${row.id}`, () => (rows.get(row.id)?.notes ?? []).map((text, n) => ({ id: String(n), text }))),
      add: async (row, item) => did(`note ${row.id}`, () => rows.get(row.id)?.notes.push(noteText(item))),
      ...(deletesNotes && {
        remove: async (row, noteId) =>
          did(`remove ${row.id}`, () => rows.get(row.id)?.notes.splice(Number(noteId), 1, '')),
      }),
      ...(joins !== undefined && { joins: () => joins }),
    },
    leaves: (id) => `the history of record ${id}`,
    ...more,
  };
  const words = { vendor: 'Desk', record: 'record' };
  return { rows, calls, ...deskWriter(words, writing), ...deskActor(words, writing.rows, writing, {}, { fields }) };
}
