import { expect, test } from 'vitest';
import type { ActionRequest } from '../../../../../core/connector/contract.ts';
import { fakeDesk } from './fake-desk.ts';

const tag: ActionRequest = {
  ...{ recordId: '1', name: 'tag', params: ['unhappy'], marker: '7.a1.low.0', closing: '', again: false },
};
const note: ActionRequest = { ...tag, name: 'note', params: 'Graded 2', marker: '7.a1.low.1' };

test.each([{}, { bulk: true as const }])('a tag is added to those that are there: %o', async (peculiar) => {
  const { rows, act } = fakeDesk(['1'], peculiar);
  expect(await act(tag)).toEqual({ ok: true, done: 'tagged unhappy' });
  expect(rows.get('1')?.tags).toEqual(['vip', 'unhappy']);
});

test.each([{}, { bulk: true as const }])('a tag that the vendor refuses is not told as done: %o', async (peculiar) => {
  const { rows, act } = fakeDesk(['1'], { ...peculiar, refuses: ['unhappy'] });
  const result = await act(tag);
  expect(result).toMatchObject({ ok: false, why: 'error', error: { message: 'unhappy takes no such value' } });
  expect(rows.get('1')?.tags).toEqual(['vip']);
});

test('a record that fails among many fails a tag as well', async () => {
  const refused = fakeDesk(['1'], { bulk: true, fails: { id: '1', kind: 'permanent' } });
  expect(await refused.act(tag)).toMatchObject({ ok: false, why: 'error' });
  const down = fakeDesk(['1'], { bulk: true, fails: { id: '1', kind: 'transient' } });
  await expect(down.act(tag)).rejects.toThrow('refused');
});

test('a note that an earlier attempt has added is not added again', async () => {
  const { rows, calls, act } = fakeDesk(['1']);
  await act(note);
  expect(await act({ ...note, again: true })).toEqual({ ok: true, done: 'a note is added' });
  expect(rows.get('1')?.notes).toHaveLength(1);
  expect(calls).toEqual(['read 1', 'note 1', 'read 1', 'look 1']);
});
