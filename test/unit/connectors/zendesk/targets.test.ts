import { describe, expect, test } from 'vitest';
import { catalogueOf } from '../../../../connectors/zendesk/fields.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import {
  resolveFields,
  resolveObjectFields,
  resolveUserFields,
  writableTargets,
} from '../../../../connectors/zendesk/targets.ts';
import { CloseloopError } from '../../../../core/errors.ts';

const writeBack = (given: object) =>
  settings.parse({ subdomain: 'a', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'], writeBack: given })
    .writeBack;

const catalogue = catalogueOf([
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
]);

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
      'missing ticket field 77 does not exist. | Take the id from',
    ],
    [
      'of a title that two have is not guessed',
      { comment: 'Twice' },
      'ambiguous "Twice" exists 2 times. | Give its id',
    ],
    ['is the active one of two', { comment: 'Once more' }, '7'],
    ['that is inactive is told', { comment: 'Old' }, 'inactive "Old" is inactive'],
    ['is never one of Zendesk’s own of that title', { status: 'Status' }, '11'],
    [
      'of a title that only Zendesk’s own has does not exist',
      { grade: 'Priority' },
      'missing "Priority" does not exist',
    ],
    [
      'that cannot hold a grade is told',
      { grade: 3 },
      'type ticket field 3 has the type date. | It must be one of integer',
    ],
    ['that cannot hold a comment is told', { comment: 1 }, 'type ticket field 1 has the type integer'],
    [
      'that cannot hold a time is told',
      { answeredAt: 4 },
      'type ticket field 4 has the type tagger. | It must be one of date',
    ],
    ['that cannot say whether an answer came is told', { status: 1 }, 'type ticket field 1 has the type integer'],
  ];
  test.each(rows)('%s', (_name, given, found) => {
    const [id, says] = /^\d+$/.test(found) ? [found] : [undefined, found];
    const { targets, problems } = resolveFields(writeBack(given), catalogue);
    expect([...targets.values()].map((target) => target.id)).toEqual(id === undefined ? [] : [id]);
    const told = problems.map(({ why, problem, remedy }) => `${why} ${problem} | ${remedy}`).join();
    for (const part of says?.split(' | ') ?? [])
      expect(told).toContain(part.replace(/^(missing|ambiguous|inactive|type) /, ''));
    expect(problems.map(({ why }) => why)).toEqual(says === undefined ? [] : [says.split(' ')[0]]);
    expect(problems.every(({ at }) => at === `writeBack.${Object.keys(given)[0]}`)).toBe(true);
  });
});

describe('a field known by its key', () => {
  const fields = [
    { key: 'last_grade', type: 'decimal' },
    { key: 'score', type: 'dropdown' },
    { key: 'note', type: 'checkbox' },
  ];
  test('is found on users', () => {
    const { targets, problems } = resolveUserFields(
      writeBack({ userFields: { grade: 'score', comment: 'note', answeredAt: 'no_such' } }),
      fields,
    );
    expect(targets).toEqual(new Map([['grade', { id: 'score', type: 'dropdown' }]]));
    expect(problems.map(({ at, why }) => [at, why])).toEqual([
      ['writeBack.userFields.comment', 'type'],
      ['writeBack.userFields.answeredAt', 'missing'],
    ]);
  });
  test('is found on the records of a custom object, whose link to the ticket is another matter', () => {
    const given = {
      whenClosed: ['customObject'],
      customObject: { object: 'feedback', grade: 'last_grade', ticket: 't' },
    };
    expect(resolveObjectFields(writeBack(given), fields)).toEqual({
      targets: new Map([['grade', { id: 'last_grade', type: 'decimal' }]]),
      problems: [],
    });
  });
  test('is not looked for where nobody named one', () => {
    expect(resolveUserFields(writeBack({}), fields)).toEqual({ targets: new Map(), problems: [] });
    expect(resolveObjectFields(writeBack({}), fields)).toEqual({ targets: new Map(), problems: [] });
  });
});

describe('writable targets', () => {
  const good = resolveFields(writeBack({ grade: 1 }), catalogue);
  const bad = resolveFields(writeBack({ grade: 'Gone', comment: 'Twice' }), catalogue);
  test('are taken from memory when they fit', async () => {
    const looks: ('now' | undefined)[] = [];
    await expect(
      writableTargets(async (loaded) => {
        looks.push(loaded);
        return good;
      }, 'acme'),
    ).resolves.toEqual(good.targets);
    expect(looks).toEqual([undefined]);
  });
  test('are looked at once more when not: somebody may have corrected it', async () => {
    await expect(writableTargets(async (loaded) => (loaded === 'now' ? good : bad), 'acme')).resolves.toEqual(
      good.targets,
    );
  });
  test('that still do not fit stop the source, all problems told at once', async () => {
    const error = await writableTargets(async () => bad, 'acme').catch((thrown: unknown) => thrown);
    if (!(error instanceof CloseloopError)) throw new Error('expected a CloseloopError');
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toContain('Zendesk acme: writeBack.grade: ticket field "Gone" does not exist.');
    expect(error.message).toContain('writeBack.comment: ticket field "Twice" exists 2 times.');
  });
});
