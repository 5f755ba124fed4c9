import { expect, test } from 'vitest';
import type { RecordEvent } from '../../../../core/connector/contract.ts';
import { createSweep, type SweepSearch } from '../../../../core/connector/sweep.ts';

const at = (text: string) => new Date(`2026-11-20T${text}Z`);
const closed = (recordId: string, time: string): RecordEvent => {
  return { kind: 'closed', recordId, at: at(time), key: recordId, what: 'closed' };
};

/** A sweep over searches that give these pages, and what each was asked. */
function sweepOver(...searches: RecordEvent[][][]) {
  const clock = { now: at('12:00:00') };
  const asked: [search: number, from: string, after: string | undefined][] = [];
  const over = searches.map(
    (pages, search): SweepSearch => ({
      async page(from, after) {
        asked.push([search, from.toISOString().slice(0, 19), after]);
        const n = Number(after ?? 0);
        return { events: pages[n] ?? [], next: n + 1 < pages.length ? String(n + 1) : undefined };
      },
    }),
  );
  const deep = { everyMs: 86_400_000, backMs: 3 * 86_400_000 };
  const poll = createSweep(over, { now: () => clock.now, overlapMs: 120_000, deep });
  return { clock, asked, poll };
}

test('it goes through the pages of one search after the other, in the order of time, without what was before', async () => {
  const { poll, asked } = sweepOver(
    [[closed('2', '11:30:00'), closed('1', '11:10:00')], [closed('0', '10:59:59')]],
    [[]],
  );
  const first = await poll({ since: at('11:00:00.700') });
  expect(first).toMatchObject({ done: false, reached: at('11:00:00') });
  expect(first.events.map(({ key }) => key)).toEqual(['1', '2']);
  const second = await poll({ cursor: first.cursor });
  expect(second).toMatchObject({ events: [], done: false });
  const third = await poll({ cursor: second.cursor });
  expect(third).toMatchObject({ events: [], done: true, reached: at('12:00:00') });
  const from = '2026-11-20T11:00:00';
  expect(asked).toEqual([
    [0, from, undefined],
    [0, from, '1'],
    [1, from, undefined],
  ]);
});

test('the next one begins a little before the last one did, however long that took', async () => {
  const { poll, asked, clock } = sweepOver([[], []]);
  const first = await poll({ since: at('11:00:00') });
  clock.now = at('12:30:00');
  const { cursor } = await poll({ cursor: first.cursor });
  clock.now = at('12:40:00');
  await poll({ cursor });
  expect(asked.at(-1)).toEqual([0, '2026-11-20T11:58:00', undefined]);
});

test('once in a while it goes further back, but not to before it first began', async () => {
  const { poll, asked, clock } = sweepOver([[]]);
  let { cursor } = await poll({ since: at('11:00:00') });
  const froms: (string | undefined)[] = [];
  for (const days of [1, 1.01, 5]) {
    clock.now = new Date(at('12:00:00').getTime() + days * 86_400_000);
    ({ cursor } = await poll({ cursor }));
    froms.push(asked.at(-1)?.[1]);
  }
  expect(froms).toEqual(['2026-11-20T11:00:00', '2026-11-21T11:58:00', '2026-11-22T12:00:00']);
});

test('it is done where a page names itself as the next one, and where its search is no more', async () => {
  const circle: SweepSearch = { page: async () => ({ events: [], next: 'again' }) };
  const poll = createSweep([circle], { now: () => at('12:00:00'), overlapMs: 0 });
  const first = await poll({ since: at('11:00:00') });
  expect(first.done).toBe(false);
  const second = await poll({ cursor: first.cursor });
  expect(second.done).toBe(true);
  const none = createSweep([], { now: () => at('12:00:00'), overlapMs: 0 });
  expect(await none({ cursor: first.cursor })).toMatchObject({ events: [], done: true });
});
