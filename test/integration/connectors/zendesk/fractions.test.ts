import { expect, test } from 'vitest';
import { account, answer, ids } from '../../../support/connectors/zendesk/account.ts';
import { about, openAccount } from '../../../support/connectors/zendesk/preflight.ts';

/* Campaigns whose grades are not all whole numbers: 1, 1.5 … 5. */

const halves = [1, 1.5, 2, 2.5, 3];
const places = {
  grade: 'Half grade',
  userFields: { grade: 'half_grade' },
  whenClosed: ['customObject'],
  customObject: { object: 'halves', grade: 'half_grade' },
};

test.each([
  [halves, 'decimal'],
  [[1, 2, 3], 'integer'],
] as const)('setup makes fields for the grades %j of type %s', async (grades, type) => {
  const { standin, open, close } = await openAccount();
  const source = open({ writeBack: places });
  const steps = (await source.setup?.({ ...about, grades })) ?? [];
  expect(steps.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      `create the ticket field "Half grade" (${type})`,
      `create the user field "half_grade" (${type})`,
      `create the field "half_grade" of the custom object "halves" (${type})`,
    ]),
  );
  expect(standin.admin.userFields.size).toBe(2);
  await close();
});

test('check finds ticket, user and object fields that hold whole numbers only, and names the grades', async () => {
  const { open, close } = await openAccount();
  const writeBack = {
    userFields: { grade: 'last_grade' },
    whenClosed: ['customObject'],
    customObject: { object: 'feedback', grade: 'grade' },
  };
  const findings = (await open({ writeBack }).check?.({ ...about, grades: halves })) ?? [];
  const ofGrade = findings.filter(({ at }) => at.endsWith('.grade'));
  expect(ofGrade.map(({ at, level }) => [at, level])).toEqual([
    ['writeBack.userFields.grade', 'error'],
    ['writeBack.customObject.grade', 'error'],
  ]);
  for (const { problem } of ofGrade) expect(problem).toMatch(/takes whole numbers only, not the grades 1\.5, 2\.5$/);
  await close();
});

const wholeOnly: [what: string, writeBack: object, status: 'solved' | 'closed', says: string][] = [
  [
    'the ticket',
    { grade: ids.grade, comment: ids.comment },
    'solved',
    `the ticket field ${ids.grade} "Grade" (writeBack.grade)`,
  ],
  [
    'the requester',
    { comment: ids.comment, userFields: { grade: 'last_grade' } },
    'solved',
    'the user field "last_grade" (writeBack.userFields.grade)',
  ],
  [
    'a record of the custom object',
    { grade: ids.comment, whenClosed: ['customObject'], customObject: { object: 'feedback', grade: 'grade' } },
    'closed',
    'the field "grade" of the custom object "feedback" (writeBack.customObject.grade)',
  ],
];
test.each(wholeOnly)(
  'a grade that a field of %s does not take is told, as often as it is written',
  async (_, to, status, says) => {
    // People may be updated once a second.
    let ahead = 0;
    const { standin, source, solved } = await account(to, { now: () => new Date(Date.now() + ahead) });
    standin.addUserField({ key: 'last_grade', type: 'integer' });
    standin.addCustomObject({ key: 'feedback', fields: [{ key: 'grade', type: 'integer' }] });
    const other = solved({ status, requesterId: standin.addUser({ name: 'Joe' }).id });
    const id = solved({ status });
    for (let times = 0; times < 2; times++) {
      ahead += 60_000;
      const [half, whole] = await source.writeBack([answer(id, { grade: 2.5 }), answer(other, { grade: 2 })]);
      const type = 'of type integer: name a decimal field.';
      expect(half).toMatchObject({ ok: true, findings: [`the grade 2.5 does not fit into ${says} ${type}`] });
      expect(whole).toMatchObject({ ok: true, findings: [] });
    }
    if (status === 'solved') expect(standin.ticket(id).fields).toMatchObject({ [ids.comment]: 'Quick and kind' });
  },
);
