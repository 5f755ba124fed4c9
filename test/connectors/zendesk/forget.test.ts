import { expect, test } from 'vitest';
import { account, answer, everything } from './account.ts';

const history = "the tickets' history";
const kept = `the internal notes (redact them) and ${history}`;

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
    `the answer on ticket ${shut}, which is closed`,
    history,
  ]);
  expect(standin.ticket(open).tags).toEqual([]);
  expect(standin.ticket(shut).tags).toContain('fb_answered');
});

test('it needs four calls and the token for a hundred tickets, and two where nothing is left', async () => {
  const { source, standin, solved } = await account({ ...everything, note: false });
  const ids = Array.from({ length: 100 }, () => solved());
  await source.writeBack(ids.map((id) => answer(id)));
  const before = standin.totalCalls();
  await source.forget?.(ids.map(String));
  expect(standin.totalCalls() - before).toBe(4);
  await source.forget?.(ids.map(String));
  expect(standin.totalCalls() - before).toBe(5);
});
