import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { instantReader, instantTextReader } from '../../../../core/feedback/instants.ts';
import { assumedOperations, type Operations } from '../../../../core/feedback/operations.ts';
import {
  commandForm,
  createForm,
  listParameters,
  type NewRequest,
  recordReader,
} from '../../../../core/feedback/request-form.ts';
import { phone, record, request } from '../../../support/core/feedback/samples.ts';

const assumed = assumedOperations;
const parseRecord = (table: Operations, answer: unknown, at: string) =>
  recordReader(table, at, instantReader())(answer);
const plain: NewRequest = { campaign: 12, contact: phone, customFields: {} };

describe('the form of a call', () => {
  /** Every call in a form that holds its id in the body, beside a constant. */
  const inBody: Operations = {
    ...assumed,
    get: { ...assumed.get, method: 'POST', path: '/g', body: { id: 'q.id' }, constants: { 'q.kind': 1 } },
    grade: { ...assumed.grade, path: '/r', body: { id: 'id', grade: 'n' }, constants: { v: 2 } },
    comment: { ...assumed.comment, path: '/c', body: { id: 'id', comment: 't' }, constants: { v: 3 } },
    cancel: { ...assumed.cancel, path: '/x', body: { id: 'id' }, constants: { v: 4 } },
  };

  test('it holds id and constants where the table says', () => {
    const { method } = assumed.grade;
    expect(commandForm(inBody.get, 'a')).toEqual({ method: 'POST', path: '/g', body: { q: { id: 'a', kind: 1 } } });
    expect(commandForm(inBody.grade, 'a', [inBody.grade.body.grade, 0])).toEqual({
      method,
      path: '/r',
      body: { id: 'a', n: 0, v: 2 },
    });
    expect(commandForm(inBody.comment, 'a', [inBody.comment.body.comment, ''])).toEqual({
      method: assumed.comment.method,
      path: '/c',
      body: { id: 'a', t: '', v: 3 },
    });
    expect(commandForm(inBody.cancel, 'a')).toEqual({
      method: assumed.cancel.method,
      path: '/x',
      body: { id: 'a', v: 4 },
    });
  });

  test('it has no body where there is nothing to put in one', () => {
    expect(commandForm(assumed.get, 'a/b')).toEqual({
      method: assumed.get.method,
      path: assumed.get.path.replace(':id', 'a%2Fb'),
      body: undefined,
    });
  });

  test('it has neither a time nor custom fields where there are none', () => {
    expect(createForm(assumed, plain).body).toStrictEqual({ campaign: 12, phone: '+37255512345' });
    const due = { ...plain, scheduled: new Date('2026-03-02T10:00:00Z'), customFields: { Store: 'North', Vip: false } };
    expect(createForm(assumed, due).body).toEqual({
      campaign: 12,
      phone: '+37255512345',
      scheduled: '2026-03-02T10:00:00.000Z',
      custom_fields: { Store: 'North', Vip: false },
    });
  });

  test('it can hold places within one another, the later one on top', () => {
    const body = { ...assumed.create.body, campaign: 'a', phone: 'a.b.c', scheduled: null };
    const table = { ...assumed, create: { ...assumed.create, body, constants: { 'a.b.d': true } } };
    expect(createForm(table, plain).body).toEqual({ a: { b: { c: '+37255512345' } } });
  });

  test('a list of custom fields has nothing to lay beside the others', () => {
    const body = { ...assumed.create.body, customFields: '' };
    const customFields = { layout: 'array', name: 'k', value: 'v.x' } as const;
    const table: Operations = { ...assumed, customFields, create: { ...assumed.create, body } };
    expect(createForm(table, { ...plain, customFields: { Store: 'North' } }).body).not.toHaveProperty('0');
    const placed = { ...table, create: { ...table.create, body: { ...body, customFields: 'cf' } } };
    expect(createForm(placed, { ...plain, customFields: { Store: 'North' } }).body).toMatchObject({
      cf: [{ k: 'Store', v: { x: 'North' } }],
    });
  });

  test.each(['', '.', '..', '\ud800'])('it is refused for the id %j, which would name another path', (id) => {
    expect(() => commandForm(assumed.cancel, id)).toThrow(
      expect.objectContaining({
        message: 'The id of the feedback request is empty or one that no address can name: give the id of its record.',
        advice: { kind: 'permanent' },
        outcome: 'never-sent',
      }),
    );
  });

  test('a path cannot hold what the call does not have', () => {
    const table = { ...assumed, cancel: { ...assumed.cancel, path: '/x/:other2' } };
    expect(() => commandForm(table.cancel, 'a')).toThrow(/no address can name/);
  });
});

describe('the parameters of the list', () => {
  const filters = {
    all: '{campaign}/{changedSince}/{dateFrom}/{dateTo}/{contact}/{status}',
    twice: '{status}-{status}',
    always: 'yes',
  };
  const table: Operations = { ...assumed, list: { ...assumed.list, filters } };

  test('they are the campaign and every filter that has all its values', () => {
    const query = {
      campaign: 12,
      changedSince: '2026-03-01',
      dateFrom: '2026-01-01',
      dateTo: '2026-02-01',
      contact: { kind: 'phone', value: '00372 5551 2345' } as const,
      status: 'S',
    };
    expect(listParameters(table, query)).toEqual([
      ['campaign', '12'],
      ['all', '12/2026-03-01/2026-01-01/2026-02-01/+37255512345/S'],
      ['twice', 'S-S'],
      ['always', 'yes'],
    ]);
    expect(listParameters(table, {})).toEqual([['always', 'yes']]);
  });
});

describe('a record', () => {
  const read = (more: object) => parseRecord(assumed, { ...record, ...more }, '');

  test('it comes out with our names', () => {
    expect(parseRecord(assumed, { in: { here: record } }, 'in.here')).toEqual({ ok: true, request });
  });

  const rows: [what: string, more: object, expected: object][] = [
    ['an id beyond 2^53, as its text', { id: '123456789012345678901' }, { id: '123456789012345678901' }],
    ['a number for a text', { id: 7, phone: 372, comment: 0 }, { id: '7', phone: '372', comment: '0' }],
    ['empty texts', { phone: '', email: '', identifier: '', status: '', comment: '' }, { phone: null, status: null }],
    ['texts for numbers', { campaign: '12', grade: '-4.50' }, { campaign: 12, grade: -4.5 }],
    ['nothing for numbers', { campaign: null, grade: undefined }, { campaign: null, grade: null }],
    ['no time', { scheduled: null }, { scheduled: null }],
    ['no custom fields', { custom_fields: null }, { customFields: {} }],
  ];
  test.each(rows)('it may hold %s', (_, more, expected) => {
    expect(read(more)).toMatchObject({ ok: true, request: expected });
  });

  test.each([
    ['whose values are all as services send them', {}],
    ['with texts in which nothing is to be seen', { phone: '\u200b', comment: ' ' }],
    ['with times in other zones', { scheduled: '2024-02-29T23:59:59.123456-05:30' }],
    ['with a custom field of a name that every object has', JSON.parse('{"custom_fields":{"__proto__":1,"a":2}}')],
  ])('it reads the same whether its grade is a number or a text, %s', (_, more) => {
    expect(read({ ...more, grade: 4 })).toStrictEqual(read({ ...more, grade: '4' }));
  });

  test.each(['{"__proto__":1,"a":2}', '[{"name":"__proto__","value":1},{"name":"a","value":2}]'])(
    'it keeps a custom field called __proto__ in %s, whether its grade is a number or a text',
    (sent) => {
      for (const grade of [4, '4']) {
        const parsed = read({ grade, custom_fields: JSON.parse(sent) });
        expect(parsed.ok && Object.entries(parsed.request.customFields)).toEqual([
          ['__proto__', 1],
          ['a', 2],
        ]);
      }
    },
  );

  test.each([
    ['within others', { grade: 'answer.grade', customFields: 'answer' }, { answer: { grade: 3 } }],
    ['under a name of the service', { grade: 'score' }, { score: 3 }],
  ])('its grade may stand %s', (_, places, more) => {
    const table: Operations = { ...assumed, record: { ...assumed.record, ...places } };
    expect(parseRecord(table, { ...record, ...more }, '')).toMatchObject({
      ok: true,
      request: { grade: 3, id: '901' },
    });
  });

  test('its instant is the same whatever was read before, and refused where it is none', () => {
    const readNext = recordReader(assumed, '', instantReader());
    const readText = recordReader(assumed, '', instantTextReader());
    const days = ['2026-03-29', '2024-02-29', '2023-02-29', '0000-01-01', '9999-12-31'];
    const times = ['00:00:00', '09:08:07', '23:59:59', '24:00:00', '12:60:00', '12:00', '12:00:00,5'];
    const fractions = ['', '.1', '.12', '.123', '.1239', '.000001', '.999999', '.'];
    const offsets = ['Z', '+00:00', '-00:00', '+05:45', '-23:59', '+24:00', '+0200', ''];
    const texts = days.flatMap((day) =>
      times.flatMap((time) =>
        fractions.flatMap((fraction) => offsets.map((offset) => `${day}T${time}${fraction}${offset}`)),
      ),
    );
    // Each after one of its own day and offset, and after one of another.
    for (const text of [
      ...texts.toSorted((a, b) => (a.slice(0, 10) + a.slice(-6) < b.slice(0, 10) + b.slice(-6) ? -1 : 1)),
      ...texts,
    ]) {
      const parsed = readNext({ ...record, scheduled: text });
      const isOne = z.iso.datetime({ offset: true }).safeParse(text).success;
      expect([text, parsed.ok ? parsed.request.scheduled : parsed.mismatches]).toEqual([
        text,
        isOne ? new Date(text) : ['scheduled'],
      ]);
      // As JSON shows it, which is what an export holds.
      expect(JSON.stringify(readText({ ...record, scheduled: text }))).toBe(JSON.stringify(parsed));
      expect(JSON.stringify(readText({ ...record, scheduled: text, grade: '4' }))).toBe(
        JSON.stringify(readNext({ ...record, scheduled: text, grade: '4' })),
      );
    }
  });

  test('it may hold a list of custom fields, of which those with a name count', () => {
    const list = [{ name: 'a', value: 1 }, { name: 7, value: 2 }, 3];
    const parsed = read({ custom_fields: list });
    expect(parsed.ok && parsed.request.customFields).toStrictEqual({ a: 1 });
  });

  test.each([
    ['id', ''],
    ['id', null],
    ['id', 1.5],
    ['id', 1e21],
    ['id', -1],
    ['id', '-9007199254740993'],
    ['id', true],
    ['campaign', '9007199254740993'],
    ['grade', '4.'],
    ['grade', 'x4'],
    ['grade', '4x'],
    ['grade', ''],
    ['grade', true],
    ['grade', Number.POSITIVE_INFINITY],
    ['scheduled', '2023-02-29T00:00:00Z'],
    ['phone', {}],
    ['scheduled', '2026-03-02'],
    ['scheduled', ''],
    ['custom_fields', 'x'],
  ])('it is of another shape with %s: %j', (place, value) => {
    expect(read({ [place]: value })).toEqual({ ok: false, mismatches: [place] });
    expect(parseRecord(assumed, { in: { ...record, [place]: value } }, 'in')).toEqual({
      ok: false,
      mismatches: [`in.${place}`],
    });
  });

  test('it is not found in what is no object, nor by a name that every object has', () => {
    for (const nothing of [null, 'text', [record]]) {
      expect(parseRecord(assumed, nothing, '')).toEqual({ ok: false, mismatches: ['id'] });
    }
    const table: Operations = { ...assumed, record: { ...assumed.record, status: 'toString', comment: null } };
    expect(parseRecord(table, { ...record, comment: 'x' }, '')).toMatchObject({
      request: { status: null, comment: null },
    });
  });
});

test.each(['comment', 'phone', 'email', 'identifier'] as const)('a %s in which nothing is seen is none', (name) => {
  const record = { id: 7, [name]: '\u200b \ufeff' };
  expect(parseRecord(assumedOperations, record, '')).toMatchObject({
    ok: true,
    request: { [name]: null },
  });
});
