import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { askNow } from '../../../../../worker/support/ask-now.ts';
import { previewOf } from '../../../../../worker/support/preview.ts';
import { closedAs, eventOf, hour, open, overriding, type UnitContext, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const [email, phone] = ['erika@example.com', '+37255512345'];
const minute = 60_000;

const latest = 'policy: { throttle: { period: 30d, prefer: latest } }';
const ruleWith = (more = ', delay: 2h') =>
  `{ name: all, campaign: 12, contact: [customer.email, customer.phone], again: each closing${more} }`;

/** A source whose clock is moved by hand, in minutes from the start. */
function startUnit(options: { rule?: string; general?: string; source?: string } = {}) {
  const start = Date.now();
  let at = start;
  const clock = { ...liveClock, now: () => new Date(at), until: (then: Date) => Math.max(0, then.getTime() - at) };
  const unit = unitContext({ rule: ruleWith(), general: latest, clock, ...options });
  return {
    unit,
    go: (minutes: number) => (at = start + minutes * minute),
    at: () => (at - start) / minute,
    now: clock.now,
  };
}
type Started = ReturnType<typeof startUnit>;

async function closes({ unit, now }: Started, id: string, customer: object = { email, phone }) {
  unit.vendor.close(id, { customer, ...closedAs(`of ${id}`, now()) });
  await plan(eventOf(id, { at: now() }), unit.context);
}
const asks = async ({ unit }: Started, id: string) => await ask({ journeyId: `${id}.1` }, unit.context);
async function waitingTwo(): Promise<Started> {
  const one = startUnit();
  await closes(one, 'a');
  one.go(60);
  await closes(one, 'b');
  return one;
}
/** The earlier of two has become due, and waits for the later one. */
async function earlierWaits(): Promise<Started> {
  const one = await waitingTwo();
  one.go(121);
  await asks(one, 'a');
  return one;
}
const journey = async ({ store }: Pick<UnitContext, 'store'>, id: string) =>
  (await store.get(`${id}.1`)) ?? expect.fail('no journey');
const askedAbout = () => service.standin.requests().length;

describe('of several closings of one person that wait', () => {
  test('the last that was closed until the first is due is asked about, when it is due itself, and the others name it', async () => {
    const one = startUnit();
    for (const [id, at] of Object.entries({ a: 0, b: 30, c: 60 })) {
      one.go(at);
      await closes(one, id, id === 'b' ? { email } : { email, phone });
    }
    one.go(121);
    await asks(one, 'a');
    const { state, dueAt } = await journey(one.unit, 'a');
    expect([state, dueAt]).toEqual(['waiting', (await journey(one.unit, 'c')).dueAt]);
    expect(await one.unit.trace('a.1')).toMatch(/waits for a later closing of the person: journey calm\/c\.1/);
    // Closed when the first was due already.
    await closes(one, 'd');
    one.go(181);
    expect(await asks(one, 'b')).toEqual({ do: 'wait', delayMs: 10_000 });
    await asks(one, 'c');
    for (const id of ['a', 'b']) await asks(one, id);
    one.go(260);
    await asks(one, 'd');
    expect(askedAbout()).toBe(1);
    expect(await journey(one.unit, 'c')).toMatchObject({ state: 'asked' });
    for (const id of ['a', 'b'])
      expect(await journey(one.unit, id)).toMatchObject({
        state: 'skipped',
        reason: 'superseded',
        why: expect.stringMatching(/^a later closing of the person was asked about: journey calm\/c\.1/),
      });
    expect(await journey(one.unit, 'd')).toMatchObject({ state: 'skipped', reason: 'throttled' });
  });

  test('an earlier one is asked about where the later one was reopened', async () => {
    const one = await earlierWaits();
    one.unit.vendor.close('b', open);
    await plan(eventOf('b', { kind: 'changed' }), one.unit.context);
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'cancelled' });
    one.go(181);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
  });

  test('… or where a worker was killed before the later one waited', async () => {
    const one = startUnit();
    await closes(one, 'a');
    one.go(60);
    one.unit.vendor.close('b', { customer: { email, phone }, ...closedAs('of b', one.now()) });
    const { store } = one.unit.context;
    const update: typeof store.update = async (id, decide, pass) => {
      const now = await store.get(typeof id === 'string' ? id : id.id);
      if (now && decide(now)?.journey.state === 'waiting') throw new Error('killed');
      return await store.update(id, decide, pass);
    };
    const killed = { ...one.unit.context, store: overriding(store, { update }) };
    await expect(plan(eventOf('b', { key: 'b' }), killed)).rejects.toThrow('killed');
    one.go(121);
    expect(await asks(one, 'a')).toMatchObject({ do: 'wait' });
    // The event comes again, and the record is open by then.
    one.unit.vendor.close('b', open);
    await plan(eventOf('b', { key: 'b' }), one.unit.context);
    one.go(190);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
  });

  test('an earlier one still waits for the later one where an attempt to ask about that came to nothing', async () => {
    const one = await earlierWaits();
    one.go(181);
    service.standin.faults.add({ method: 'POST', path: '/appeals/$', status: 422, body: { detail: 'No.' } });
    await expect(asks(one, 'b')).rejects.toThrow(/422/);
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'waiting' });
    expect(await asks(one, 'a')).toMatchObject({ do: 'wait' });
    await asks(one, 'b');
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'asked' });
    expect(askedAbout()).toBe(1);
  });

  test('an earlier one does not wait for one that a throttle or cap has put off for days', async () => {
    const one = await waitingTwo();
    await one.unit.store.update('b.1', (now) => ({
      journey: { ...now, dueAt: new Date(one.now().getTime() + 100 * hour) },
      trace: ['put off'],
    }));
    one.go(121);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
  });

  test('… nor for one whose source does not get on, once that is an hour overdue', async () => {
    const one = await waitingTwo();
    one.go(239);
    expect(await asks(one, 'a')).toMatchObject({ do: 'wait' });
    one.go(241);
    await asks(one, 'a');
    await asks(one, 'b');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'skipped', reason: 'throttled' });
  });

  test('a throttle of a campaign compares the closings that are asked about there', async () => {
    const rule = `{ name: text, when: 'ticket.store = "Text"', campaign: 17, contact: customer.email, delay: 2h }, ${ruleWith()}`;
    const general = 'policy: { campaigns: { 12: { throttle: { period: 30d, prefer: latest } } } }';
    const one = startUnit({ rule, general });
    await closes(one, 'a');
    one.go(60);
    one.unit.vendor.close('b', { customer: { email }, store: 'Text', ...closedAs('of b', one.now()) });
    await plan(eventOf('b'), one.unit.context);
    one.go(121);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
  });

  test('what is asked as a test is nothing to wait for', async () => {
    const one = startUnit();
    await closes(one, 'a');
    one.go(60);
    const rule = `${ruleWith().slice(0, -2)}, test: { email: me@acme.com } }`;
    const test = unitContext({ rule, general: latest, clock: one.unit.context.clock, vendor: one.unit.vendor });
    await closes({ ...one, unit: test }, 'b');
    one.go(121);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'asked' });
  });

  test('a worker that plans a closing which another worker has planned meanwhile notes nothing', async () => {
    const one = startUnit();
    const { context } = one.unit;
    const noted: unknown[] = [];
    const contacts = overriding(context.contacts, {
      // The last call before the journey is stored.
      link: async () => await closes(one, 'a'),
      waits: overriding(context.contacts.waits, { note: async (...args) => void noted.push(args) }),
    });
    one.unit.vendor.close('a', { customer: { email }, ...closedAs('of a', one.now()) });
    await plan(eventOf('a', { at: one.now() }), { ...context, contacts });
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'waiting' });
    expect(noted).toEqual([]);
  });

  test('without it the first is asked about', async () => {
    const one = startUnit({ general: 'policy: { throttle: 30d }' });
    for (const id of ['a', 'b']) await closes(one, id);
    one.go(121);
    for (const id of ['a', 'b']) await asks(one, id);
    expect([await journey(one.unit, 'a'), await journey(one.unit, 'b')]).toMatchObject([
      { state: 'asked' },
      { state: 'skipped', reason: 'throttled' },
    ]);
    expect(await service.redis.handle.client.keys('{cl}:person:*:waits')).toEqual([]);
  });
});

describe('`prefer: latest` that is switched on while closings wait', () => {
  const rule = ruleWith();
  const rows: [what: string, before: string | undefined, one: object, other: object][] = [
    ['no throttle was set before', undefined, { email }, { email }],
    ['no throttle was set before, and each asks by another address', undefined, { email, phone }, { phone }],
    ['a throttle preferred the first before', 'policy: { throttle: 30d }', { email }, { email }],
    ['… and another record shows that both addresses are theirs', 'policy: { throttle: 30d }', { email }, { phone }],
  ];
  async function switchedOn(before: string | undefined, one: object, other: object, personId?: string) {
    const first = startUnit({ rule, general: before ?? '' });
    if (before) await closes(first, 'known', { email, phone });
    const more = personId === undefined ? {} : { personId };
    first.unit.vendor.close('a', { customer: one, ...more, ...closedAs('of a', first.now()) });
    await plan(eventOf('a', { at: first.now() }), first.unit.context);
    first.go(60);
    first.unit.vendor.close('b', { customer: other, ...more, ...closedAs('of b', first.now()) });
    await plan(eventOf('b', { at: first.now() }), first.unit.context);
    if (before) {
      first.unit.vendor.close('known', open);
      await plan(eventOf('known', { kind: 'changed' }), first.unit.context);
    }
    const { clock } = first.unit.context;
    return { ...first, unit: unitContext({ rule, general: latest, clock, vendor: first.unit.vendor }) };
  }
  const endsWithLatest = async (now: Started) => {
    now.go(121);
    expect(await asks(now, 'a')).toMatchObject({ do: 'wait' });
    // Closed after the first was due: it does not count, though the first was postponed.
    await closes(now, 'c', { email, phone });
    now.go(181);
    for (const id of ['a', 'b', 'a']) await asks(now, id);
    now.go(260);
    await asks(now, 'c');
    expect(await journey(now.unit, 'b')).toMatchObject({ state: 'asked' });
    expect(await journey(now.unit, 'a')).toMatchObject({ state: 'skipped', reason: 'superseded' });
    expect(await journey(now.unit, 'c')).toMatchObject({ state: 'skipped', reason: 'throttled' });
    expect(askedAbout()).toBe(1);
  };

  test.each(rows)('counts them: %s', async (_, before, one, other) => {
    await endsWithLatest(await switchedOn(before, one, other));
  });

  test('counts them: the vendor knows the person by one id', async () => {
    await endsWithLatest(await switchedOn(undefined, { email }, { phone }, 'p-7'));
  });

  test('counts nobody else, and none that was reopened', async () => {
    const now = await switchedOn(undefined, { email }, { email: 'other@example.com' });
    const before = { ...now, unit: unitContext({ rule, clock: now.unit.context.clock, vendor: now.unit.vendor }) };
    await closes(before, 'c', { email });
    before.unit.vendor.close('c', open);
    await plan(eventOf('c', { kind: 'changed' }), before.unit.context);
    now.go(121);
    await asks(now, 'a');
    expect(await journey(now.unit, 'a')).toMatchObject({ state: 'asked' });
  });
});

/** Closings of a person, in units of ten minutes: some are reopened, some by text, the event of some comes twice, as its worker was killed. */
const days = fc.array(
  fc.record({
    at: fc.nat(30),
    delay: fc.constantFrom(3, 6, 12),
    reopenedAfter: fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 3 }),
    isByPhone: fc.boolean(),
    isKilled: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

test('whatever closes and opens again: one request, nobody is left out, and the one asked about has no better one beside it', async () => {
  const rule = [3, 6, 12]
    .map(
      (units) =>
        `{ name: r${units}, when: 'ticket.store = "${units}"', campaign: 12, contact: [customer.phone, customer.email], delay: ${units * 10}m }`,
    )
    .join(', ');
  let run = 0;
  await fc.assert(
    fc.asyncProperty(days, async (all) => {
      run++;
      const one = startUnit({ rule, source: `calm-${run}` });
      const { context, vendor, store } = one.unit;
      const known = { email: `p${run}@example.com`, phone: `+3725551${String(1_000 + run)}` };
      const closings = all
        .map((closing, i) => ({ ...closing, id: `c${i}`, due: closing.at + closing.delay }))
        .toSorted((a, b) => a.at - b.at);
      const closesNow = async ({ id, delay, isByPhone, isKilled }: (typeof closings)[number]) => {
        const customer = isByPhone ? known : { email: known.email };
        vendor.close(id, { customer, store: `${delay}`, ...closedAs(`of ${id}`, one.now()) });
        const event = eventOf(id, { at: one.now() });
        if (isKilled) {
          const { waits } = context.contacts;
          const note = async (...args: Parameters<typeof waits.note>) => {
            await waits.note(...args);
            throw new Error('killed');
          };
          const contacts = overriding(context.contacts, { waits: overriding(waits, { note }) });
          await expect(plan(event, { ...context, contacts })).rejects.toThrow('killed');
        }
        await plan(event, context);
      };
      const asked: { id: string; at: number }[] = [];
      for (let unit = 0; unit <= 60; unit++) {
        one.go(unit * 10);
        for (const closing of closings.filter(({ at }) => at === unit)) await closesNow(closing);
        for (const { id } of closings.filter(({ at, reopenedAfter = 99 }) => at + reopenedAfter === unit)) {
          vendor.close(id, open);
          await plan(eventOf(id, { kind: 'changed', at: one.now() }), context);
        }
        for (const id of await store.lists.idsIn('waiting', { limit: 100 })) {
          const due = (await store.get(id))?.dueAt;
          if (due && due <= one.now()) await ask({ journeyId: id }, context);
          if ((await store.get(id))?.state === 'asked') asked.push({ id: id.slice(0, -2), at: unit });
        }
      }
      const ends = await Promise.all(closings.map(({ id }) => journey(one.unit, id)));
      expect(ends.filter(({ state }) => state === 'asked').length).toBeLessThanOrEqual(1);
      expect(ends.filter(({ state }) => !['asked', 'skipped', 'cancelled'].includes(state))).toEqual([]);
      if (closings.some(({ reopenedAfter }) => reopenedAfter === undefined)) expect(asked).not.toEqual([]);
      for (const { id, at } of asked) {
        const own = closings.find((one) => one.id === id) ?? expect.fail('unknown');
        const waiting = closings.filter((one) => one.at <= at && one.at + (one.reopenedAfter ?? 99) > at);
        const firstDue = Math.min(...waiting.map(({ due }) => due));
        expect(waiting.filter((other) => other.at > own.at && other.at <= firstDue)).toEqual([]);
        if (asked.length > 1) continue;
        const over = closings.flatMap((other, i) => (ends[i]?.state === 'skipped' ? [[other.at, ends[i].reason]] : []));
        expect(over).toEqual(over.map(([then = 0]) => [then, Number(then) < own.at ? 'superseded' : 'throttled']));
      }
    }),
    { numRuns: 8 },
  );
});

describe('a person who hurries one of several closings', () => {
  const hurries = async ({ unit }: Started, id: string) => await askNow(await journey(unit, id), unit.context);

  test('the latest is asked about at once, and the earlier one ends for its sake', async () => {
    const one = await waitingTwo();
    expect((await hurries(one, 'b')).getTime()).toBeLessThanOrEqual(one.now().getTime());
    await asks(one, 'b');
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'asked' });
    one.go(121);
    await asks(one, 'a');
    expect(await journey(one.unit, 'a')).toMatchObject({ state: 'skipped', reason: 'superseded' });
    expect(askedAbout()).toBe(1);
  });

  test('an earlier one is not hurried, as it waits for the latest all the same: that is told, and nothing changed', async () => {
    const one = await waitingTwo();
    const before = await journey(one.unit, 'a');
    await expect(hurries(one, 'a')).rejects.toThrow(/it waits for a later closing of the person: journey calm\/b\.1/);
    expect(await journey(one.unit, 'a')).toEqual(before);
    expect(await one.unit.pipeline.jobs.ask.queue.getJob('ask-ahead-a.1')).toBeUndefined();
  });

  test('one that was hurried waits for a closing that came before it was asked about, and one of the two is asked about', async () => {
    const one = startUnit();
    await closes(one, 'a');
    await hurries(one, 'a');
    one.go(60);
    await closes(one, 'b');
    await asks(one, 'a');
    expect(await one.unit.trace('a.1')).toMatch(/waits for a later closing of the person: journey calm\/b\.1/);
    expect(await journey(one.unit, 'a')).toMatchObject({
      state: 'waiting',
      dueAt: (await journey(one.unit, 'b')).dueAt,
    });
    one.go(181);
    for (const id of ['a', 'b', 'a']) await asks(one, id);
    expect([(await journey(one.unit, 'a')).reason, (await journey(one.unit, 'b')).state]).toEqual([
      'superseded',
      'asked',
    ]);
    expect(askedAbout()).toBe(1);
  });
});

describe('what is told of one of several closings ahead', () => {
  const forecast = async ({ unit }: Started, id: string) => {
    const found = await previewOf(id, unit.context);
    return found.is === 'closed' ? found.forecast : expect.fail(found.is);
  };
  const waits = {
    decision: 'skip',
    reason: 'superseded',
    why: 'waits for a later closing of the person: journey calm/b.1 (throttle of policy prefers the latest); asked only if nothing comes of that',
  };

  test('an earlier one would wait for the latest, and the latest would be asked about', async () => {
    const one = await waitingTwo();
    const before = await journey(one.unit, 'a');
    expect(await forecast(one, 'a')).toMatchObject(waits);
    expect(await forecast(one, 'b')).toMatchObject({ decision: 'ask', why: undefined });
    expect(await journey(one.unit, 'a')).toEqual(before);
    expect((await one.unit.context.contacts.waits.of(email)).length).toBe(2);
    expect(await journey(one.unit, 'b')).toMatchObject({ state: 'waiting' });
  });

  test('so would one that nobody has told of yet', async () => {
    const one = startUnit();
    one.unit.vendor.close('a', { customer: { email, phone }, ...closedAs('of a', one.now()) });
    one.go(60);
    await closes(one, 'b');
    expect(await forecast(one, 'a')).toMatchObject(waits);
    expect(await one.unit.store.get('a.1')).toBeUndefined();
  });

  test('where the later one was reopened, the earlier one would be asked about', async () => {
    const one = await waitingTwo();
    one.unit.vendor.close('b', open);
    await plan(eventOf('b', { kind: 'changed' }), one.unit.context);
    expect(await forecast(one, 'a')).toMatchObject({ decision: 'ask' });
  });
});
