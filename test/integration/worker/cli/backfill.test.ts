import { describe, expect, test } from 'vitest';
import { backfill } from '../../../../worker/cli/backfill.ts';
import { startLoop } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { daysAgo, idle, printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

describe('backfill', () => {
  /** Closed on each of the last ten days, three to a page of the poll. */
  function past(vendor: ToyVendor) {
    const closed = Array.from({ length: 10 }, (_, i) => ({ id: `p${i}`, at: daysAgo(10 - i) }));
    for (const { id, at } of closed) vendor.close(id, { state: { is: 'closed', closing: 'one', closedAt: at } });
    const seen: string[] = [];
    vendor.pages = async (from) => {
      const after = 'cursor' in from ? -1 : closed.findIndex(({ at }) => at >= from.since);
      const start = 'cursor' in from ? Number(from.cursor) : after < 0 ? closed.length : after;
      if (start < closed.length) seen.push('cursor' in from ? from.cursor : 'since');
      const page = closed.slice(start, start + 3);
      const events = page.map(({ id, at }) => ({
        kind: 'closed' as const,
        recordId: id,
        at,
        key: `past:${id}`,
        what: 'toy poll',
      }));
      return {
        events,
        cursor: String(start + 3),
        done: start + 3 >= closed.length,
        reached: page.at(-1)?.at ?? new Date(),
      };
    };
    return seen;
  }
  const options = { perHour: 1_000_000 };

  test('it asks about closings between two days, once however often it runs', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: daysAgo(7.5).toISOString(), until: daysAgo(2.5).toISOString() };
    const { rows } = await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    expect(rows).toMatchObject([{ queued: 5 }]);
    for (const id of ['p3', 'p4', 'p5', 'p6', 'p7']) await loop.journey(`${id}.1`, 'asked');
    await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    await idle(loop);
    expect(loop.feedback.standin.requests()).toHaveLength(5);
    expect((await loop.store.trace('p3.1'))[0]?.text).toMatch(/backfill/);
  });

  test("it begins a day on the account's clock, whatever the machine's is (audit 32)", async () => {
    const vendor = new ToyVendor();
    const from: unknown[] = [];
    vendor.pages = async (at) => {
      from.push(at);
      return { events: [], cursor: '0', done: true, reached: new Date() };
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: '2026-02-01', until: '2026-02-02T12:00' };
    await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    // The harness has its account in Europe/Tallinn.
    expect(from).toEqual([{ since: new Date('2026-01-31T22:00:00Z') }]);
  });

  test('it finds a closing between two days though its record was touched after them', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    // Pages are in the order of the last change: the first two of the range come last.
    const pages = vendor.pages;
    vendor.pages = async (from) => {
      const page = (await pages?.(from)) ?? expect.fail('no pages');
      const touched = ['p3', 'p4'].map((id) => ({
        kind: 'closed' as const,
        recordId: id,
        at: daysAgo(10 - Number(id.slice(1))),
        key: `past:${id}`,
        what: 'toy poll',
      }));
      const events = page.events.filter((event) => 'recordId' in event && !['p3', 'p4'].includes(event.recordId));
      return { ...page, events: page.done ? [...events, ...touched] : events };
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: daysAgo(7.5).toISOString(), until: daysAgo(4.5).toISOString() };
    const { rows } = await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    expect(rows).toMatchObject([{ queued: 3 }]);
    for (const id of ['p3', 'p4', 'p5']) await loop.journey(`${id}.1`, 'asked');
  });

  test('it queues no more than the limit, also when it goes on with a lower one', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const since = daysAgo(10.5);
    const range = { source: loop.store.source, since: since.toISOString(), perHour: 1 };
    const key = `{cl:${loop.store.source}}:backfill:${since.toISOString()}`;
    await redis.handle.client.hset(key, { cursor: '3', queued: 4, slot: Date.now() });
    const { rows } = await printed(() => backfill({ ...beside(loop), ...range, limit: 2 }));
    expect(rows).toMatchObject([{ queued: 4 }]);
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    expect(await queue.getDelayedCount()).toBe(0);
  });

  test('it does not hold up the webhook of a closing that it has queued for later', async () => {
    const vendor = new ToyVendor();
    vendor.pages = async () => ({
      events: ['first', 'fresh'].map((id) => ({
        kind: 'closed' as const,
        recordId: id,
        at: new Date(),
        key: `same:${id}`,
        what: 'toy poll',
      })),
      cursor: 'end',
      done: true,
      reached: new Date(),
    });
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    vendor.close('first');
    const { at } = vendor.close('fresh');
    const range = { source: loop.store.source, since: daysAgo(1).toISOString(), perHour: 1 };
    await printed(() => backfill({ ...beside(loop), ...range, until: new Date(Date.now() + 60_000).toISOString() }));
    await loop.post(vendor.delivery([{ kind: 'closed', id: 'fresh', at, key: 'same:fresh' }]));
    await loop.journey('fresh.1', 'asked');
  });

  test('it goes on where it was interrupted, and keeps to so many an hour', async () => {
    // The loop's own poll makes the first call.
    const vendor = new ToyVendor();
    const seen = past(vendor);
    const pages = vendor.pages;
    let calls = 0;
    vendor.pages = async (from) => {
      if (++calls === 4) throw new Error('interrupted');
      return (await pages?.(from)) ?? expect.fail('no pages');
    };
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const range = { source: loop.store.source, since: daysAgo(10.5).toISOString(), perHour: 4 };
    await expect(printed(() => backfill({ ...beside(loop), ...range }))).rejects.toThrow('interrupted');
    // Another range than the interrupted one: it begins anew, as that one has left out what lies between the two.
    const other = { ...range, until: daysAgo(8.5).toISOString() };
    expect((await printed(() => backfill({ ...beside(loop), ...other }))).rows).toMatchObject([{ queued: 2 }]);
    expect(seen.splice(3)).toEqual(['since', '3', '6', '9']);
    const { rows } = await printed(() => backfill({ ...beside(loop), ...range }));
    expect(rows).toMatchObject([{ queued: 10 }]);
    expect(seen).toEqual(['since', '3', '6', '9']);
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    const due = (await queue.getDelayed())
      .map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0))
      .toSorted((a, b) => a - b);
    expect(due.length).toBeGreaterThanOrEqual(9);
    for (let i = 1; i < due.length; i++) expect((due[i] ?? 0) - (due[i - 1] ?? 0)).toBeGreaterThan(890_000);
    await queue.obliterate({ force: true });
  });

  test.each([
    [2, 1],
    [0.5, 0],
  ])('it says that journeys of %s days ago were removed here after a day, if they were', async (days, times) => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'retention: { journeys: 1d }' });
    const range = { source: loop.store.source, since: daysAgo(days).toISOString(), perHour: 1 };
    const { said } = await sayings(() => backfill({ ...beside(loop), ...range }));
    expect(said.filter((line) => /retention\.journeys.*asked again/.test(line))).toHaveLength(times);
  });

  test('it refuses dates that make no sense, and vendors that can not look back', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const about = { ...beside(loop), ...options, source: loop.store.source };
    await expect(backfill({ ...about, since: '2026-02-01', until: '2026-01-01' })).rejects.toThrow(/before --until/);
    await expect(backfill({ ...about, since: 'May' })).rejects.toThrow(/--since/);
    await expect(backfill({ ...about, since: '1969-12-31' })).rejects.toThrow(/--since must be 1970/);
    await expect(backfill({ ...about, since: '9999-01-01' })).rejects.toThrow(/^--since is in the future/);
    for (const since of ['2026-02-31', '2025-02-29T08:00:00Z', '2026-02-01 or so (UTC)'])
      await expect(backfill({ ...about, since })).rejects.toThrow(/--since/);
    await expect(backfill({ ...about, since: '2026-02-01' })).rejects.toThrow(/no poll/);
  });
});
