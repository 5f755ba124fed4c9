import { describe, expect, test } from 'vitest';
import { batchesOf, chunks, writeInBatches, writeInTurn } from '../../../../core/connector/batches.ts';
import { VendorError } from '../../../../core/connector/classify.ts';
import type { WriteBack, WriteResult } from '../../../../core/connector/contract.ts';

const answer = (recordId: string, marker: string): WriteBack => ({
  recordId,
  status: 'answered',
  marker,
  grade: 9,
  comment: null,
  answeredAt: new Date('2026-11-21T22:30:15Z'),
  campaign: 'Support',
});
const items = [
  ...Array.from({ length: 150 }, (_, index) => answer(String(index), String(index))),
  answer('3', '150'),
  answer('3', '151'),
];

test.each([
  [0, []],
  [4, [['a', 'b', 'c']]],
  [3, [['a', 'b', 'c']]],
  [2, [['a', 'b'], ['c']]],
] as const)('a list is cut into pieces of at most %i', (size, expected) => {
  expect(chunks(size === 0 ? [] : ['a', 'b', 'c'], size || 1)).toEqual(expected);
});

describe('batches of answers', () => {
  const batches = batchesOf(items, 100);

  test('are no larger than the vendor takes, and name no record twice', () => {
    expect(batches.flat()).toHaveLength(items.length);
    for (const batch of batches) {
      expect(batch.length).toBeLessThanOrEqual(100);
      expect(new Set(batch.map(({ recordId }) => recordId)).size).toBe(batch.length);
    }
  });

  test('have later answers to a record in later batches', () => {
    const ofThree = batches.flat().filter(({ recordId }) => recordId === '3');
    expect(ofThree.map(({ marker }) => marker)).toEqual(['3', '150', '151']);
  });

  test('give their results in the order of the answers', async () => {
    const results = await writeInBatches(items, 100, async (batch) =>
      batch.map(({ marker }) => ({ ok: true, findings: [marker] })),
    );
    expect(results).toEqual(items.map(({ marker }) => ({ ok: true, findings: [marker] })));
  });

  test('may not be left without a result', async () => {
    await expect(writeInBatches(items, 100, async () => [])).rejects.toThrow('without a result');
  });
});

describe('answers written one by one', () => {
  const failed = (kind: 'permanent' | 'config', status = 400) =>
    new VendorError('x', { problem: 'p', remedy: 'r', advice: { kind }, outcome: 'refused', status, code: '' });
  const done: WriteResult = { ok: true, findings: [] };
  const gone: WriteResult = { ok: false, why: 'not-found', message: 'gone' };

  test('fail alone for their own reasons, and together for any other, without a further call', async () => {
    const errors = new Map([
      ['own', failed('permanent')],
      ['gone', failed('permanent', 404)],
      ['token', failed('config')],
    ]);
    const written: string[] = [];
    const results = await writeInTurn(
      ['own', 'a', 'gone', 'b', 'token', 'c'],
      async (item) => {
        written.push(item);
        const error = errors.get(item);
        if (error) throw error;
        return done;
      },
      () => gone,
    );
    const errorOf = (item: string) => ({ ok: false, why: 'error', error: errors.get(item) });
    expect(results).toEqual([errorOf('own'), done, gone, done, errorOf('token'), errorOf('token')]);
    expect(written).not.toContain('c');
  });

  test('hide no bug', async () => {
    const broken = async () => Promise.reject(new TypeError('a bug'));
    await expect(writeInTurn(['a'], broken, () => gone)).rejects.toThrow('a bug');
  });
});
