import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Field, type FieldValue, fieldKinds } from '../../../../connectors/zendesk/fields.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import type { Row, Ticket } from '../../../../connectors/zendesk/ticket.ts';
import { onTickets } from '../../../../connectors/zendesk/write.ts';
import type { WriteBack } from '../../../../core/connector/contract.ts';
import { readOnlyApi, testPorts } from '../../../support/connectors/zendesk/ports.ts';

const item: WriteBack = {
  recordId: '7',
  status: 'answered',
  marker: 'j7.1',
  grade: 9,
  comment: 'Quick and kind',
  answeredAt: new Date('2026-11-21T22:30:15Z'),
  campaign: 'Support',
  maxGrade: 10,
};
const types = ['integer', 'decimal', 'text', 'textarea', 'regexp', 'tagger', 'multiselect', 'checkbox', 'date'];
const fields: Field[] = types.map((type, index) => ({ id: String(index + 1), type, title: type }));
const idOf = (type: string): number => types.indexOf(type) + 1;

function ticket(
  values: Record<string, FieldValue> = {},
  tags: string[] = [],
  updated_at = '2026-11-20T00:00:00Z',
): Ticket {
  const custom_fields = Object.entries(values).map(([id, value]) => ({ id, value }));
  return { id: '7', status: 'solved', updated_at, tags, custom_fields, followup_ids: [] };
}

const Sent = z.object({
  custom_fields: z.array(z.object({ id: z.number(), value: z.unknown() })).default([]),
  additional_tags: z.array(z.string()).default([]),
  remove_tags: z.array(z.string()).default([]),
  comment: z.unknown().optional(),
});

/** Writes on the ticket `before`, which is `after` afterwards. What was sent, whether notes were looked for, and the result. */
async function written(writeBack: object, answer: WriteBack, before: Ticket, after = before, isEdit = false) {
  const credentials = { subdomain: 'a', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'] };
  const parsed = settings.parse({ ...credentials, writeBack });
  const seen: { sent?: z.output<typeof Sent>; looked: boolean } = { looked: false };
  const api: ReturnType<typeof readOnlyApi> = {
    ...readOnlyApi((path) => {
      if (!path.includes('/audits')) return { tickets: [after] };
      seen.looked = true;
      return { audits: [] };
    }),
    listTicketFields: async (schema) => schema.parse(fields),
    async updateMany(_what, changes) {
      [seen.sent] = z.tuple([Sent]).parse(changes);
      return new Map([['7', { id: '7', success: true }]]);
    },
  };
  const kinds = fieldKinds(parsed, api, () => new Date());
  const account = { settings: parsed, ports: testPorts().ports, api, kinds };
  const none = new Map<string, never>();
  const names = { brands: none, ticket_forms: none, custom_statuses: none };
  const row: Row = { ...before, beside: { users: none, groups: none, organizations: none, ...names } };
  const [result] = await onTickets(account, new Map([['7', row]]), isEdit).write([answer]);
  return { ...seen, result };
}

const ok = (findings: unknown[] = []) => ({ ok: true, findings });

describe('a grade', () => {
  const rows: [type: string, grade: number | null, gradeValues: object, sent: FieldValue, comesBack: FieldValue][] = [
    ['integer', 9, {}, 9, '9'],
    ['decimal', 9, {}, 9, '9.0'],
    ['text', 9, {}, '9', '9'],
    ['regexp', 9, {}, '9', '9'],
    ['tagger', 9, {}, '9', '9'],
    ['tagger', 9, { 9: 'nps_promoter' }, 'nps_promoter', 'nps_promoter'],
    ['multiselect', 9, {}, ['9'], ['9']],
    ['checkbox', 1, {}, true, true],
    ['checkbox', 0, {}, false, null],
    ['checkbox', 3, { 3: 'false' }, false, false],
    ['integer', null, {}, null, null],
    ['tagger', null, {}, null, ''],
    ['checkbox', null, {}, false, null],
    ['integer', 0, {}, 0, '0'],
  ];
  test.each(rows)('in a field of type %s: %j %j', async (type, grade, gradeValues, sent, comesBack) => {
    const id = idOf(type);
    const answer = { ...item, grade };
    // Something is there that has to go.
    const other = sent === null || sent === false ? ticket({ [id]: 'x' }) : ticket();
    const first = await written({ grade: id, gradeValues }, answer, other, ticket({ [id]: comesBack }));
    expect(first).toMatchObject({ sent: { custom_fields: [{ id, value: sent }] }, result: ok() });
    expect((await written({ grade: id, gradeValues }, answer, ticket({ [id]: comesBack }))).sent).toBeUndefined();
    expect((await written({ grade: id, gradeValues }, answer, other)).result).toEqual(ok([expect.any(String)]));
  });
});

test('comment and time go into their fields, the time as the field has room for it', async () => {
  const sent = async (given: object) => (await written(given, item, ticket())).sent?.custom_fields;
  expect(await sent({ comment: idOf('textarea'), answeredAt: idOf('date') })).toEqual([
    { id: idOf('textarea'), value: 'Quick and kind' },
    { id: idOf('date'), value: '2026-11-21' },
  ]);
  expect(await sent({ answeredAt: idOf('text') })).toEqual([{ id: idOf('text'), value: '2026-11-21T22:30:15.000Z' }]);
});

describe('what Zendesk did not keep', () => {
  const none: WriteBack = { ...item, status: 'no-answer', grade: null, comment: null };
  test.each([
    ['grade', item, '"9"', 'gradeValues'],
    ['status', none, '"fb_no_answer"', 'statusValues'],
  ] as const)('is told with the remedy where a dropdown has no such option: %s', async (part, answer, tag, setting) => {
    const { result } = await written({ [part]: idOf('tagger') }, answer, ticket());
    const where = `the ticket field 6 "tagger" (writeBack.${part})`;
    const remedy = `add the option, or name an existing tag in writeBack.${setting}`;
    const finding = `Zendesk did not keep "6": ${where} has no option with the tag ${tag}: ${remedy}`;
    expect(result).toEqual(ok([finding]));
  });

  test('never quotes the comment', async () => {
    const { result } = await written(
      { comment: idOf('text') },
      item,
      ticket(),
      ticket({ [idOf('text')]: 'something' }),
    );
    expect(result).toEqual(ok([expect.not.stringMatching(/kind|something/)]));
  });
});

describe('an update', () => {
  const both = { grade: idOf('tagger'), gradeValues: { 9: 'fb_grade_9' }, tags: true };
  const rows: [
    name: string,
    before: Ticket,
    expected: { fields: string[]; addTags: string[]; removeTags: string[] },
  ][] = [
    [
      'sends all to an untouched ticket',
      ticket(),
      { fields: ['fb_grade_9'], addTags: ['fb_answered', 'fb_grade_9'], removeTags: [] },
    ],
    [
      'sends nothing where all is there',
      ticket({ 6: 'fb_grade_9' }, ['fb_grade_9', 'fb_answered']),
      { fields: [], addTags: [], removeTags: [] },
    ],
    [
      'takes an old grade off',
      ticket({ 6: 'fb_grade_9' }, ['fb_grade_9', 'fb_answered', 'fb_grade_2', 'vip']),
      { fields: [], addTags: [], removeTags: ['fb_grade_2'] },
    ],
    [
      'leaves a tag alone that is the dropdown’s own value',
      ticket({ 6: 'fb_grade_2' }, ['fb_grade_2', 'fb_answered']),
      { fields: ['fb_grade_9'], addTags: ['fb_grade_9'], removeTags: [] },
    ],
  ];
  test.each(rows)('%s', async (_name, before, { fields, addTags, removeTags }) => {
    const { sent } = await written(both, item, before);
    const values = sent?.custom_fields.map(({ value }) => value) ?? [];
    expect([values, sent?.additional_tags ?? [], sent?.remove_tags ?? []]).toEqual([fields, addTags, removeTags]);
  });

  test('leaves tags alone where they are not ours to write', async () => {
    const { sent } = await written({ note: true }, item, ticket({}, ['fb_grade_2']));
    expect(sent).toMatchObject({ custom_fields: [], additional_tags: [], remove_tags: [] });
  });
});

describe('a note is looked for', () => {
  const rows: [name: string, given: object, before: Ticket, expected: boolean][] = [
    ['if a field has our value', { grade: idOf('integer') }, ticket({ 1: '9' }), true],
    ['not if it has another', { grade: idOf('integer') }, ticket({ 1: '8' }), false],
    ['if our tag is there', { tags: true }, ticket({}, ['fb_answered']), true],
    ['not if no tag is', { tags: true }, ticket({}, ['vip']), false],
    [
      'by the time alone if a dropdown is all we have: changed since',
      { grade: idOf('tagger') },
      ticket({}, [], '2026-11-21T22:31:00Z'),
      true,
    ],
    ['by the time alone: not changed since', { grade: idOf('tagger') }, ticket({}, [], '2026-11-21T22:00:00Z'), false],
    ['by the time alone if we write nothing but notes', {}, ticket({}, [], '2026-11-21T22:26:00Z'), true],
  ];
  test.each(rows)('%s', async (_name, given, before, expected) => {
    const { looked, sent } = await written({ ...given, note: true }, item, before);
    expect(looked).toBe(expected);
    expect(sent?.comment).toMatchObject({ public: false, body: expect.stringContaining('closeloop ref j7.1') });
  });
});

describe('that nobody answered', () => {
  const none: WriteBack = { ...item, status: 'no-answer', grade: null, comment: null };
  const all = { grade: idOf('integer'), comment: idOf('textarea'), answeredAt: idOf('date'), tags: true };
  const rows: [name: string, given: object, status: WriteBack['status'], fields: FieldValue[], tags: string[]][] = [
    ['writes the tag, and clears nothing', all, 'no-answer', [], ['fb_no_answer']],
    ['writes a text', { ...all, tags: false, status: idOf('text') }, 'no-answer', ['no answer'], []],
    ['writes an option', { status: idOf('tagger') }, 'no-answer', ['fb_no_answer'], []],
    [
      'writes what is configured',
      { status: idOf('tagger'), statusValues: { answered: 'yes', noAnswer: 'none_came' } },
      'no-answer',
      ['none_came'],
      [],
    ],
    ['is otherwise "answered"', { status: idOf('text') }, 'answered', ['answered'], []],
    ['is otherwise the option for that', { status: idOf('tagger') }, 'answered', ['fb_answered'], []],
  ];
  test.each(rows)('%s', async (_name, given, status, fields, tags) => {
    const { sent } = await written(given, { ...none, status }, ticket());
    expect(sent?.custom_fields.map(({ value }) => value)).toEqual(fields);
    expect(sent?.additional_tags).toEqual(tags);
  });

  test('leaves the answer of an earlier closing alone', async () => {
    const { sent } = await written(all, none, ticket({}, ['fb_answered', 'fb_grade_9']));
    expect(sent).toMatchObject({ custom_fields: [], additional_tags: ['fb_no_answer'], remove_tags: [] });
  });

  test('goes when an answer comes after all', async () => {
    const { sent } = await written(all, item, ticket({}, ['fb_no_answer', 'fb_grade_3', 'vip']));
    expect(sent).toMatchObject({
      additional_tags: ['fb_answered', 'fb_grade_9'],
      remove_tags: ['fb_no_answer', 'fb_grade_3'],
    });
  });
});

describe('a newer answer', () => {
  const rows: [name: string, type: string, held: FieldValue, expected: boolean][] = [
    ['is there if the field names a later day', 'date', '2026-11-22', true],
    ['is not there on the same day: a day is all that a date tells', 'date', '2026-11-21', false],
    ['is not there on an earlier day', 'date', '2026-11-20', false],
    ['is there on a later day, as user fields write it', 'date', '2026-11-22T00:00:00+00:00', true],
    ['is there if the field names a later instant', 'text', '2026-11-21T22:30:16.000Z', true],
    ['is not there if it is this one', 'text', '2026-11-21T22:30:15.000Z', false],
    ['is not there if the field is empty', 'text', null, false],
    ['is not there if somebody wrote something else', 'text', 'yesterday', false],
  ];
  test.each(rows)('%s', async (_name, type, held, expected) => {
    const id = idOf(type);
    const { result, sent } = await written({ answeredAt: id, grade: idOf('integer') }, item, ticket({ [id]: held }));
    expect(result).toMatchObject({ ok: true });
    expect(sent === undefined).toBe(expected);
  });
});

describe('an edit of a closed ticket', () => {
  const given = { grade: idOf('integer'), comment: idOf('textarea'), note: true };
  const before: Ticket = { ...ticket(), status: 'closed' };
  const rows: [name: string, values: Record<string, FieldValue>, expected: object][] = [
    ['is none where the ticket kept nothing of it', {}, { ok: false, why: 'closed' }],
    ['tells what the ticket did not keep', { 1: '9' }, ok([expect.stringContaining('did not keep "4"')])],
    ['is one where the ticket kept it', { 1: '9', 4: 'Quick and kind' }, ok()],
  ];
  test.each(rows)('%s, and has no note', async (_name, values, expected) => {
    const after: Ticket = { ...ticket(values), status: 'closed' };
    const { result, sent, looked } = await written(given, item, before, after, true);
    expect(result).toMatchObject(expected);
    expect([sent?.custom_fields.length, sent?.comment, looked]).toEqual([2, undefined, false]);
  });
});
