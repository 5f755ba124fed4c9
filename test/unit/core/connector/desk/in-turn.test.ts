import { expect, test } from 'vitest';
import type { ActionRequest } from '../../../../../core/connector/contract.ts';
import { inTurn } from '../../../../../core/connector/desk/in-turn.ts';
import { CloseloopError } from '../../../../../core/errors.ts';

const request = (recordId: string): ActionRequest => ({
  ...{ recordId, name: 'tag', params: ['x'], marker: `${recordId}.a1.low.0`, closing: '', again: false },
});

const rows = { isId: () => true, many: async (ids: readonly string[]) => new Map(ids.map((id) => [id, id])) };

const acting = (failure: Error) =>
  inTurn({
    rows,
    run: async (_, row) => ({ ok: true, done: `alone ${row}` }),
    together: () => Promise.reject(failure),
  });

test('what is refused in one call is done record by record, as one of them may be at fault', async () => {
  const act = acting(new CloseloopError('no such call', { kind: 'permanent' }));
  expect(await act([request('1'), request('2')])).toEqual([
    { ok: true, done: 'alone 1' },
    { ok: true, done: 'alone 2' },
  ]);
});

test.each([
  new CloseloopError('gave no answer', { kind: 'transient' }, { outcome: 'unknown' }),
  new CloseloopError('another shape', { kind: 'permanent' }, { outcome: 'unknown' }),
  new CloseloopError('a page', { kind: 'permanent', doubtful: true }),
  new CloseloopError('no right', { kind: 'config' }),
])('any other failure of the one call does nothing alone: %s', async (failure) => {
  await expect(acting(failure)([request('1'), request('2')])).rejects.toBe(failure);
});
