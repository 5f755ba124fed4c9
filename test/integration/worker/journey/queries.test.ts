import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Journey, type JourneyState, journeyStates } from '../../../../worker/journey/journey.ts';
import { askedStates } from '../../../../worker/journey/outcomes.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { ifStill, mayComeBack, mayFollow, step } from '../../../../worker/journey/transitions.ts';
import { testSeal } from '../../../support/seal.ts';
import { listOf } from '../../../support/state-lists.ts';
import { claimOf, freshSource, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh, keys } = useStores();

describe('indexes', () => {
  const walk = fc.record({
    record: fc.integer({ min: 0, max: 3 }),
    closing: fc.integer({ min: 0, max: 1 }),
    way: fc.nat(),
    forget: fc.boolean(),
    person: fc.nat(2),
    into: fc.nat(20),
  });
  const contactOf = (person: number) => ({ kind: 'email', value: `p${person}@example.com` }) as const;
  test('they agree with the journeys after any walk, and nothing is left of those that are forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(walk, { minLength: 1, maxLength: 25 }), async (steps) => {
        const { store, now } = fresh();
        const ids = new Set<string>();
        for (const { record, closing, way, forget, person, into } of steps) {
          if (into < 4) await store.records.merge(`r${record}`, `r${into}`);
          const at = new Date(Date.UTC(2026, 4, 9 - 2 * record - closing));
          const { journey } = await store.getOrCreate(
            { ...claimOf(`r${record}`, `c${closing}`, `e${closing}`), closedAt: at },
            ['claimed'],
          );
          ids.add(journey.id);
          if (forget && way % 5 === 0) {
            await store.forget(journey);
            continue;
          }
          const mayGoOn = journey.state !== 'cancelled' || mayComeBack(journey);
          const ways = journeyStates.filter((to) => mayGoOn && mayFollow(journey.state, to));
          const to = ways[way % Math.max(1, ways.length)];
          if (to === undefined) continue;
          const changedAt = now();
          await store.update(journey.id, (before) => ({
            journey: step(before, to, changedAt, {
              ...(to === 'asked' ? { requestId: `request-${journey.id}` } : {}),
              ...(to === 'cancelled' ? { wasOut: true } : {}),
              ...(to === 'waiting'
                ? { dueAt: new Date(changedAt.getTime() + 3_600_000), contact: contactOf(person) }
                : {}),
            }),
            trace: [to],
          }));
        }
        const alive = await agree(store, ids);
        for (const journey of alive) expect(await store.forget(journey)).toBe(true);
        // Merges of records without journeys are remembered for a while.
        for (const key of await keys(`*${store.source}}:*`))
          expect([key, await redis.handle.client.pttl(key)]).not.toEqual([key, -1]);
      }),
      { numRuns: 40 },
    );
  });

  async function agree(store: JourneyStore, ids: Iterable<string>): Promise<Journey[]> {
    const alive = (await Promise.all([...ids].map((id) => store.get(id)))).filter((one) => one !== undefined);
    const expected = journeyStates.map((state) =>
      alive
        .filter((one) => one.state === state)
        .map(({ id }) => id)
        .sort(),
    );
    const found = await Promise.all(journeyStates.map(async (state) => (await store.lists.idsIn(state)).sort()));
    expect(found).toEqual(expected);
    expect(Object.values(await store.lists.counts())).toEqual(expected.map(({ length }) => length));
    const requests = alive.flatMap(({ requestId }) => (requestId === undefined ? [] : [requestId]));
    const owners = alive.flatMap(({ id, requestId }) => (requestId === undefined ? [] : [id]));
    expect(await store.requests.journeyIdsOf(requests)).toEqual(owners);
    for (const journey of alive.filter(({ state }) => askedStates.includes(state))) {
      expect((await store.records.historyOf(journey.recordId)).asked).toBeDefined();
    }
    for (const person of [0, 1, 2]) {
      const contact = contactOf(person);
      const theirs = alive.filter((one) => one.contact?.value === contact.value);
      const inOrder = theirs.toSorted((a, b) => a.closedAt.getTime() - b.closedAt.getTime()).map(({ id }) => id);
      expect((await store.queries.knownBy({ contact })).map(({ id }) => id)).toEqual(inOrder);
      const newest = await store.queries.newestKnownBy({ contact }, 2);
      expect([newest.journeys.map(({ id }) => id), newest.count]).toEqual([inOrder.slice(-2), inOrder.length]);
    }
    return alive;
  }

  test('waiting journeys stand by when they are due, others by their last change', async () => {
    const { store, now } = fresh();
    const due = (hour: number) => new Date(`2026-05-05T${hour}:00:00Z`);
    for (const [record, hour] of [
      ['late', 20],
      ['early', 10],
    ] as const) {
      const { journey } = await store.getOrCreate(claimOf(record, 'c', 'e'), []);
      await store.update(journey.id, (one) => ({
        journey: step(one, 'waiting', now(), { dueAt: due(hour) }),
        trace: [],
      }));
    }
    expect(await store.lists.idsIn('waiting')).toEqual(['early.1', 'late.1']);
    expect(await store.lists.idsIn('waiting', { before: due(12) })).toEqual(['early.1']);
    expect(await store.lists.idsIn('waiting', { limit: 1 })).toEqual(['early.1']);
  });

  test('each of hundreds leaves the list of a state with it, wherever it stood there and stands next', async () => {
    const { store, now } = fresh();
    const skipped = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const { journey } = await store.getOrCreate(claimOf(`r${n}`, 'c', 'e'), []);
        const at = new Date(Date.UTC(2026, 4, 5) + ((n * 7_919) % 300) * 60_000);
        return (await store.update(journey, ifStill('received', { to: 'skipped', at, why: '' }))) ?? journey;
      }),
    );
    const ids = await store.lists.idsIn('skipped');
    expect(ids).toHaveLength(300);
    await Promise.all(skipped.map((one) => store.update(one, ifStill('skipped', { to: 'received', at: now() }))));
    expect(await store.lists.idsIn('skipped')).toEqual([]);
    expect((await store.lists.idsIn('received')).toSorted()).toEqual(ids.toSorted());
    expect(await keys(`*${store.source}}:state:skipped*`)).toEqual([]);
  });

  test('newest gives the last changed first, over all states', async () => {
    const { store, now } = fresh();
    const newest = async (states: readonly JourneyState[]) => {
      const ids: string[] = [];
      for await (const { id } of store.queries.newest(states)) ids.push(id);
      return ids;
    };
    for (const record of ['a', 'b', 'c', 'd']) await store.getOrCreate(claimOf(record, 'c', 'e'), []);
    const change = async (id: string, to: JourneyState) =>
      await store.update(id, (one) => ({ journey: step(one, to, now()), trace: [] }));
    await change('b.1', 'skipped');
    await change('a.1', 'failed');
    expect(await newest(journeyStates)).toEqual(['a.1', 'b.1', 'd.1', 'c.1']);
    expect(await newest(['received', 'skipped'])).toEqual(['b.1', 'd.1', 'c.1']);
  });
});

describe('pagesIn', () => {
  const at = Date.parse('2026-05-04T09:00:00Z');

  /** The list of a state, and how many rows Redis gave of it. */
  function index() {
    const counted = { rows: 0 };
    const client = new Proxy(redis.handle.client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          const reply: unknown = await Reflect.apply(member, target, args);
          if (Array.isArray(reply)) counted.rows += reply.length / 2;
          return reply;
        };
      },
    });
    const store = new JourneyStore(client, freshSource(), { now: () => new Date(at), seal: testSeal });
    const list = listOf(redis.handle.client, store.source, 'waiting');
    return { store, counted, list };
  }

  test('it reads each of thousands that are due in one millisecond once, not with every page (audit loop)', async () => {
    const ids = Array.from({ length: 3_000 }, (_, i): [string, number] => [`r${i}.1`, at]);
    const { store, counted, list } = index();
    await list.add(ids);
    const found: string[] = [];
    for await (const page of store.queries.pagesIn('waiting', new Date(at), 100)) found.push(...page);
    expect(found.toSorted()).toEqual(ids.map(([id]) => id).toSorted());
    expect(counted.rows).toBeLessThan(3_200);
  });

  test('it gives all that stay, whatever of the others moves on meanwhile, and none that is not due', async () => {
    const ids = Array.from({ length: 60 }, (_, i): [string, number] => [`r${i}.1`, at + Math.floor(i / 20)]);
    const { store, list } = index();
    await list.add(ids);
    const found: string[] = [];
    const moved: string[] = [];
    for await (const page of store.queries.pagesIn('waiting', new Date(at + 1), 7)) {
      found.push(...page);
      // The last ones of the page, by which the next is found; one of them only gets another time.
      const [later = '', ...gone] = page.slice(found.length < 20 ? -7 : -3);
      await list.remove(ids.filter(([id]) => gone.includes(id) || id === later));
      await list.add([[later, at + 60_000]]);
      moved.push(later, ...gone);
    }
    const due = ids.flatMap(([id, score]) => (score <= at + 1 ? [id] : []));
    expect(new Set(found)).toEqual(new Set(due));
    expect(found.length - new Set(found).size).toBeLessThanOrEqual(moved.length);
  });
});
