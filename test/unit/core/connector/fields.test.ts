import { expect, test } from 'vitest';
import { type CurrentField, compareFields, type NeededField } from '../../../../core/connector/fields.ts';

const grade: NeededField = { part: 'grade', name: 'Grade', types: ['integer', 'decimal'] };
const compare = (...current: CurrentField[]) =>
  compareFields([grade], current, {
    ...{ of: 'tickets', field: 'field', place: 'Admin > Fields' },
    missing: ({ name }) => ({ id: name, what: `create ${name}` }),
  });
const field = (more: Partial<CurrentField> = {}): CurrentField => ({
  name: 'Grade',
  type: 'integer',
  required: false,
  ...more,
});

const rows: [what: string, current: CurrentField[], found: (string | RegExp)[]][] = [
  ['one that is there', [field()], []],
  ['one of another type that will do', [field({ type: 'decimal' }), field({ name: 'Other' })], []],
  ['one that is missing', [field({ name: 'Other' })], ['error', /no field "Grade"/, /setup/]],
  [
    'two of one name',
    [field(), field()],
    ['error', /have 2 of the name "Grade"/, /Rename all but one \(Admin > Fields\)/],
  ],
  [
    'one of a wrong type',
    [field({ type: 'text' })],
    ['error', /is of type text, not integer or decimal/, /Name another field/],
  ],
  ['one that was deleted', [field({ isArchived: true })], ['error', /"Grade" of tickets is archived/, /setup/]],
  [
    'one that takes no answers',
    [field({ problem: 'takes only short texts', drawback: 'is hidden' })],
    ['error', /"Grade" of tickets takes only short texts/, /Change that \(Admin > Fields\)/],
  ],
  [
    'one with a drawback',
    [field({ drawback: 'is hidden' })],
    ['warning', /"Grade" of tickets is hidden/, /Name another/],
  ],
  [
    'one that people must fill in',
    [field({ required: true })],
    ['warning', /is required of people/, /Switch that off/],
  ],
];
test.each(rows)('it tells of %s', (_what, current, [level, problem, remedy]) => {
  const { findings, missing } = compare(...current);
  const finding = {
    level,
    at: 'writeBack.grade',
    problem: expect.stringMatching(problem ?? ''),
    remedy: expect.stringMatching(remedy ?? ''),
  };
  expect(findings).toEqual(level === undefined ? [] : [finding]);
  expect(missing).toEqual(/no field|archived/.test(String(problem)) ? [{ id: 'Grade', what: 'create Grade' }] : []);
});

test('it adds what the list of a field lacks, where setup can, and nothing to one that takes no answers', () => {
  const needed = { ...grade, values: ['1', '2'] };
  const of = (more: Partial<CurrentField>) =>
    compareFields([needed], [field({ values: ['1'], ...more })], {
      ...{ of: 'tickets', field: 'field', place: 'Admin > Fields' },
      missing: ({ name }) => ({ id: name, what: `create ${name}` }),
      lacking: ({ name }, values) => ({ id: name, what: `add ${values.join()} to ${name}` }),
    });
  expect(of({}).missing).toEqual([{ id: 'Grade', what: 'add 2 to Grade' }]);
  expect(of({}).findings).toMatchObject([{ level: 'error', remedy: 'Let "closeloop setup" add them' }]);
  expect(of({ problem: 'moves the ticket' }).missing).toEqual([]);
});
