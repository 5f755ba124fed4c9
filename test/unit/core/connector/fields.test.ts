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
  ['two alike', [field(), field()], ['error', /have 2 of the name "Grade"/, /Rename all but one \(Admin > Fields\)/]],
  ['a wrong type', [field({ type: 'text' })], ['error', /of type text, not integer or decimal/, /Name another field/]],
  ['one that people must fill', [field({ required: true })], ['warning', /is required of people/, /Switch that off/]],
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
  expect(missing).toEqual(String(problem).includes('no field') ? [{ id: 'Grade', what: 'create Grade' }] : []);
});
