import { expect, test } from 'vitest';
import { z } from 'zod';
import { forgetter } from '../../../../connectors/webhook/receiver.ts';
import { CloseloopError } from '../../../../core/errors.ts';

const at = new Date('2026-11-22T10:00:00Z');
const posted: { id: string; event: object }[] = [];
const post = async (id: string, event: object) => {
  posted.push({ id, event });
  const { data } = z.object({ data: z.object({ record: z.string() }) }).parse(event);
  if (data.record === 'gone') return 'not-found' as const;
  if (data.record === 'odd') throw new CloseloopError('the receiver answered 422', { kind: 'permanent' });
  if (data.record === 'away') throw new CloseloopError('the receiver is away', { kind: 'transient' });
  return 'taken' as const;
};

test('it tells the receiver which answers to forget, once each, and the proof what it can not know (audit 7)', async () => {
  const forget = forgetter(post, { now: () => at });
  expect(await forget(['J%207', 'gone', 'odd', 'J%207'])).toEqual([
    'the receiver answered 422',
    'what the receiver of answers keeps: it was told to forget those of 1 records',
    'what the receiver of answers keeps of 1 records: it answered 404, as if it did not know them',
  ]);
  expect(posted.map(({ event }) => event)).toEqual(
    ['J 7', 'gone', 'odd'].map((record) => ({
      type: 'feedback.erased',
      timestamp: '2026-11-22T10:00:00.000Z',
      data: { record },
    })),
  );
  expect(new Set(posted.map(({ id }) => id)).size).toBe(3);
  expect(await forget([])).toEqual([]);
  expect(await forget([`digest-${'x'.repeat(22)}`])).toEqual([
    'what the receiver of answers keeps of 1 records: their ids were erased before it could be told',
  ]);
  await expect(forget(['away'])).rejects.toMatchObject({ advice: { kind: 'transient' } });
});
