import { expect, test } from 'vitest';
import { comparedFields, type DeskFields } from '../../../../core/connector/desk/preflight.ts';
import type { CurrentField, NeededField } from '../../../../core/connector/fields.ts';

const integer: Pick<NeededField, 'types' | 'values'> = { types: ['integer', 'decimal'] };
const compare = (current: readonly CurrentField[], more: Partial<DeskFields> = {}) => {
  const fields = { of: 'tickets', field: 'field', place: 'Admin > Fields', list: async () => current };
  const make = async () => ({});
  return comparedFields({ ...fields, types: () => integer, make, ...more }, { grade: 'Grade' }, []);
};
/** The changes that `setup` would make. */
const steps = async (compared: ReturnType<typeof compare>) => (await compared).missing.map(({ what }) => what);
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
test.each(rows)('it tells of %s', async (_what, current, [level, problem, remedy]) => {
  const compared = compare(current);
  const { findings } = await compared;
  const finding = {
    level,
    at: 'writeBack.grade',
    problem: expect.stringMatching(problem ?? ''),
    remedy: expect.stringMatching(remedy ?? ''),
  };
  expect(findings).toEqual(level === undefined ? [] : [finding]);
  const created = 'create the field "Grade" of tickets (integer)';
  expect(await steps(compared)).toEqual(/no field|archived/.test(String(problem)) ? [created] : []);
});

test('it adds what the list of a field lacks, where setup can, and nothing to one that takes no answers', async () => {
  const types = () => ({ ...integer, values: ['1', '2'] });
  const of = (more: Partial<CurrentField>) =>
    compare([field({ values: ['1'], ...more })], { types, extend: async () => ({}) });
  expect(await steps(of({}))).toEqual(['add 2 to the field "Grade" of tickets']);
  expect((await of({})).findings).toMatchObject([{ level: 'error', remedy: 'Let "closeloop setup" add them' }]);
  expect(await steps(of({ problem: 'moves the ticket' }))).toEqual([]);
});
