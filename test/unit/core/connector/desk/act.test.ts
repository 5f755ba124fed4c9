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

const set: ActionRequest = {
  ...tag,
  name: 'set',
  params: { calls: 2, state: 'called', old: null },
  marker: '7.a1.low.2',
};

test.each([
  [{}, ['read 1', 'put 1 calls,state', 'read 1']],
  [{ silent: true as const }, ['read 1', 'put 1 calls,state', 'read 1', 'read 1']],
  [{ bulk: true as const }, ['read 1', 'put 1', 'read 1']],
])('fields are set once, in the form of an answer, and only what the record lacks: %o', async (peculiar, expected) => {
  const { rows, calls, act } = fakeDesk(['1'], peculiar);
  expect(await act(set)).toEqual({ ok: true, done: 'set calls, state, old' });
  expect(await act({ ...set, again: true })).toEqual({ ok: true, done: 'set calls, state, old' });
  expect(rows.get('1')?.fields).toEqual({ calls: 2, state: 'called' });
  expect(calls).toEqual(expected);
});

test('null empties a field', async () => {
  const { rows, act } = fakeDesk(['1']);
  await act(set);
  await act({ ...set, params: { state: null } });
  expect(rows.get('1')?.fields).toEqual({ calls: 2, state: null });
});

test.each([
  [{ swallows: ['state'] }, 'Desk did not keep "state": look at what it takes'],
  [{ swallows: ['state'], silent: true as const }, 'Desk did not keep "state": look at what it takes'],
  [{ refuses: ['calls'] }, 'calls takes no such value'],
])('a field that the vendor does not keep, or refuses, is not told as set: %o', async (peculiar, message) => {
  const { act } = fakeDesk(['1'], peculiar);
  expect(await act(set)).toMatchObject({ ok: false, why: 'error', error: { message, advice: { kind: 'permanent' } } });
});

test.each([
  [{ calls: 2, state: 'called' }, undefined],
  [{ state: null }, undefined],
  [{ nothing: 1 }, 'there is no field of records "nothing"'],
  [{ state: 'gone' }, 'the field "state" does not take "gone"'],
  [{ grade: 1 }, '"grade" takes answers (writeBack)'],
])('check looks whether a field is there, and takes the value: %o', async (params, problem) => {
  const { calls, checkActions } = fakeDesk(['1']);
  const findings = await checkActions([{ at: 'answers[0].do[0].set', name: 'set', params }]);
  expect(findings.map((one) => one.problem)).toEqual(problem === undefined ? [] : [problem]);
  expect(calls).toEqual([]);
});
