import { expect, test } from 'vitest';
import type { ActionRequest } from '../../../../../core/connector/contract.ts';
import { actOnce } from '../../../../support/act-once.ts';
import { fakeDesk } from './fake-desk.ts';

const tag: ActionRequest = {
  ...{ recordId: '1', name: 'tag', params: ['unhappy'], marker: '7.a1.low.0', closing: '', again: false },
};
const note: ActionRequest = { ...tag, name: 'note', params: 'Graded 2', marker: '7.a1.low.1' };

test.each([{}, { bulk: true as const }])('a tag is added to those that are there: %o', async (peculiar) => {
  const { rows, ...desk } = fakeDesk(['1'], peculiar);
  expect(await actOnce(desk, tag)).toEqual({ ok: true, done: 'tagged unhappy' });
  expect(rows.get('1')?.tags).toEqual(['vip', 'unhappy']);
});

test.each([{}, { bulk: true as const }])('a tag that the vendor refuses is not told as done: %o', async (peculiar) => {
  const { rows, ...desk } = fakeDesk(['1'], { ...peculiar, refuses: ['unhappy'] });
  const result = await actOnce(desk, tag);
  expect(result).toMatchObject({ ok: false, why: 'error', error: { message: 'unhappy takes no such value' } });
  expect(rows.get('1')?.tags).toEqual(['vip']);
});

test('a record that fails among many fails a tag as well', async () => {
  const refused = fakeDesk(['1'], { bulk: true, fails: { id: '1', kind: 'permanent' } });
  expect(await actOnce(refused, tag)).toMatchObject({ ok: false, why: 'error' });
  const down = fakeDesk(['1'], { bulk: true, fails: { id: '1', kind: 'transient' } });
  expect(await actOnce(down, tag)).toMatchObject({ ok: false, why: 'error', error: { advice: { kind: 'transient' } } });
});

test('a note that an earlier attempt has added is not added again', async () => {
  const { rows, calls, ...desk } = fakeDesk(['1']);
  await actOnce(desk, note);
  expect(await actOnce(desk, { ...note, again: true })).toEqual({ ok: true, done: 'a note is added' });
  expect(rows.get('1')?.notes).toHaveLength(1);
  expect(calls).toEqual(['read 1', 'note 1', 'read 1', 'look 1']);
});

test('actions on one record are done in turn, each by the record as the one before has left it', async () => {
  const { rows, act } = fakeDesk(['1', '2']);
  const other = { ...tag, params: ['late'], marker: '7.a1.late.0' };
  await act([tag, other, { ...tag, recordId: '2' }]);
  expect(rows.get('1')?.tags).toEqual(['vip', 'unhappy', 'late']);
  expect(rows.get('2')?.tags).toEqual(['vip', 'unhappy']);
});

test('what follows an action that is to be tried again waits for it, and other records go on', async () => {
  const { rows, act } = fakeDesk(['1', '2'], { bulk: true, fails: { id: '1', kind: 'transient' } });
  const results = await act([tag, note, { ...tag, recordId: '2' }]);
  expect(results.map(({ ok }) => ok)).toEqual([false, false, true]);
  expect(results[1]).toMatchObject({ error: { outcome: 'refused', advice: { kind: 'transient' } } });
  expect(rows.get('1')?.notes).toEqual([]);
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
  const { rows, calls, ...desk } = fakeDesk(['1'], peculiar);
  expect(await actOnce(desk, set)).toEqual({ ok: true, done: 'set calls, state, old' });
  expect(await actOnce(desk, { ...set, again: true })).toEqual({ ok: true, done: 'set calls, state, old' });
  expect(rows.get('1')?.fields).toEqual({ calls: 2, state: 'called' });
  expect(calls).toEqual(expected);
});

test('null empties a field', async () => {
  const { rows, ...desk } = fakeDesk(['1']);
  await actOnce(desk, set);
  await actOnce(desk, { ...set, params: { state: null } });
  expect(rows.get('1')?.fields).toEqual({ calls: 2, state: null });
});

test.each([
  [{ swallows: ['state'] }, 'Desk did not keep "state": look at what it takes, and at what guards it'],
  [
    { swallows: ['state'], silent: true as const },
    'Desk did not keep "state": look at what it takes, and at what guards it',
  ],
  [{ refuses: ['calls'] }, 'calls takes no such value'],
])('a field that the vendor does not keep, or refuses, is not told as set: %o', async (peculiar, message) => {
  const desk = fakeDesk(['1'], peculiar);
  expect(await actOnce(desk, set)).toMatchObject({
    ok: false,
    why: 'error',
    error: { message, advice: { kind: 'permanent' } },
  });
});

test.each([{}, { bulk: true as const }])('where one field is refused, no other field is set: %o', async (peculiar) => {
  const { rows, calls, ...desk } = fakeDesk(['1'], { ...peculiar, refuses: ['calls'] });
  await actOnce(desk, set);
  expect(rows.get('1')?.fields).toEqual({});
  expect(calls.filter((call) => call.startsWith('put'))).toHaveLength(1);
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
