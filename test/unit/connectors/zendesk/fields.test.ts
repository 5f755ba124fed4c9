import { describe, expect, test } from 'vitest';
import { type Field, fieldKinds, onFields, resolve } from '../../../../connectors/zendesk/fields.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { readOnlyApi } from '../../../support/connectors/zendesk/ports.ts';

const parsed = (writeBack: object) =>
  settings.parse({ subdomain: 'a', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'], writeBack });
const kindsOf = (writeBack: object, read: () => unknown = () => ({})) =>
  fieldKinds(parsed(writeBack), readOnlyApi(read), () => new Date());

const fields: Field[] = [
  { id: '1', type: 'integer', title: 'Feedback grade', removable: true },
  { id: '2', type: 'textarea', title: 'Comment' },
  { id: '3', type: 'date', title: 'When' },
  { id: '4', type: 'tagger', title: 'Score' },
  { id: '5', type: 'text', title: 'Twice' },
  { id: '6', type: 'text', title: 'Twice' },
  { id: '7', type: 'text', title: 'Once more' },
  { id: '8', type: 'text', title: 'Once more', active: false },
  { id: '9', type: 'text', title: 'Old', active: false },
  { id: '10', type: 'status', title: 'Status', removable: false },
  { id: '11', type: 'text', title: 'Status', removable: true },
  { id: '12', type: 'priority', title: 'Priority', removable: false },
];

describe('a ticket field', () => {
  /** Its id, or why there is none. */
  const rows: [name: string, given: object, found: string][] = [
    ['is found by its id', { grade: 1 }, '1'],
    ['is found by its exact title', { grade: 'Feedback grade' }, '1'],
    [
      'is not found by a title in other letters',
      { grade: 'feedback grade' },
      'missing "feedback grade" does not exist',
    ],
    [
      'that does not exist can be created if it was named by its title',
      { comment: 'New' },
      'missing "New" does not exist. | or let "closeloop setup" create it',
    ],
    [
      'that does not exist by its id is a mistake',
      { comment: 77 },
      'ticket field 77 does not exist. | Take the id from',
    ],
    ['of a title that two have is not guessed', { comment: 'Twice' }, '"Twice" exists 2 times. | Give its id'],
    ['is the active one of two', { comment: 'Once more' }, '7'],
    ['that is inactive is told', { comment: 'Old' }, '"Old" is inactive'],
    ['is never one of Zendesk’s own of that title', { status: 'Status' }, '11'],
    [
      'of a title that only Zendesk’s own has does not exist',
      { grade: 'Priority' },
      'missing "Priority" does not exist',
    ],
    ['that cannot hold a grade is told', { grade: 3 }, 'ticket field 3 has the type date. | It must be one of integer'],
    ['that cannot hold a comment is told', { comment: 1 }, 'ticket field 1 has the type integer'],
    [
      'that cannot hold a time is told',
      { answeredAt: 4 },
      'ticket field 4 has the type tagger. | It must be one of date',
    ],
    ['that cannot say whether an answer came is told', { status: 1 }, 'ticket field 1 has the type integer'],
  ];
  test.each(rows)('%s', (_name, given, found) => {
    const [id, says] = /^\d+$/.test(found) ? [found] : [undefined, found];
    const { targets, problems } = resolve(kindsOf(given).tickets, fields);
    expect([...targets.values()].map((target) => target.id)).toEqual(id === undefined ? [] : [id]);
    const told = problems.map(({ problem, remedy }) => `${problem} | ${remedy}`).join();
    for (const part of says?.split(' | ') ?? []) expect(told).toContain(part.replace(/^missing /, ''));
    const isMissing = says?.startsWith('missing ');
    expect(problems.map((problem) => problem.isMissing)).toEqual(says === undefined ? [] : [isMissing]);
    expect(problems.every(({ at }) => at === `writeBack.${Object.keys(given)[0]}`)).toBe(true);
  });
});

describe('a field known by its key', () => {
  const fields: Field[] = [
    { id: 'last_grade', type: 'decimal' },
    { id: 'score', type: 'dropdown' },
    { id: 'note', type: 'checkbox' },
  ];
  test('is found on users', () => {
    const userFields = { grade: 'score', comment: 'note', answeredAt: 'no_such' };
    const { targets, problems } = resolve(kindsOf({ userFields }).users, fields);
    expect(targets).toEqual(new Map([['grade', fields[1]]]));
    expect(problems.map(({ at, isMissing }) => [at, isMissing])).toEqual([
      ['writeBack.userFields.comment', false],
      ['writeBack.userFields.answeredAt', true],
    ]);
  });
  test('is found on the records of a custom object, as is the field for the ticket', () => {
    const customObject = { object: 'feedback', grade: 'last_grade', ticket: 'note' };
    const { records } = kindsOf({ whenClosed: ['customObject'], customObject });
    const targets = new Map([
      ['grade', fields[0]],
      ['ticket', fields[2]],
    ]);
    expect(resolve(records, fields)).toEqual({ targets, problems: [] });
  });
  test('is not looked for where nobody named one', () => {
    const { users, records } = kindsOf({});
    for (const kind of [users, records]) expect(resolve(kind, fields)).toEqual({ targets: new Map(), problems: [] });
  });
});

describe('writing on user fields', () => {
  const kindOf = (pages: readonly object[][]) => {
    let reads = 0;
    const page = () => ({ user_fields: pages[Math.min(reads++, pages.length - 1)] });
    const { users } = kindsOf({ userFields: { grade: 'nine', comment: 'said' } }, page);
    return { users, reads: () => reads };
  };
  const good = [
    { key: 'nine', type: 'integer' },
    { key: 'said', type: 'textarea' },
  ];
  const write =
    (findings: string[] = []) =>
    async () => [{ ok: true as const, findings }];

  test('takes the fields from memory when they fit', async () => {
    const { users, reads } = kindOf([good]);
    await onFields(users, write());
    await onFields(users, write());
    expect(reads()).toBe(1);
  });
  test('looks at the fields once more when not: somebody may have corrected them', async () => {
    const { users, reads } = kindOf([[], good]);
    await expect(onFields(users, write())).resolves.toEqual([{ ok: true, findings: [] }]);
    expect(reads()).toBe(2);
  });
  test.each([
    ['that still do not fit', [[]], []],
    ['that do not fit after a value was not stored', [good, []], ['not kept']],
  ])('stops the source by fields %s, all problems told at once', async (_name, pages, findings) => {
    const error = await onFields(kindOf(pages).users, write(findings)).catch((thrown: unknown) => thrown);
    if (!(error instanceof CloseloopError)) throw new Error('expected a CloseloopError');
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toContain('Zendesk a: writeBack.userFields.grade: user field "nine" does not exist.');
    expect(error.message).toContain('writeBack.userFields.comment: user field "said" does not exist.');
  });
});
