import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PollPage, SourceEvent } from '../../../../../core/connector/contract.ts';
import { listedSince, pollInTurn, pollWindow } from '../../../../../core/connector/desk/poll.ts';

interface Row {
  id: number;
  changed: Date;
}

const second = 1_000;
const start = Date.UTC(2026, 10, 20, 10);
const at = (seconds: number) => new Date(start + seconds * second);
const eventOf = ({ id, changed }: Row): SourceEvent => ({
  ...{ kind: 'closed', recordId: String(id), at: changed, key: `${id}.${changed.getTime()}`, what: 'closed' },
});

/** A poll over rows that a test moves about. `to the second`: as the vendor shows times. */
function pollOver(rows: Row[], { size = 3, unordered = false, clock = { now: at(600) } } = {}) {
  const asked: string[] = [];
  const poll = pollWindow<Row>(
    {
      async page(from, page) {
        asked.push(`${(from.getTime() - start) / second}/${page}`);
        const since = rows.filter(({ changed }) => changed >= from);
        const sorted = unordered ? since : since.toSorted((a, b) => a.changed.getTime() - b.changed.getTime());
        const found = sorted.slice((page - 1) * size, page * size);
        return { rows: found, isFull: found.length === size };
      },
      changedAt: ({ changed }) => changed,
      events: (row) => [eventOf(row)],
      ...(unordered && { isUnordered: true }),
    },
    { now: () => clock.now },
  );
  return { poll, asked, clock };
}

type Poll = ReturnType<typeof pollOver>['poll'];

/** Polls to the end of a run. */
async function run(poll: Poll, from: Parameters<Poll>[0], during: (page: PollPage) => void = () => {}) {
  const keys: string[] = [];
  for (let next = from, pages = 0; ; pages++) {
    expect(pages).toBeLessThan(100);
    const page = await poll(next);
    keys.push(...page.events.map(({ key }) => key));
    during(page);
    next = { cursor: page.cursor };
    if (page.done) return { keys, cursor: page.cursor };
  }
}

const rowsAt = (...seconds: number[]): Row[] => seconds.map((each, id) => ({ id, changed: at(each) }));

test('it moves its window on by the last row, and goes back a second for ties', async () => {
  const { poll, asked } = pollOver(rowsAt(1, 2, 5, 7, 9));
  const { keys } = await run(poll, { since: at(0) });
  expect(new Set(keys).size).toBe(5);
  expect(asked).toEqual(['0/1', '4/1', '8/1']);
});

test('it turns the page only within one second, there and back', async () => {
  const { poll, asked } = pollOver(rowsAt(4, 4, 4, 4, 4, 4, 4, 8));
  const { keys } = await run(poll, { since: at(3.4) });
  expect(new Set(keys).size).toBe(8);
  expect(asked).toEqual(['3/1', '3/2', '3/3', '3/2', '3/1']);
});

test('the next run begins a little before this one was asked, by the clock', async () => {
  const { poll, asked, clock } = pollOver(rowsAt(1));
  const { cursor } = await run(poll, { since: at(0) });
  clock.now = at(1_000);
  await run(poll, { cursor });
  expect(asked.at(-1)).toBe('480/1');
});

test('what happened before its time does not count, though its record was saved again', async () => {
  const old = { id: 1, changed: at(5) };
  const { poll } = pollOver([old]);
  expect((await run(poll, { since: at(6) })).keys).toEqual([]);
});

test('a list without order is paged to its end', async () => {
  const { poll, asked } = pollOver(rowsAt(9, 1, 7, 2), { unordered: true });
  const { keys } = await run(poll, { since: at(0) });
  expect(new Set(keys).size).toBe(4);
  expect(asked).toEqual(['0/1', '0/2', '0/1']);
});

test('what the end of a run keeps is there at the end of the next; the first page of all keeps nothing', async () => {
  const given: unknown[] = [];
  const rows = rowsAt(1, 2, 3, 4);
  const poll = pollWindow<Row>(
    {
      page: async (from) => {
        const found = rows.filter(({ changed }) => changed >= from).slice(0, 3);
        return { rows: found, isFull: found.length === 3 };
      },
      changedAt: ({ changed }) => changed,
      events: (row, run) => [{ ...eventOf(row), what: `${run.since.toISOString()} ${run.at.toISOString()}` }],
      atEnd: async (kept, time) => {
        given.push(kept);
        return { looks: given.length, time };
      },
    },
    { now: () => at(600) },
  );
  const whats = new Set<string>();
  const { cursor } = await run(poll, { since: at(0) }, ({ events }) => {
    for (const { what } of events) whats.add(what);
  });
  expect([...whats]).toEqual([`${at(0).toISOString()} ${at(600).toISOString()}`]);
  expect(given).toEqual([undefined]);
  await run(poll, { cursor });
  expect(given[1]).toEqual({ looks: 1, time: at(600).toISOString() });
  const first = await poll({ since: at(500) });
  expect([first.done, given.length]).toEqual([true, 2]);
});

test('a cursor of another version is refused, and not taken for an empty one', async () => {
  const { poll } = pollOver([]);
  await expect(poll({ cursor: '{"v":2}' })).rejects.toThrow();
});

test('records are listed by their change as long as that takes fewer calls than reading each', async () => {
  const rows = Array.from({ length: 9 }, (_, n) => ({ id: String(n), changed: at(n < 7 ? 120 : 121) }));
  const asked: string[] = [];
  const many = listedSince<(typeof rows)[number]>({
    async page(from, page) {
      asked.push(`${(from.getTime() - start) / second}/${page}`);
      const found = rows.filter(({ changed }) => changed >= from).slice((page - 1) * 3, page * 3);
      return { rows: found, isFull: found.length === 3 };
    },
    changedAt: ({ changed }) => changed,
  });
  expect([...(await many(['7', '8', 'gone', 'x'], at(120))).keys()]).toEqual([]);
  expect(asked.splice(0)).toEqual(['0/1', '120/1']);
  expect([...(await many(['5', '6', '7', '8', 'a', 'b', 'c', 'd', 'e', 'f'], at(120))).keys()]).toHaveLength(4);
  expect(asked.splice(0)).toEqual(['0/1', '120/1', '120/2', '120/3', '121/1']);
  expect([(await many(['1'], at(120))).size, (await many(['1', '2'])).size, asked.length]).toEqual([0, 0, 0]);
});

test('polls in turn each go to their end, and go on from their own cursors', async () => {
  const one = pollOver(rowsAt(1, 2, 3, 4));
  const other = pollOver(rowsAt(2));
  const both = pollInTurn([one.poll, other.poll]);
  const pages: boolean[] = [];
  const { cursor } = await run(both, { since: at(0) }, ({ done }) => pages.push(done));
  expect(pages).toEqual([false, false, false, true]);
  one.clock.now = at(1_000);
  await run(both, { cursor });
  expect([one.asked.at(-1), other.asked.at(-1)]).toEqual(['480/1', '480/1']);
});

/** Rows change while they are paged: a changed row goes to the end of the list, and others move up over the edge of a page. */
test('no change is missed, whatever changes while it is being read', async () => {
  const moves = fc.array(fc.record({ page: fc.nat(6), row: fc.nat(11) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(6), { minLength: 1, maxLength: 12 }), moves, async (seconds, changes) => {
      const rows = rowsAt(...seconds);
      const clock = { now: at(60) };
      const { poll } = pollOver(rows, { clock });
      let pages = 0;
      const told = new Set<string>();
      const change = () => {
        for (const { row } of changes.filter(({ page }) => page === pages)) {
          clock.now = new Date(clock.now.getTime() + second);
          const one = rows[row % rows.length];
          if (one) one.changed = clock.now;
        }
        pages++;
      };
      const { keys, cursor } = await run(poll, { since: at(0) }, change);
      for (const key of keys) told.add(key);
      for (const key of (await run(poll, { cursor })).keys) told.add(key);
      for (const row of rows) expect(told).toContain(eventOf(row).key);
    }),
  );
});
