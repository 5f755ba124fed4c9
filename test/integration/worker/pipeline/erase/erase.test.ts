import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { sweep } from '../../../../../worker/pipeline/sweep.ts';
import { eventOf, hasAsked, jobsOf, overriding, useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const phone = '+37255512345';
const sentTo = () => sentToBy(service.standin);
const notMasking = (contact: RegExp, answer: { status: number; body: string | Record<string, unknown> }) =>
  service.standin.faults.add({ method: 'POST', path: `${contact.source}.*/mask$`, times: 1_000, ...answer });

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
