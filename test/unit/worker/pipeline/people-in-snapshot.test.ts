import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';
import { contactsIn, customersIn, withoutMentions } from '../../../../worker/pipeline/people-in-snapshot.ts';

const defaultCountry = 'EE' as const;

/** How many turns of the event loop there were meanwhile. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

describe('a delivery that holds as many numbers as one may', () => {
  const numbers = Array.from({ length: 4_000 }, (_, i) => `+372${5_500_000 + i}`);
  const shapes: [what: string, shape: object][] = [
    ['each by itself', { numbers }],
    ['all in one text', { text: numbers.join(', ') }],
  ];

  test.each(shapes)('has its contacts read a few in a turn of the event loop: %s (audit loop)', async (_, shape) => {
    let found: string[] = [];
    const turns = await turnsOf(async () => {
      found = await contactsIn({ shape }, { defaultCountry });
    });
    expect(found).toEqual(expect.arrayContaining(numbers));
    expect(turns).toBeGreaterThanOrEqual(35);
  });

  test('has somebody taken out of it a few in a turn, and what names too many goes whole (audit loop)', async () => {
    const snapshot = { shape: { numbers, many: numbers.join(', '), note: `call ${numbers[7]}, please` } };
    let left: unknown;
    const isContact = (key: string) => key === numbers[7];
    const turns = await turnsOf(async () => {
      left = await withoutMentions(snapshot, isContact, { defaultCountry });
    });
    expect(left).toEqual({ shape: { numbers: numbers.filter((_, i) => i !== 7), note: 'call ***, please' } });
    expect(turns).toBeGreaterThanOrEqual(35);
  });

  test('has only those taken for customers that a rule would look at (audit loop)', async () => {
    const customerContacts = [compileExpression('numbers')];
    const found = await customersIn({ shape: { numbers } }, { customerContacts, defaultCountry });
    expect(found.leads).toHaveLength(50);
    expect(found.keys).toContain(numbers[0]);
  });
});
