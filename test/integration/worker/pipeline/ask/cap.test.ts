import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { closedAs, eventOf, open, type UnitContext, useManual } from '../../../../support/manual.ts';

const service = useManual();
const minute = 60_000;
/** 09:00 in Tallinn, a Monday. */
const nine = Date.parse('2026-11-23T07:00:00Z');

/** A source whose clock is moved by hand, and whose campaign asks from nine to nineteen. */
function unit(rule: string, general = '') {
  let now = nine;
  const clock = {
    ...liveClock,
    now: () => new Date(now),
    until: (at: Date) => Math.max(0, at.getTime() - now),
  };
  const it = service.unitContext({
    rule: `{ name: all, campaign: 300, contact: customer.email, ${rule} }`,
    general,
    clock,
  });
  return {
    ...it,
    at: (time: number) => {
      now = time;
      service.standin.moveClock({ now: new Date(time) });
    },
    now: () => now,
  };
}
type Unit = ReturnType<typeof unit>;

beforeEach(() => {
  const hours = { sendFrom: '09:00:00', sendUntil: '19:00:00' };
  service.standin.addCampaign({ account: 'acme', id: 300, name: 'Hours', type: 'email', ...hours });
});

async function closes({ context, vendor, now }: Unit, id: string): Promise<void> {
  vendor.close(id, { customer: { email: `${id}@b.ee` }, ...closedAs(`closing of ${id}`, new Date(now() - minute)) });
  await plan(eventOf(id, { at: new Date(now() - minute), receivedAt: new Date(now()) }), context);
}
const get = async ({ store }: Pick<UnitContext, 'store'>, id: string) =>
  (await store.get(`${id}.1`)) ?? expect.fail(`no ${id}`);
const idsOf = (count: number, name = 'r') => Array.from({ length: count }, (_, i) => `${name}${i}`);

/** Each asks when it is due, until none is left that is due before `until`. @returns when they asked, by the minute after nine */
async function askAll(it: Unit, ids: readonly string[], until = Number.POSITIVE_INFINITY): Promise<number[]> {
  const asked: number[] = [];
  let waiting = [...ids];
  while (waiting.length > 0) {
    const due = await Promise.all(
      waiting.map(async (id) => ({ id, at: Math.max(it.now(), (await get(it, id)).dueAt?.getTime() ?? 0) })),
    );
    const next = due.reduce((one, other) => (other.at < one.at ? other : one));
    if (next.at > until) break;
    it.at(next.at);
    await ask({ journeyId: `${next.id}.1` }, it.context);
    const { state } = await get(it, next.id);
    if (state === 'asked') asked.push((it.now() - nine) / minute);
    if (state !== 'waiting') waiting = waiting.filter((id) => id !== next.id);
  }
  return asked;
}

describe('a cap', () => {
  test('of an hour spreads requests over each, and the next hour takes those that pass it', async () => {
    const it = unit('cap: { hour: 4 }');
    const ids = idsOf(10);
    for (const id of ids) await closes(it, id);
    expect(await askAll(it, ids)).toEqual([0, 15, 30, 45, 60, 75, 90, 105, 120, 135]);
    expect(await it.trace('r1.1')).toMatch(/cap of 4 an hour of rule "all" of calm: moved from 09:00 to 09:15/);
  });

  test('of a day spreads them over the window, and the next open day takes those that pass it', async () => {
    const it = unit('cap: { day: 5 }');
    const ids = idsOf(6);
    for (const id of ids) await closes(it, id);
    expect(await askAll(it, ids)).toEqual([0, 120, 240, 360, 480, 24 * 60]);
    expect(await it.trace('r5.1')).toMatch(
      /cap of 5 a day of rule "all" of calm: moved from 09:00 to 2026-11-24 09:00/,
    );
  });

  test('lets those that come late have the places that nobody used', async () => {
    const it = unit('cap: { day: 10 }');
    it.at(nine + 301 * minute);
    const ids = idsOf(8);
    for (const id of ids) await closes(it, id);
    const asked = await askAll(it, ids);
    expect(asked).toEqual([301, 301, 301, 301, 301, 301, 360, 420]);
  });

  test('of a campaign, of a group and of everything hold together', async () => {
    const policy = 'campaigns: { 300: { cap: { hour: 6 } } }, groups: { all: { campaigns: [300], cap: { hour: 3 } } }';
    const it = unit('again: never', `policy: { cap: { day: 4 }, ${policy} }`);
    const ids = idsOf(5);
    for (const id of ids) await closes(it, id);
    expect(await askAll(it, ids)).toEqual([0, 150, 300, 450, 24 * 60]);
    expect(await it.trace('r1.1')).toMatch(/cap of 4 a day of policy: moved from 09:00 to 11:30/);
  });

  test('counts nobody who was not asked: their place is given to another', async () => {
    const it = unit('cap: { day: 2 }');
    for (const id of ['a', 'b', 'c']) await closes(it, id);
    for (const id of ['a', 'b']) await ask({ journeyId: `${id}.1` }, it.context);
    expect(await get(it, 'b')).toMatchObject({ state: 'waiting', dueAt: new Date(nine + 300 * minute) });
    it.vendor.close('b', open);
    await plan(eventOf('b', { kind: 'changed' }), it.context);
    await ask({ journeyId: 'c.1' }, it.context);
    expect(await get(it, 'c')).toMatchObject({ state: 'waiting', dueAt: new Date(nine + 300 * minute) });
  });

  test('gives a journey one place, however often it is looked at before its time', async () => {
    const it = unit('cap: { hour: 4 }');
    for (const id of idsOf(3)) await closes(it, id);
    for (let n = 0; n < 3; n++) for (const id of idsOf(3)) await ask({ journeyId: `${id}.1` }, it.context);
    const due = await Promise.all(idsOf(3).map(async (id) => (await get(it, id)).dueAt?.getTime()));
    expect(due.slice(1)).toEqual([nine + 15 * minute, nine + 30 * minute]);
  });

  test('that a worker was killed at keeps one place for its journey', async () => {
    const it = unit('cap: { hour: 1 }');
    await closes(it, 'a');
    await closes(it, 'b');
    const { context } = it;
    await ask({ journeyId: 'a.1' }, context);
    const read = () => Promise.reject(new Error('killed'));
    it.at(nine + 60 * minute);
    await expect(ask({ journeyId: 'b.1' }, { ...context, read })).rejects.toThrow('killed');
    await ask({ journeyId: 'b.1' }, context);
    expect(await get(it, 'b')).toMatchObject({ state: 'asked' });
  });
});

test('no hour and no day has more requests than its caps, none leaves its window, and nobody is left out', async () => {
  const caps = fc.record({ hour: fc.integer({ min: 1, max: 5 }), day: fc.integer({ min: 2, max: 12 }) });
  const arrivals = fc.array(fc.integer({ min: 0, max: 20 * 60 }), { minLength: 5, maxLength: 25 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(caps, caps, arrivals, async (own, all, minutes) => {
      await service.redis.handle.client.flushdb();
      const it = unit(`cap: ${JSON.stringify(own)}`, `policy: { cap: ${JSON.stringify(all)} }`);
      const name = `p${run++}-`;
      const ids = idsOf(minutes.length, name);
      const asked: number[] = [];
      for (const [i, at] of minutes.toSorted((a, b) => a - b).entries()) {
        asked.push(...(await askAll(it, await waitingOf(it, ids.slice(0, i)), nine + at * minute)));
        it.at(nine + at * minute);
        await closes(it, ids[i] ?? '');
      }
      asked.push(...(await askAll(it, await waitingOf(it, ids))));
      expect(asked).toHaveLength(ids.length);
      const day = 24 * 60;
      for (const at of asked) expect(at % day).toBeLessThan(10 * 60);
      const most = (lengthMin: number) =>
        Math.max(...[...Map.groupBy(asked, (at) => Math.floor(at / lengthMin)).values()].map(({ length }) => length));
      expect(most(60)).toBeLessThanOrEqual(Math.min(own.hour, all.hour));
      expect(most(day)).toBeLessThanOrEqual(Math.min(own.day, all.day));
    }),
    { numRuns: 8 },
  );
});

async function waitingOf(it: Unit, ids: readonly string[]): Promise<string[]> {
  const states = await Promise.all(ids.map(async (id) => (await get(it, id)).state));
  return ids.filter((_, i) => states[i] === 'waiting');
}
