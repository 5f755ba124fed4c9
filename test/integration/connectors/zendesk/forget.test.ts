import { expect, test } from 'vitest';
import { account, answer, everything, ids } from '../../../support/connectors/zendesk/account.ts';

const history = "the internal notes, also those of answer rules (redact them), and the tickets' history";
const kept = history;

test('it clears the fields, takes off our tags and nobody else’s, and says that note and history stay', async () => {
  const { source, standin, solved } = await account();
  const id = solved({ tags: ['vip', 'fb_fan'] });
  await source.writeBack([answer(id)]);
  expect(standin.ticket(id).tags).toContain('fb_grade_9');
  expect(await source.forget?.([String(id)])).toEqual([kept]);
  const { tags, fields } = standin.ticket(id);
  expect([tags, Object.values(fields)]).toEqual([
    ['vip', 'fb_fan'],
    [null, null, null],
  ]);
});

test('it says which closed tickets keep their answers', async () => {
  const { source, standin, solved } = await account({ ...everything, note: false });
  const [open, shut] = [solved(), solved()];
  await source.writeBack([answer(open), answer(shut)]);
  await standin.close(shut);
  expect(await source.forget?.([String(open), String(shut)])).toEqual([
    `the answer on ticket ${shut}, which takes no change: take it off by hand`,
    history,
  ]);
  expect(standin.ticket(open).tags).toEqual([]);
  expect(standin.ticket(shut).tags).toContain('fb_answered');
});

test('it needs four calls and the token for a hundred tickets, and two where nothing is left', async () => {
  const { source, standin, solved } = await account({ ...everything, note: false });
  const all = Array.from({ length: 100 }, () => solved());
  await source.writeBack(all.map((id) => answer(id)));
  const before = standin.totalCalls();
  await source.forget?.(all.map(String));
  expect(standin.totalCalls() - before).toBe(4);
  await source.forget?.(all.map(String));
  expect(standin.totalCalls() - before).toBe(5);
});

test('it clears what the requester holds, and deletes the record of a closed ticket', async () => {
  // People may be updated once a second.
  let ahead = 0;
  const writeBack = {
    grade: ids.grade,
    userFields: { grade: 'last_grade', answeredAt: 'gone' },
    whenClosed: ['customObject'],
    customObject: { object: 'feedback', grade: 'grade' },
  };
  const now = () => new Date(Date.now() + ahead);
  const { source, standin, solved, customer } = await account(writeBack, { now });
  standin.addUserField({ key: 'last_grade', title: 'Last grade', type: 'decimal' });
  const gone = standin.addUserField({ key: 'gone', title: 'Last answer', type: 'date' });
  standin.addCustomObject({ key: 'feedback', fields: [{ key: 'grade', type: 'integer' }] });
  const [id, other] = [solved(), solved({ requesterId: standin.addUser({ name: 'Joe' }).id })];
  for (const one of [id, other]) await standin.close(one);
  await source.writeBack([answer(id), answer(other)]);
  expect(standin.objectRecords('feedback')).toHaveLength(2);
  gone.active = false;
  ahead = 2_000;
  expect(await source.forget?.([String(id)])).toEqual([
    expect.stringMatching(/^writeBack\.userFields\.answeredAt: .*inactive/),
    history,
  ]);
  expect(standin.user(customer).userFields).toMatchObject({ last_grade: null });
  expect(standin.objectRecords('feedback')).toMatchObject([{ externalId: `ticket-${other}` }]);
});
