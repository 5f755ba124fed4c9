import { describe, expect, test } from 'vitest';
import { batchesOf, chunks, sendApart, writeInBatches, writeInTurn } from '../../../../core/connector/batches.ts';
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

describe('items that one call refuses together', () => {
  const items = Array.from({ length: 100 }, (_, n) => ({ id: String(n), properties: { grade: String(n % 5) } }));
  const sent = async (isBad: (one: (typeof items)[number]) => boolean, blame: { place?: string; named?: true }) => {
    let calls = 0;
    const results = await sendApart(
      items,
      async (some) => {
        calls += 1;
        const bad = some.filter(isBad).map(({ id }) => id);
        if (bad.length === 0) return new Map(some.map(({ id }) => [id, 'written']));
        return { ids: blame.named ? bad : [], place: blame.place };
      },
      () => 'refused',
    );
    expect(items.map(({ id }) => results.get(id))).toEqual(items.map((one) => (isBad(one) ? 'refused' : 'written')));
    return calls;
  };

  test('are told apart by the value that is blamed, in a few calls', async () => {
    expect(await sent(({ properties }) => properties.grade === '3', { place: 'grade' })).toBeLessThanOrEqual(7);
  });

  test('are taken out where they are named', async () => {
    const isBad = ({ id }: { id: string }) => id === '7' || id === '60';
    expect(await sent(isBad, { named: true })).toBe(5);
  });

  test('are found by halving where nothing is said', async () => {
    expect(await sent(({ id }) => id === '61', {})).toBeLessThanOrEqual(15);
  });
});
