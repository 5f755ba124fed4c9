import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import type { SourceContext } from '../../../../../worker/pipeline/context.ts';
import { begin, erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { sweep } from '../../../../../worker/pipeline/sweep.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { eventOf, goesAhead, hasAsked, hour, jobsOf, overriding, useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const phone = '+37255512345';
const sentTo = () => sentToBy(service.standin);
const notMasking = (contact: RegExp, answer: { status: number; body: string | Record<string, unknown> }) =>
  service.standin.faults.add({ method: 'POST', path: `${contact.source}.*/mask$`, times: 1_000, ...answer });

describe('who is masked', () => {
  const external = '{ name: all, campaign: 15, contact: customer.phone }';
  const landlines: [asked: string, erased: string][] = [
    ['+372 612 3456', '+372 612 3456'],
    ['00372 612 3456', '+3726123456'],
    ['+3726123456', '00372 612-3456'],
    ['612 3456', '612 3456'],
    ['+999 1234 5678', '0099912345678'],
    ['Case A/1', 'case a/1'],
  ];
  test.each(landlines)(
    'it masks who was asked as %j by an external campaign and is erased as %j (audit 1)',
    async (contact, written) => {
      const unit = unitContext({ rule: external });
      await asked(unit, 'a', { phone: contact });
      await erase(eraseOf({ contacts: [written] }), unit.context);
      expect(sentTo()).toEqual(['***']);
      expect(await isErased(unit.context, 'a.1')).toBe(true);
    },
  );

  test('it masks a request that somebody else made, with the number as it is written (audit 1)', async () => {
    const { context } = unitContext();
    const contact = { kind: 'identifier', value: '+372 612 3456' } as const;
    await context.feedback.create({ campaign: 15, contact, customFields: {} });
    await erase(eraseOf({ contacts: ['+3726123456'] }), context);
    expect(sentTo()).toEqual(['***']);
  });

  test("it masks who is found by an e-mail in a record's snapshot, and was asked by phone there and elsewhere (audit 1)", async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }' });
    const snapshot = { state: 'closed', shape: { customer: { phone, mail: email } } };
    await asked(unit, 'a', { phone });
    await unit.context.snapshots.save('a', ago(500), snapshot);
    await asked(unit, 'b', { phone, email: 'second@example.com' }, { personId: 'person-seven' });
    await asked(unit, 'c', { email: 'second@example.com' });
    await asked(unit, 'd', { email: 'third@example.com' }, { personId: 'person-seven' });
    await asked(unit, 'z', { email: 'other@example.com' });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(sentTo().filter((to) => to !== '***')).toEqual(['second@example.com', 'other@example.com']);
    for (const id of ['a.1', 'b.1', 'd.1']) expect(await isErased(unit.context, id)).toBe(true);
  });

  test('it masks whom the rules would ask by a snapshot that never led to a journey (audit 1)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }' });
    await unit.context.snapshots.save('t', ago(500), { state: 'closed', shape: { customer: { phone, email } } });
    await asked(unit, 'a', { phone });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(sentTo()).toEqual(['***']);
    expect(await unit.context.snapshots.of(['t'])).toEqual([undefined]);
  });

  const foreign: [what: string, answer: { status: number; body: string | Record<string, unknown> }][] = [
    ['a page of a proxy', { status: 404, body: '<html>Not Found</html>' }],
    ['other JSON', { status: 404, body: { detail: 'No route.' } }],
    ['more than those words', { status: 404, body: { detail: 'Not found.', path: ['/api'] } }],
    ['another shape', { status: 200, body: { ok: true } }],
  ];
  test.each(foreign)(
    'it takes %s for no answer about a person: nothing is done, and nothing forgotten of it (audit 2)',
    async (_, answer) => {
      const unit = unitContext();
      await asked(unit, 'a', { email });
      notMasking(/erika/, answer);
      await erase(eraseOf({ contacts: [email] }), unit.context);
      expect(await unit.context.erasures.all()).toEqual([]);
      expect(await isErased(unit.context, 'a.1')).toBe(false);
      expect(sentTo()).toEqual([email]);
    },
  );

  test("it takes the service's own words for nobody (audit 2)", async () => {
    const { context } = unitContext();
    await erase(eraseOf({ contacts: [email] }), context);
    expect(await context.erasures.all()).toMatchObject([{ journeys: 0, requestsMasked: 0 }]);
  });
});

describe('an erasure that the service refuses', () => {
  const refusal = { status: 422, body: { detail: 'No.' } };

  test('it keeps nobody else from being erased, and begins with who is left the next time (audit 3)', async () => {
    const unit = unitContext();
    for (const id of ['a', 'b', 'c']) await asked(unit, id, { email: `${id}@example.com` });
    notMasking(/b%40example/, refusal);
    const event = eraseOf({ everybody: true });
    await erase(event, unit.context);
    expect(sentTo()).toEqual(['***', 'b@example.com', '***']);
    const ids = ['a.1', 'b.1', 'c.1'];
    expect(await Promise.all(ids.map((id) => isErased(unit.context, id)))).toEqual([true, false, true]);
  });
});

describe('an unreadable job in the queue', () => {
  const broken: [what: string, data: string][] = [
    ['no JSON', '{"kind":"closed"'],
    ['of another version', '{"kind":"closed-2","snapshot":{"mail":"erika@example.com"}}'],
  ];
  test('what waits in a queue that is stopped is found like any other (audit 4)', async () => {
    const unit = unitContext();
    const { queue } = unit.pipeline.jobs.plan;
    const snapshot = { shape: { customer: { mail: email } } };
    await unit.pipeline.jobs.plan.add([{ id: 'before', data: eventOf('w', { receivedAt: ago(500), snapshot }) }]);
    await queue.pause();
    await unit.pipeline.jobs.plan.add([{ id: 'after', data: eventOf('v', { receivedAt: ago(500), snapshot }) }]);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const waiting = await jobsOf(unit.pipeline.jobs.plan);
    expect([waiting.length, waiting.filter((one) => 'snapshot' in one)]).toEqual([2, []]);
  });

  test.each(broken)('it keeps no erasure from its end, and is told (%s) (audit 4)', async (_, data) => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await unit.pipeline.jobs.plan.add([{ id: 'odd', data: eventOf('odd') }]);
    await redis.handle.client.hset('{cl:calm}:plan:odd', 'data', data);
    await unit.context.snapshots.save('t', ago(500), { shape: { customer: { mail: email } } });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await isErased(unit.context, 'a.1')).toBe(true);
    expect(await unit.context.snapshots.of(['t'])).toEqual([undefined]);
    expect(await unit.context.erasures.all()).toMatchObject([{ unreadable: ['job odd of stage plan of calm'] }]);
    expect(unit.told.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

describe('a journey that is asking', () => {
  test('it holds up only itself, and is erased when its outcome is known (audit 5)', async () => {
    const unit = unitContext();
    const { context, vendor } = unit;
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    await asked(unit, 'b', { email: 'b@example.com' });
    await goesAhead(context, 'a.1');
    const event = eraseOf({ everybody: true });
    await erase(event, context);
    expect(sentTo()).toEqual(['***']);
    expect(await isErased(context, 'b.1')).toBe(true);
    expect(await isErased(context, 'a.1')).toBe(false);
    expect(await context.erasures.all()).toEqual([]);

    const { id } = await context.feedback.create({
      campaign: 12,
      contact: { kind: 'email', value: email },
      customFields: {},
    });
    await hasAsked(context, 'a.1', id);
    await erase(event, context);
    expect(sentTo()).toEqual(['***', '***']);
    expect(await isErased(context, 'a.1')).toBe(true);
    expect(await context.erasures.all()).toMatchObject([{ journeys: 2, contacts: 2, requestsMasked: 2 }]);
  });

  const lost = async (searchAfter: Date) => {
    const unit = unitContext();
    const { context, vendor } = unit;
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    await goesAhead(context, 'a.1');
    await context.store.update('a.1', ({ intent, ...now }) => ({
      journey: { ...now, ...(intent && { intent: { ...intent, searchAfter } }) },
      trace: [],
    }));
    const contact = { kind: 'email', value: email } as const;
    await context.feedback.create({ campaign: 12, contact, customFields: {} });
    return context;
  };

  test('its request is masked after the search for it, which goes by the contact', async () => {
    const context = await lost(ago(1_000));
    const event = eraseOf({ contacts: [email] });
    await erase(event, context);
    expect(sentTo()).toEqual([email]);

    await ask({ journeyId: 'a.1' }, context);
    expect(await context.store.get('a.1')).toMatchObject({ state: 'asked' });
    await erase(event, context);
    expect(sentTo()).toEqual(['***']);
    expect(await isErased(context, 'a.1')).toBe(true);
    expect(await context.areOwned(service.standin.requests().map(({ id }) => String(id)))).toEqual([true]);
  });

  test('a search that can not be made keeps its contact unmasked for ten minutes at most', async () => {
    const context = await lost(ago(601_000));
    await erase(eraseOf({ contacts: [email] }), context);
    expect(sentTo()).toEqual(['***']);
  });
});

describe('a delivery that is stored while an erasure runs', () => {
  const snapshot = { state: 'closed', shape: { customer: { email } } };
  test('it leaves no snapshot behind, whether it is planned before the end or after it (audit 6)', async () => {
    const unit = unitContext();
    const { context } = unit;
    await asked(unit, 'a', { email });
    const during = eventOf('during', { snapshot });
    const late = eventOf('late', { snapshot });
    let calls = 0;
    const racing: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        mask: async (contact) => {
          if (calls++ === 0) {
            const now = { at: new Date(), receivedAt: new Date() };
            await unit.pipeline.jobs.plan.add([{ id: 'during', data: { ...during, ...now } }]);
            await plan({ ...eventOf('at-once', { snapshot }), ...now }, context);
            Object.assign(late, now);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          return await context.feedback.mask(contact);
        },
      }),
    };
    racing.sources = async () => [racing];
    await erase(eraseOf({ contacts: [email] }), racing);
    await plan(late, context);
    for (const job of await unit.pipeline.jobs.plan.queue.getJobs()) await unit.pipeline.stages.plan.run(job.data);
    expect(await context.snapshots.of(['during', 'at-once', 'late'])).toEqual([undefined, undefined, undefined]);
    expect(service.standin.requests()).toHaveLength(1);
  });
});

describe('who is erased in part', () => {
  test('whom only a snapshot led to is found again by who comes after that was wiped (audit 4)', async () => {
    const unit = unitContext();
    const { context, store } = unit;
    unit.vendor.close('c', { customer: {} });
    await plan(eventOf('c', { receivedAt: ago(1_000) }), context);
    await context.snapshots.save('c', ago(500), { shape: { customer: { mail: email } } });
    const event = eraseOf({ contacts: [email] });
    const mortal: SourceContext = {
      ...context,
      store: overriding(store, {
        update: async (...args) => {
          if ((await context.snapshots.of(['c']))[0] === undefined) throw new Error('killed');
          return await store.update(...args);
        },
      }),
      sources: async () => [mortal],
    };
    await expect(erase(event, mortal)).rejects.toThrow('killed');
    expect([await context.snapshots.of(['c']), await isErased(context, 'c.1')]).toEqual([[undefined], false]);
    await erase(event, context);
    expect(await isErased(context, 'c.1')).toBe(true);
  });

  test('a request that can not be cancelled yet holds up its own journey only, and is masked (audit 5)', async () => {
    const unit = unitContext();
    for (const id of ['a', 'b']) await asked(unit, id, { email: `${id}@example.com` });
    service.standin.faults.add({ method: 'POST', path: '/cancel$', status: 503, body: {} });
    const event = eraseOf({ everybody: true });
    await erase(event, unit.context);
    expect(sentTo()).toEqual(['***', '***']);
    const erasedOnes = async () => [await isErased(unit.context, 'a.1'), await isErased(unit.context, 'b.1')];
    expect((await erasedOnes()).filter(Boolean)).toHaveLength(1);
    expect(await unit.context.erasures.open()).toMatchObject([{ held: [expect.stringMatching(/not be cancelled/)] }]);
    await erase(event, unit.context);
    expect(await erasedOnes()).toEqual([true, true]);
  });
});

describe('what was written on records of a source that this process does not have', () => {
  test('it is taken off by a process that has it, and the proof says so (audit 7)', async () => {
    const knowing = unitContext({ source: 'calm' });
    const other = unitContext({ source: 'other' });
    await knowing.engine.noteSources();
    await other.engine.noteSources();
    await asked(knowing, 'a', { email });
    const answer = { grade: 3, comment: null, seenAt: new Date(), version: 1 };
    await knowing.store.update('a.1', (now) => ({ journey: step(now, 'answered', new Date(), { answer }), trace: [] }));
    await writeBack({ journeyId: 'a.1' }, knowing.context);
    await erase(eraseOf({ contacts: [email] }), other.context);
    const [left] = await knowing.context.erasures.open();
    const kept = expect.arrayContaining([expect.stringContaining(`taken off as the erasure ${left?.id}`)]);
    expect(await other.context.erasures.all()).toMatchObject([{ journeys: 1, kept }]);
    expect(knowing.vendor.forgotten).toEqual([]);
    for (const { data } of await knowing.pipeline.jobs.erase.queue.getJobs())
      await knowing.pipeline.stages.erase.run(data);
    expect(knowing.vendor.forgotten).toEqual(['a']);
    expect(await knowing.context.erasures.all()).toMatchObject([{ writtenAnswers: 'none left' }]);
  });

  test('one that was asked for through a source that is gone is done all the same (audit 3)', async () => {
    const knowing = unitContext({ source: 'calm' });
    const other = unitContext({ source: 'other' });
    await knowing.engine.noteSources();
    await asked(other, 'a', { email });
    const asking = eraseOf({ contacts: [email], receivedAt: ago(hour) });
    await begin(asking, knowing.context);
    const [orphan] = await other.engine.orphans.all();
    const { context, jobs, stages } = orphan?.pipeline ?? expect.fail('no orphan');
    await sweep(context, { expireAfterMs: 1e12, retentionMs: 1e12, isGone: true });
    for (const { data } of await jobs.erase.queue.getJobs()) await stages.erase.run(data);
    expect(await isErased(other.context, 'a.1')).toBe(true);
    expect(sentTo()).toEqual(['***']);
  });
});

describe('an erasure that was begun', () => {
  const refusal = { status: 422, body: { detail: 'No.' } };
  const everything = async () => {
    const { client } = redis.handle;
    const texts: string[] = [];
    for (const key of await client.keys('{cl:calm}*')) {
      const type = await client.type(key);
      if (type === 'hash') texts.push(key, JSON.stringify(await client.hgetall(key)));
      if (type === 'string') texts.push(key, (await client.get(key)) ?? '');
    }
    return texts.join('\n');
  };

  test('it is kept with its people, sealed, and says what holds it up; the next attempt needs nothing else (audit 3)', async () => {
    const unit = unitContext();
    const { context } = unit;
    await asked(unit, 'a', { email });
    notMasking(/erika/, refusal);
    await erase(eraseOf({ contacts: [email, 'never@example.com'] }), context);
    const [kept] = await context.erasures.open();
    expect(kept).toMatchObject({ tries: 1, held: [expect.stringMatching(/^contacts are not masked: .*answered 422/)] });
    expect(JSON.stringify(kept)).not.toContain('@');
    const { id = '' } = kept ?? {};
    const subjects = await context.erasures.subjects(id);
    const contacts = subjects.flatMap((one) => (one.kind === 'contact' ? [[one.key, one.done]] : []));
    expect(contacts.toSorted()).toEqual([
      [email, false],
      ['never@example.com', true],
    ]);
    expect(await everything()).not.toContain('never@example.com');
    const jobs = await jobsOf(unit.pipeline.jobs.erase);
    expect(jobs).toEqual([{ kind: 'continue', erasure: id }]);

    service.standin.faults.clear();
    for (const job of jobs) await erase(job, context);
    expect([sentTo(), await isErased(context, 'a.1')]).toEqual([['***'], true]);
    expect(await context.erasures.all()).toMatchObject([{ id, journeys: 1, contacts: 2, requestsMasked: 1 }]);
    expect([await context.erasures.open(), await context.erasures.subjects(id)]).toEqual([[], []]);
  });

  test('it is tried again less and less often, without end, and found again by the sweep (audit 3)', async () => {
    const unit = unitContext();
    const { context } = unit;
    notMasking(/erika/, refusal);
    await erase(eraseOf({ contacts: [email] }), context);
    const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(await context.erasures.open());
    const waits: unknown[] = [];
    for (let i = 0; i < 13; i++) waits.push(await erase({ kind: 'continue', erasure: id }, context));
    expect(waits.at(0)).toEqual({ do: 'wait', delayMs: 2_000 });
    expect(waits.at(-1)).toEqual({ do: 'wait', delayMs: 3_600_000 });

    const { queue } = unit.pipeline.jobs.erase;
    await queue.obliterate({ force: true });
    const settings = { expireAfterMs: 1e12, retentionMs: 1e12 };
    await sweep(context, settings);
    expect(await queue.getJobs()).toEqual([]);
    await sweep({ ...context, ports: { ...context.ports, now: () => new Date(Date.now() + 3_700_000) } }, settings);
    expect(await jobsOf(unit.pipeline.jobs.erase)).toEqual([{ kind: 'continue', erasure: id }]);
  });

  const general = `alerts: { url: "http://127.0.0.1:9/", secrets: ["whsec_${Buffer.alloc(32, 1).toString('base64')}"] }`;
  test('a person is told at once of what does not pass by itself, and of what does when it has not (audit 3)', async () => {
    const unit = unitContext({ general });
    const alerts = async () => await redis.handle.client.hlen('{cl}:alerts:what');
    notMasking(/away/, { status: 503, body: {} });
    await erase(eraseOf({ contacts: ['away@example.com'] }), unit.context);
    expect(await alerts()).toBe(0);
    const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(await unit.context.erasures.open());
    for (let i = 0; i < 4; i++) await erase({ kind: 'continue', erasure: id }, unit.context);
    expect(await alerts()).toBe(1);
    notMasking(/erika/, refusal);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await alerts()).toBe(2);
  });

  test('it asks the service no further when that is away, and masks all when it is back (audit 3)', async () => {
    const unit = unitContext();
    const contacts = Array.from({ length: 10 }, (_, i) => `c${i}@example.com`);
    notMasking(/example/, { status: 503, body: {} });
    await erase(eraseOf({ contacts }), unit.context);
    expect(service.standin.faults.list()).toMatchObject([{ times: 997 }]);
    const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(await unit.context.erasures.open());
    service.standin.faults.clear();
    await erase({ kind: 'continue', erasure: id }, unit.context);
    expect(await unit.context.erasures.all()).toMatchObject([{ contacts: 10 }]);
  });

  test('it ends as if nothing had been, wherever its process is killed (audit 3)', async () => {
    const rule = '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }';
    const unit = unitContext({ rule });
    const { context } = unit;
    let kills = 0;
    for (let isDone = false; !isDone; kills += 3) {
      await redis.handle.client.flushall();
      const before = service.standin.requests().length;
      for (const [id, more] of [['a', {}] as const, ['b', { personId: 'person-seven' }] as const]) {
        unit.vendor.close(id, { customer: { phone }, ...more });
        await plan(eventOf(id, { receivedAt: ago(1_000) }), context);
        const contact = { kind: 'phone', value: phone } as const;
        await hasAsked(
          context,
          `${id}.1`,
          (await context.feedback.create({ campaign: 12, contact, customFields: {} })).id,
        );
      }
      await context.snapshots.save('a', ago(500), { shape: { customer: { phone, mail: email } } });
      const snapshot = { shape: { mail: email } };
      await unit.pipeline.jobs.plan.add([{ id: 'waits', data: eventOf('w', { receivedAt: ago(500), snapshot }) }]);
      const event = eraseOf({ contacts: [email] });
      isDone = await erase(event, dyingAfter(kills, context)).then(
        () => true,
        () => false,
      );
      if (!isDone) await erase(event, context);
      expect(sentTo().slice(before)).toEqual(['***', '***']);
      expect(await everything()).not.toMatch(/erika|55512345|person-seven/);
      expect(await context.erasures.all()).toMatchObject([{ journeys: 2, contacts: 2 }]);
      expect(await context.erasures.open()).toEqual([]);
    }
    expect(kills).toBeGreaterThan(60);
  });
});

/** The n-th call that leaves this process is not answered any more: the process dies there. Odd ones have been done. */
function dyingAfter(n: number, context: SourceContext): SourceContext {
  let left = Math.floor(n / 2);
  const dying = <T extends object>(whole: T): T =>
    new Proxy(whole, {
      get(target, name) {
        const own = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]) => {
          if (left === 0 && n % 2 === 0) throw new Error('killed');
          const result = own.apply(target, args);
          if (!(result instanceof Promise)) return result;
          if (left-- > 0) return result;
          return result.then(() => {
            throw new Error('killed');
          });
        };
      },
    });
  const mortal: SourceContext = {
    ...context,
    erasures: dying(context.erasures),
    snapshots: dying(context.snapshots),
    feedback: dying(context.feedback),
    contacts: dying(context.contacts),
    store: dying(context.store),
    changeEvents: (change) => dying({ call: context.changeEvents }).call(change),
  };
  mortal.sources = async () => [mortal];
  return mortal;
}
