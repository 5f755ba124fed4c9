import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from '../../../../worker/intake/turns.ts';

/** What is done in each turn of the event loop, while there is something to do. */
async function done(budget: number, costs: readonly number[]): Promise<number[][]> {
  const turns = new Turns(budget);
  const all: number[][] = [[]];
  for (const cost of costs) turns.enter(cost, () => all.at(-1)?.push(cost));
  for (let left = costs.length; left > 0; left = costs.length - all.flat().length) {
    await nextTurn();
    all.push([]);
  }
  return all.filter((turn) => turn.length > 0);
}

test('a turn is given what it may hold, or one thing alone, first come, first served (audit loop)', async () => {
  expect(await done(10, [4, 4, 4, 30, 1, 9, 1])).toEqual([[4, 4], [4], [30], [1, 9], [1]]);
});

test('whoever enters again waits for the next turn (audit loop)', async () => {
  const turns = new Turns(10);
  const seen: string[] = [];
  const work = (name: string, times: number): void =>
    turns.enter(1, () => {
      seen.push(name);
      if (times > 1) work(name, times - 1);
    });
  work('greedy', 4);
  work('other', 1);
  await nextTurn();
  expect(seen).toEqual(['greedy', 'other']);
  while (seen.length < 5) await nextTurn();
  expect(seen).toEqual(['greedy', 'other', 'greedy', 'greedy', 'greedy']);
});
