import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Journey, type JourneyState, journeyStates } from '../../../../worker/journey/journey.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { askedStates, erased, ifStill, mayComeBack, mayFollow, step } from '../../../../worker/journey/transitions.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { listOf } from '../../../support/state-lists.ts';

const redis = useRedis();
let sources = 0;

/** A store of its own, on a clock that goes on a second at every look. */
function fresh(): { store: JourneyStore; now: () => Date } {
  let ms = Date.parse('2026-05-04T09:00:00Z');
  const now = () => {
    ms += 1_000;
    return new Date(ms);
  };
  return { store: new JourneyStore(redis.handle.client, `store-${++sources}`, { now, seal: testSeal }), now };
}

function claimOf(recordId: string, closing: string, eventKey: string) {
  const at = new Date('2026-05-04T08:00:00Z');
  return { recordId, closing, closedAt: at, eventKey, receivedAt: at };
}

async function keys(pattern: string): Promise<string[]> {
  const { client } = redis.handle;
  return await client.keys(pattern);
}

describe('claim', () => {
  test('it makes one journey of 50 claims at once, of one closing by two events', async () => {
    const { store } = fresh();
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.getOrCreate(claimOf('r', 'first', i % 2 ? 'webhook' : 'trigger'), ['here']),
      ),
    );
    expect(new Set(claims.map(({ journey }) => journey.id))).toEqual(new Set(['r.1']));
    expect(claims.filter(({ created }) => created)).toHaveLength(1);
    expect(await store.trace('r.1')).toMatchObject([{ text: 'here' }]);
    expect((await store.queries.counts()).received).toBe(1);
    for (const key of ['webhook', 'trigger'])
      expect((await (await store.records.read('r')).journeyOf(key, undefined))?.id).toBe('r.1');
  });

  test('it takes an event that is known for its first closing, whatever the record says now', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(await store.getOrCreate(claimOf('r', 'second', 'a'), [])).toMatchObject({
      created: false,
      journey: { id: 'r.1' },
    });
    expect(await store.getOrCreate(claimOf('r', 'second', 'b'), [])).toMatchObject({
      created: true,
      journey: { id: 'r.2' },
    });
    expect(await store.records.historyOf('r')).toEqual({ latest: 'r.2', asked: undefined });
  });

  test('it keeps records and sources apart', async () => {
    const [one, other] = [fresh().store, fresh().store];
    for (const [store, record] of [
      [one, 'a'],
      [one, 'b'],
      [other, 'a'],
    ] as const) {
      expect(await store.getOrCreate(claimOf(record, 'first', 'same'), [])).toMatchObject({
        created: true,
        journey: { id: `${record}.1`, source: store.source, state: 'received' },
      });
    }
    expect(await (await one.records.read('a')).journeyOf('never seen', undefined)).toBeUndefined();
  });

  test('it starts anew, without an error, when the journey of a late event has been removed', async () => {
    const { store } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.getOrCreate(claimOf('r', 'second', 'b'), []);
    await store.forget(journey);
    const again = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(again.created).toBe(true);
  });
});

describe('a draft', () => {
  const draftOf = async ({ store }: ReturnType<typeof fresh>, closing: string, event: string) => {
    const { id } = await store.records.nameOf('r', closing);
    return store.drafts.make(id, claimOf('r', closing, event), ['received']);
  };

  test('it is stored by its first change, with what was written before and then, and found by its event and its person', async () => {
    const made = fresh();
    const { store, now } = made;
    const draft = await draftOf(made, 'first', 'a');
    expect(await store.get(draft.id)).toBeUndefined();
    const contact = { kind: 'email', value: 'draft@example.com' } as const;
    const waiting = await store.update(draft, (journey) => ({
      journey: step(journey, 'waiting', now(), { contact }),
      trace: ['waits'],
    }));
    expect(await store.get('r.1')).toEqual(waiting);
    expect(waiting).toMatchObject({ id: 'r.1', state: 'waiting', contact });
    expect((await store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits']);
    expect((await (await store.records.read('r')).journeyOf('a', undefined))?.id).toBe('r.1');
    expect((await store.queries.of({ contact })).map(({ id }) => id)).toEqual(['r.1']);
    expect(await store.queries.counts()).toMatchObject({ received: 0, waiting: 1 });
    // What was returned is changed further without being read again.
    await store.note(waiting ?? draft, 'a note');
    expect((await store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits', 'a note']);
  });

  test.each([
    ['its closing has a journey by now', 'first', 'b'],
    ['its event has a journey by now', 'second', 'a'],
    ['its number is that of another closing by now', 'second', 'b'],
  ])('it is not stored where %s', async (_, closing, event) => {
    const made = fresh();
    const { store, now } = made;
    const draft = await draftOf(made, 'first', 'a');
    await store.getOrCreate(claimOf('r', closing, event), []);
    const waits = (journey: Journey) => ({ journey: step(journey, 'waiting', now()), trace: ['waits'] });
    expect(await store.update(draft, waits)).toBeUndefined();
    expect(await store.queries.counts()).toMatchObject({ received: 1, waiting: 0 });
    expect((await store.records.historyOf('r')).latest).toBe('r.1');
  });

  test('it is kept as it is where nothing could be decided', async () => {
    const made = fresh();
    const draft = await draftOf(made, 'first', 'a');
    await made.store.keep(draft, []);
    expect(await made.store.get('r.1')).toEqual(draft);
    await made.store.keep(draft, ['waits']);
    expect((await made.store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits']);
  });
});

describe('update', () => {
  test('it loses no change of 40 at once', async () => {
    const { store, now } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    const wait = async (n: number) =>
      await store.update('r.1', (journey) => ({
        journey: step(journey, 'waiting', now(), { values: { ...journey.values, [`n${n}`]: n } }),
        trace: [`n${n}`],
      }));
    await Promise.all(Array.from({ length: 40 }, (_, n) => wait(n)));
    const names = Array.from({ length: 40 }, (_, n) => `n${n}`).sort();
    expect(Object.keys((await store.get('r.1'))?.values ?? {}).sort()).toEqual(names);
    expect((await store.trace('r.1')).map(({ text }) => text).sort()).toEqual(names);
    expect(await store.queries.counts()).toMatchObject({ received: 0, waiting: 1 });
  });

  test('it lets one of many win a step that only one may make', async () => {
    const { store, now } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.update('r.1', (journey) => ({ journey: step(journey, 'waiting', now()), trace: [] }));
    const attempts = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.update('r.1', (journey) =>
          journey.state === 'waiting'
            ? { journey: step(journey, 'creating', now(), { rule: `worker ${i}` }), trace: ['creating'] }
            : undefined,
        ),
      ),
    );
    expect(new Set(attempts.map((journey) => journey?.rule)).size).toBe(1);
    expect(await store.trace('r.1')).toHaveLength(1);
  });

  test('it leaves alone what is declined, and knows no journey that is not there', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(await store.update('r.1', () => undefined)).toMatchObject({ id: 'r.1', state: 'received' });
    expect(await store.update('r.9', () => expect.fail('shown a journey'))).toBeUndefined();
  });
});

test('what a newer version has stored in a journey is kept by one that does not know it, and goes with an erasure (audit 18)', async () => {
  const { store, now } = fresh();
  await store.getOrCreate(claimOf('r', 'first', 'e'), []);
  const contact = Object.assign({ kind: 'email', value: 'e@example.com' } as const, { verified: true });
  await store.update('r.1', (one) => ({
    journey: Object.assign(step(one, 'waiting', now(), { contact }), { ofNextYear: { at: 'noon' } }),
    trace: [],
  }));
  await store.update('r.1', (one) => ({
    journey: step(one, 'waiting', now(), { place: { timeZone: 'UTC' } }),
    trace: [],
  }));
  const kept = await store.get('r.1');
  expect(kept).toMatchObject({ ofNextYear: { at: 'noon' }, contact: { verified: true }, place: { timeZone: 'UTC' } });
  await store.update('r.1', (one) => ({ journey: erased(one, now()), trace: [] }));
  expect(await store.get('r.1')).not.toHaveProperty('ofNextYear');
});

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
    const found = await Promise.all(journeyStates.map(async (state) => (await store.queries.idsIn(state)).sort()));
    expect(found).toEqual(expected);
    expect(Object.values(await store.queries.counts())).toEqual(expected.map(({ length }) => length));
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
    expect(await store.queries.idsIn('waiting')).toEqual(['early.1', 'late.1']);
    expect(await store.queries.idsIn('waiting', { before: due(12) })).toEqual(['early.1']);
    expect(await store.queries.idsIn('waiting', { limit: 1 })).toEqual(['early.1']);
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
    const ids = await store.queries.idsIn('skipped');
    expect(ids).toHaveLength(300);
    await Promise.all(skipped.map((one) => store.update(one, ifStill('skipped', { to: 'received', at: now() }))));
    expect(await store.queries.idsIn('skipped')).toEqual([]);
    expect((await store.queries.idsIn('received')).toSorted()).toEqual(ids.toSorted());
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

  test('journeyIdsOf tells ours from others', async () => {
    const { store, now } = fresh();
    await store.getOrCreate(claimOf('r', 'c', 'e'), []);
    for (const [to, more] of [
      ['waiting', {}],
      ['creating', {}],
      ['asked', { requestId: '77' }],
    ] as const) {
      await store.update('r.1', (one) => ({ journey: step(one, to, now(), more), trace: [] }));
    }
    expect(await store.requests.journeyIdsOf(['1', '77', 'seventy-seven'])).toEqual([undefined, 'r.1', undefined]);
    expect(await store.requests.journeyIdsOf([])).toEqual([]);
    expect(await store.records.historyOf('r')).toEqual({
      latest: 'r.1',
      asked: 'r.1',
      askedClosedAt: expect.any(Date),
    });
  });

  test.each([
    ['r', 1, 'r'],
    ['100', 1, '100'],
    ['100', 2, '100.2'],
    ['a.b', 1, 'a.b.1'],
    ['a.1', 1, 'a.1.1'],
  ])(
    'a request of record %s by its journey %d is noted as %j, and stays that journey’s',
    async (record, nth, entry) => {
      const { store, now } = fresh();
      for (let n = 1; n <= nth; n++) await store.getOrCreate(claimOf(record, `closing ${n}`, `event ${n}`), []);
      await store.getOrCreate(claimOf('other', 'c', 'e'), []);
      const take = async (id: string, requestId: string) =>
        await store.update(id, (one) => ({ journey: { ...one, requestId, updatedAt: now() }, trace: [] }));
      const owner = `${record}.${nth}`;
      await take(owner, '77');
      const { client } = redis.handle;
      const [bucket = ''] = await client.keys(`{cl:${store.source}}:requests:*`);
      expect(await client.hget(bucket, '77')).toBe(entry);
      // As it was noted formerly, too.
      for (const noted of [entry, owner]) {
        await client.hset(bucket, '77', noted);
        expect(await store.requests.journeyIdsOf(['77'])).toEqual([owner]);
        await take(owner, '78');
        expect(await take(owner, '77')).toMatchObject({ requestId: '77' });
        expect((await take('other.1', '77'))?.requestId).toBeUndefined();
      }
    },
  );
});

describe('forget', () => {
  test('it leaves no key, and no value in any key, with the journey or its record', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('gone', 'c', 'e'), ['a line']);
    let last = journey;
    for (const to of ['waiting', 'creating', 'asked', 'expired'] as const) {
      const more = to === 'asked' ? { requestId: 'request-of-gone' } : {};
      const after = await store.update(journey.id, (one) => ({ journey: step(one, to, now(), more), trace: [to] }));
      last = after ?? expect.fail('no journey');
    }
    expect(await keys(`*${store.source}}*gone*`)).not.toEqual([]);
    await store.forget(last);
    expect(await store.get('gone.1')).toBeUndefined();
    // Empty hashes and sets are no keys: that nothing is left says all.
    expect(await keys(`*${store.source}}*`)).toEqual([]);
  });

  test('it keeps what the record remembers while a later journey lives', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'one', 'a'), []);
    await store.update(journey.id, (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
    const asking = await store.update(journey.id, (one) => ({ journey: step(one, 'creating', now()), trace: [] }));
    await store.getOrCreate(claimOf('r', 'two', 'b'), []);
    await store.forget(asking ?? expect.fail('no journey'));
    expect(await store.records.historyOf('r')).toEqual({ latest: 'r.2', asked: 'r.1' });
  });

  test.each(['first', 'last'])(
    'it leaves no key of merged records, the one that remains being forgotten %s',
    async (when) => {
      const { store } = fresh();
      const claim = async (id: string) => (await store.getOrCreate(claimOf(id, 'c', `e of ${id}`), [])).journey;
      const [a, c] = [await claim('a'), await claim('c')];
      // No journey was ever of b.
      await store.records.merge('a', 'b');
      await store.records.merge('b', 'c');
      for (const one of when === 'first' ? [c, a] : [a, c]) {
        expect(await keys(`*${store.source}}:records:*`)).not.toEqual([]);
        await store.forget(one);
      }
      expect(await keys(`*${store.source}}*`)).toEqual([]);
    },
  );

  test('it remembers merges of records that never had a journey for a while only', async () => {
    const { store } = fresh();
    await store.records.merge('x', 'y');
    expect(await store.records.remainingOf('w', 'x')).toBe('y');
    for (const key of await keys(`*${store.source}}*`)) expect(await redis.handle.client.pttl(key)).toBeGreaterThan(0);
    // One that gets a journey is remembered as long as that.
    await store.getOrCreate(claimOf('x', 'c', 'e'), []);
    expect(await redis.handle.client.pttl(`{cl:${store.source}}:merges:x`)).toBe(-1);
  });

  test('it leaves a journey alone that went on since it was read: a late answer is not lost', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'c', 'e'), []);
    await store.update(journey.id, (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
    await store.forget(journey);
    expect(await store.get('r.1')).toMatchObject({ state: 'waiting' });
    expect(await store.queries.idsIn('waiting')).toEqual(['r.1']);
  });

  test('it is not undone by a line that comes late', async () => {
    const { store } = fresh();
    const { journey } = await store.getOrCreate(claimOf('late', 'c', 'e'), []);
    await store.forget(journey);
    await store.note(journey.id, 'another webhook');
    expect(await keys(`*${store.source}}*`)).toEqual([]);
  });
});

describe('what somebody may send again and again', () => {
  test('does not make a trace, or what is remembered of a record, ever longer (audit loop)', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'event 0'), ['begun']);
    for (let i = 1; i <= 1_200; i++) {
      await store.getOrCreate(claimOf('r', 'first', `event ${i}`), []);
      await store.note('r.1', `another webhook for the same closing: ${i}`);
    }
    expect((await store.trace('r.1')).length).toBe(1_000);
    const [records = ''] = await keys(`{cl:${store.source}}:records:*`);
    expect(await redis.handle.client.hstrlen(records, 'r')).toBeLessThanOrEqual(12_100);
    // One that is not remembered is counted to its closing all the same.
    expect(await store.getOrCreate(claimOf('r', 'first', 'event 1200'), [])).toMatchObject({ created: false });
  });
});

describe('a stored journey', () => {
  const later = new Date('2026-06-04T09:00:00Z');
  const due = { dueAt: new Date('2026-05-04T08:00:00Z') };
  const rows: [does: string, steps: [JourneyState, Partial<Journey>][], isDeflated: boolean][] = [
    ['waits for a month', [['waiting', { dueAt: later }]], true],
    ['is due as it begins, and changes in a moment', [['waiting', due]], false],
    [
      'is being asked about',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
      ],
      false,
    ],
    [
      'is due, but back from an attempt',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
        ['waiting', { attempts: 0 }],
      ],
      true,
    ],
    [
      'has asked',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
        ['asked', { requestId: '7' }],
      ],
      true,
    ],
  ];
  test.each(rows)('that %s is deflated unless it changes in a moment', async (_does, steps, isDeflated) => {
    const { store, now } = fresh();
    let journey = store.drafts.make('r.1', claimOf('r', 'first', 'event'), ['begun']);
    for (const [state, change] of steps) {
      const decided = { values: { note: 'the same words again and again, '.repeat(50) }, ...change };
      journey =
        (await store.update(journey, (one) => ({ journey: step(one, state, now(), decided), trace: [] }))) ?? journey;
    }
    const bytes = await redis.handle.client.strlen(`{cl:${store.source}}:journey:r.1`);
    expect(bytes < 1_000).toBe(isDeflated);
    expect(await store.get('r.1')).toEqual(journey);
  });
});

test('a journey that was stored with its state before it is read, and goes on', async () => {
  const { store, now } = fresh();
  const { client } = redis.handle;
  const { journey } = await store.getOrCreate(claimOf('r', 'first', 'event'), ['begun']);
  const key = `{cl:${store.source}}:journey:r.1`;
  const stored = await client.getBuffer(key);
  await client.set(key, Buffer.concat([Buffer.from('1 received '), stored?.subarray('1  '.length) ?? Buffer.of()]));
  expect(await store.get('r.1')).toEqual(journey);
  await store.update('r.1', (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
  expect(await store.get('r.1')).toMatchObject({ state: 'waiting' });
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
    const store = new JourneyStore(client, `store-${++sources}`, { now: () => new Date(at), seal: testSeal });
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

describe('a journey that was read or changed before', () => {
  const cancelled = (now: () => Date, why: string) =>
    ifStill('received', { to: 'cancelled', at: now(), why, trace: [why] });

  test('it is changed without being read again, as often as nobody else changes it', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(journey).toEqual(await store.get('r.1'));
    await redis.handle.client.config('RESETSTAT');
    const waiting = await store.update(
      journey,
      ifStill('received', { to: 'waiting', at: now(), change: { rule: 'x' } }),
    );
    await store.update(waiting ?? journey, ifStill('waiting', { to: 'skipped', at: now(), why: 'no' }));
    // The change itself compares what is stored.
    const stats = await redis.handle.client.info('commandstats');
    expect(stats).not.toContain('cmdstat_get:');
    expect(stats).toContain('cmdstat_getrange:calls=2,');
    expect(await store.get('r.1')).toMatchObject({ state: 'skipped', rule: 'x', why: 'no' });
  });

  test('it is read again when somebody else has changed it, and is decided on as it is now', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.update('r.1', cancelled(now, 'first'));
    expect(await store.update(journey, cancelled(now, 'second'))).toMatchObject({ state: 'cancelled', why: 'first' });
    expect(await store.trace('r.1')).toMatchObject([{ text: 'first' }]);
    await store.forget((await store.get('r.1')) ?? journey);
    expect(await store.update(journey, cancelled(now, 'third'))).toBeUndefined();
  });
});
