import { describe, expect, test } from 'vitest';
import {
  changeFor,
  findingsOn,
  holdsNewer,
  mayHaveNote,
  valuesOf,
  wantedOf,
} from '../../../../connectors/zendesk/answer.ts';
import { catalogueOf } from '../../../../connectors/zendesk/fields.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import { resolveFields } from '../../../../connectors/zendesk/targets.ts';
import type { FieldValue, Ticket } from '../../../../connectors/zendesk/ticket.ts';
import type { WriteBack } from '../../../../core/connector/contract.ts';

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
const types = [
  'integer',
  'decimal',
  'text',
  'textarea',
  'regexp',
  'tagger',
  'multiselect',
  'checkbox',
  'date',
  'lookup',
];
const catalogue = catalogueOf([
  ...types.map((type, index) => ({ id: String(index + 1), type, title: type })),
  { id: '99', type: 'text', title: 'Old', active: false },
]);
const idOf = (type: string): number => types.indexOf(type) + 1;

const writeBack = (given: object): ReturnType<typeof settings.parse>['writeBack'] =>
  settings.parse({ subdomain: 'a', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'], writeBack: given })
    .writeBack;

const wantedBy = (given: WriteBack, written: ReturnType<typeof writeBack>): ReturnType<typeof wantedOf> =>
  wantedOf(given, written, resolveFields(written, catalogue).targets);

function ticket(
  fields: Record<string, FieldValue> = {},
  tags: string[] = [],
  updatedAt = '2026-11-20T00:00:00Z',
): Ticket {
  const custom_fields = Object.entries(fields).map(([id, value]) => ({ id, value }));
  return { id: '7', status: 'solved', updated_at: updatedAt, tags, custom_fields, followup_ids: [] };
}

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
  test.each(rows)('in a field of type %s: %j %j', (type, grade, gradeValues, sent, comesBack) => {
    const wanted = wantedBy({ ...item, grade }, writeBack({ grade: idOf(type), gradeValues }));
    expect(wanted.fields).toEqual([{ part: 'grade', id: String(idOf(type)), type, value: sent }]);
    expect(findingsOn(wanted, ticket({ [idOf(type)]: comesBack }))).toEqual([]);
    if (sent !== null && sent !== false) expect(findingsOn(wanted, ticket())).toHaveLength(1);
  });
});

test('comment and time go into their fields, the time as the field has room for it', () => {
  const wanted = wantedBy(item, writeBack({ comment: idOf('textarea'), answeredAt: idOf('date') }));
  expect(wanted.fields.map(({ value }) => value)).toEqual(['Quick and kind', '2026-11-21']);
  const inText = wantedBy(item, writeBack({ answeredAt: idOf('text') }));
  expect(inText.fields.map(({ value }) => value)).toEqual(['2026-11-21T22:30:15.000Z']);
});

test('a dropdown value without an option is named with the remedy', () => {
  const wanted = wantedBy(item, writeBack({ grade: idOf('tagger') }));
  expect(findingsOn(wanted, ticket())).toEqual([
    'ticket field 6 (writeBack.grade) has no option with the tag "9": add the option, or name an existing tag in writeBack.gradeValues.',
  ]);
});

test('a finding never quotes the comment', () => {
  const wanted = wantedBy(item, writeBack({ comment: idOf('text') }));
  expect(findingsOn(wanted, ticket({ [idOf('text')]: 'something' })).join()).not.toMatch(/kind|something/);
});

describe('changeFor', () => {
  const both = writeBack({ grade: idOf('tagger'), gradeValues: { 9: 'fb_grade_9' }, tags: true });
  const rows: [name: string, before: Ticket, expected: object][] = [
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
  test.each(rows)('%s', (_name, before, expected) => {
    const change = changeFor(wantedBy(item, both), before);
    expect({ ...change, fields: change.fields.map(({ value }) => value) }).toEqual(expected);
  });

  test('leaves tags alone where they are not ours to write', () => {
    expect(changeFor(wantedBy(item, writeBack({ note: true })), ticket({}, ['fb_grade_2']))).toEqual({
      fields: [],
      addTags: [],
      removeTags: [],
    });
  });
});

describe('a note may be there', () => {
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
  test.each(rows)('%s', (_name, given, before, expected) => {
    expect(mayHaveNote(wantedBy(item, writeBack(given)), before, item.answeredAt)).toBe(expected);
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
  test.each(rows)('%s', (_name, given, status, fields, tags) => {
    const wanted = wantedBy({ ...none, status }, writeBack(given));
    expect(wanted.fields.map(({ value }) => value)).toEqual(fields);
    expect(wanted.tags).toEqual(tags);
  });

  test('leaves the answer of an earlier closing alone', () => {
    const before = ticket({}, ['fb_answered', 'fb_grade_9']);
    expect(changeFor(wantedBy(none, writeBack(all)), before)).toMatchObject({ removeTags: [] });
  });

  test('goes when an answer comes after all', () => {
    expect(changeFor(wantedBy(item, writeBack(all)), ticket({}, ['fb_no_answer', 'fb_grade_3', 'vip']))).toMatchObject({
      addTags: ['fb_answered', 'fb_grade_9'],
      removeTags: ['fb_no_answer', 'fb_grade_3'],
    });
  });

  test('is a finding where the dropdown has no such option', () => {
    const wanted = wantedBy(none, writeBack({ status: idOf('tagger') }));
    expect(findingsOn(wanted, ticket())).toEqual([
      'ticket field 6 (writeBack.status) has no option with the tag "fb_no_answer": add the option, or name an existing tag in writeBack.statusValues.',
    ]);
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
  test.each(rows)('%s', (_name, type, held, expected) => {
    const { targets } = resolveFields(writeBack({ answeredAt: idOf(type) }), catalogue);
    expect(holdsNewer(item, targets, valuesOf(ticket({ [idOf(type)]: held })))).toBe(expected);
  });

  test('cannot be told without a field for the time', () => {
    expect(holdsNewer(item, new Map(), valuesOf(ticket()))).toBe(false);
  });
});
