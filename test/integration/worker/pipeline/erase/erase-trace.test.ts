import { describe, expect, test } from 'vitest';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import type { SourceContext } from '../../../../../worker/pipeline/context.ts';
import { attempt, begin, erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { giveUpWriteBack, writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { SourceNames } from '../../../../../worker/redis/source-names.ts';
import { aliasedSource } from '../../../../../worker/sources/aliased-source.ts';
import { eventOf, intentNow, jobsOf, overriding, useManual } from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import {
  ago,
  answered,
  asked,
  email,
  eraseOf,
  isErased,
  sentTo as sentToBy,
} from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const sentTo = () => sentToBy(service.standin);

describe('what was written on records', () => {
  test('an answer that the vendor took without a word, until it was given up, is taken off (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    unit.vendor.beforeWriteBack = async (items) => {
      unit.vendor.written.push(...items);
      throw new Error('timed out');
    };
    await writeBack({ journeyId: 'a.1' }, unit.context).catch(() => undefined);
    await giveUpWriteBack({ journeyId: 'a.1' }, 'timed out', unit.context);
    expect(unit.vendor.written).toHaveLength(1);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(unit.vendor.forgotten).toEqual(['a']);
    expect(await unit.context.erasures.all()).toMatchObject([{ copies: 'none left' }]);
  });

  test('an answer that was written before a merge is taken off both records (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    await writeBack({ journeyId: 'a.1' }, unit.context);
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'r' }), unit.context);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(unit.vendor.forgotten?.toSorted()).toEqual(['a', 'r']);
  });

  test.each([false, true])(
    'that nobody answered is taken off, though it was written while they were forgotten (killed then: %s) (audit trace)',
    async (isKilled) => {
      const vendor = Object.assign(new ToyVendor(), { writesNoAnswer: true });
      const unit = unitContext({ vendor });
      await asked(unit, 'a', { email });
      await unit.store.update('a.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
      vendor.beforeWriteBack = async (items) => {
        await erase(eraseOf({ contacts: [email] }), unit.context);
        vendor.forgotten?.splice(0);
        if (isKilled) {
          vendor.written.push(...items);
          throw new Error('killed');
        }
      };
      await writeBack({ journeyId: 'a.1', noAnswer: true }, unit.context).catch(() => undefined);
      expect(vendor.written).toHaveLength(1);
      if (isKilled) await writeBack({ journeyId: 'a.1', noAnswer: true }, unit.context);
      for (const { data } of await unit.pipeline.jobs.erase.queue.getJobs()) await unit.pipeline.stages.erase.run(data);
      expect(vendor.forgotten).toEqual(['a']);
    },
  );
});

describe('what is told of what stays', () => {
  test('answers that earlier settings wrote elsewhere, and custom fields at the service (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const kept = expect.arrayContaining([
      expect.stringMatching(/^the service: .*custom fields that are not marked as personal data/),
      expect.stringMatching(/^answers that were written by earlier settings/),
    ]);
    expect(await unit.context.erasures.all()).toMatchObject([{ copies: 'none left', kept }]);
  });
});

describe('what can not be read', () => {
  test("another record's snapshot is told, and keeps nobody from being erased (audit trace)", async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await unit.context.snapshots.save('t', ago(500), { shape: { mail: 'other@example.com' } });
    await redis.handle.client.hset('{cl:calm}:snapshot:t', 'sealed', 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['***'], true]);
    expect(await unit.context.erasures.all()).toMatchObject([{ unreadable: ['the snapshot of calm/t'] }]);
  });

  test('the snapshot of a record of theirs goes (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await unit.context.snapshots.save('a', ago(500), { shape: { mail: email } });
    await redis.handle.client.hset('{cl:calm}:snapshot:a', 'sealed', 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await redis.handle.client.hget('{cl:calm}:snapshot:a', 'sealed')).toBe('');
    expect(await isErased(unit, 'a.1')).toBe(true);
  });

  test('the note of when they were asked last goes (audit trace)', async () => {
    const unit = unitContext();
    unit.vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), unit.context);
    const note = `{cl}:contact:${unit.context.contacts.addressOf(email)}:asked`;
    await redis.handle.client.set(note, 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect([await isErased(unit, 'a.1'), await redis.handle.client.exists(note)]).toEqual([true, 0]);
    expect(await unit.context.erasures.all()).toMatchObject([{ journeys: 1 }]);
  });
});

describe('an address with an internationalised domain', () => {
  const pairs: [asked: string, erased: string][] = [
    ['erika@münchen.de', 'erika@xn--mnchen-3ya.de'],
    ['erika@xn--mnchen-3ya.de', 'erika@münchen.de'],
    ['erika@mu\u0308nchen.de', 'Erika@XN--mnchen-3ya.de'],
  ];
  test.each(pairs)(
    'it is one, asked as %j and erased as %j, here and at the service (audit trace)',
    async (contact, written) => {
      const unit = unitContext();
      await asked(unit, 'a', { email: contact });
      await erase(eraseOf({ contacts: [written] }), unit.context);
      expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['***'], true]);
    },
  );

  test('a request that somebody else made is masked in the other form (audit trace)', async () => {
    const { context } = unitContext();
    const contact = { kind: 'email', value: 'erika@xn--mnchen-3ya.de' } as const;
    await context.feedback.create({ campaign: 12, contact, customFields: {} });
    await erase(eraseOf({ contacts: ['erika@münchen.de'] }), context);
    expect(sentTo()).toEqual(['***']);
  });
});

describe('a number without its country, where there is a default one', () => {
  test.each(['612 3456', '6123456'])(
    'who was asked by it as an identifier is found by it, here too: %j (audit trace)',
    async (number) => {
      const unit = unitContext({
        rule: '{ name: all, campaign: 15, contact: customer.phone }',
        general: 'defaultCountry: EE',
      });
      await asked(unit, 'a', { phone: number });
      await erase(eraseOf({ contacts: [number] }), unit.context);
      expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['***'], true]);
    },
  );

  test('their journey waits until they are masked (audit trace)', async () => {
    const unit = unitContext({
      rule: '{ name: all, campaign: 15, contact: customer.phone }',
      general: 'defaultCountry: EE',
    });
    await asked(unit, 'a', { phone: '612 3456' }, { personId: 'person-seven' });
    service.standin.faults.add({ method: 'POST', path: '/mask$', times: 1_000, status: 503, body: {} });
    await erase(eraseOf({ personIds: ['person-seven'] }), unit.context);
    expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['612 3456'], false]);
  });
});

describe('a number that was written without its country', () => {
  const rows: [asked: string, erased: string, country: string | undefined][] = [
    ['612 3456', '+372 612 3456', undefined],
    ['612-3456', '003726123456', undefined],
    ['5551 2345', '+37255512345', undefined],
    ['612 3456', '+372 612 3456', 'EE'],
    ['6123456', '+372 612 3456', 'EE'],
    ['612 3456', '6123456', 'EE'],
  ];
  test.each(rows)(
    'who was asked by it as %j is found and masked by %j (default country %s) (audit trace)',
    async (number, erased, country) => {
      const unit = unitContext({
        rule: '{ name: all, campaign: 15, contact: customer.phone }',
        ...(country !== undefined && { general: `defaultCountry: ${country}` }),
      });
      await asked(unit, 'a', { phone: number });
      await erase(eraseOf({ contacts: [erased] }), unit.context);
      expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['***'], true]);
      expect(await unit.context.erasures.all()).toMatchObject([{ contacts: 1, requestsMasked: 1 }]);
    },
  );

  test('bare digits may be the number of a customer: without a default country they are nobody else (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 15, contact: customer.phone }' });
    await asked(unit, 'a', { phone: '6123456' });
    await erase(eraseOf({ contacts: ['+372 612 3456'] }), unit.context);
    expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['6123456'], false]);
  });
});

describe('a source that is being renamed', () => {
  const began = async () => {
    const unit = unitContext();
    const id = await begin(eraseOf({ contacts: [email] }), unit.context);
    return { unit, id, names: new SourceNames(redis.handle.client) };
  };

  test('an erasure is not begun in it, where it would be lost among what is moved there (audit trace)', async () => {
    const { context } = unitContext();
    const names = new SourceNames(redis.handle.client);
    await names.begin('old', 'calm');
    await expect(begin(eraseOf({ contacts: [email] }), context)).rejects.toMatchObject({
      advice: { kind: 'transient' },
    });
    expect(await redis.handle.client.keys('{cl:calm}:erasure*')).toEqual([]);
    await names.end('old', 'calm');
    await begin(eraseOf({ contacts: [email] }), context);
    expect(await context.erasures.open()).toHaveLength(1);
  });

  test('an erasure by command waits for the end, as nothing can be found for certain (audit trace)', async () => {
    const { unit, id, names } = await began();
    await names.begin('old', 'new');
    expect(await attempt(id, unit.context)).toMatchObject({ do: 'wait' });
    expect(await unit.context.erasures.open()).toHaveLength(1);
    await names.end('old', 'new');
    expect(await attempt(id, unit.context)).toEqual({ do: 'done' });
  });

  test('one that was at work meanwhile looks once more (audit trace)', async () => {
    const { unit, id, names } = await began();
    const passing = {
      ...unit.context,
      feedback: overriding(unit.context.feedback, {
        mask: async (contact) => {
          await names.begin('old', 'new');
          await names.end('old', 'new');
          return await unit.context.feedback.mask(contact);
        },
      }),
    };
    expect(await attempt(id, passing)).toMatchObject({ do: 'wait' });
    expect(await unit.context.erasures.all()).toEqual([]);
    expect(await attempt(id, unit.context)).toEqual({ do: 'done' });
  });
});

describe('what is on its way while somebody is forgotten', () => {
  test('of two attempts at once the later one leaves nobody behind when its process is killed after the end (audit trace)', async () => {
    const unit = unitContext();
    const { context } = unit;
    await asked(unit, 'a', { email });
    const id = await begin(eraseOf({ contacts: [email] }), context);
    const dying: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        mask: async (contact) => {
          const result = await context.feedback.mask(contact);
          await attempt(id, context);
          return result;
        },
      }),
      contacts: overriding(context.contacts, { forgetAsked: () => Promise.reject(new Error('killed')) }),
    };
    await expect(attempt(id, dying)).rejects.toThrow('killed');
    expect([await context.erasures.open(), (await context.erasures.all()).length]).toEqual([[], 1]);
    expect(await redis.handle.client.keys('{cl:calm}:erasure:*')).toEqual([]);
  });

  test('the note of an earlier request does not come back (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, again: each closing }' });
    const { context, vendor } = unit;
    await asked(unit, 'z', { email });
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    let isErasing = false;
    const racing: SourceContext = {
      ...context,
      contacts: overriding(context.contacts, {
        lastAsked: async (key) => {
          const last = await context.contacts.lastAsked(key);
          if (!isErasing) {
            isErasing = true;
            await erase(eraseOf({ contacts: [email] }), context);
          }
          return last;
        },
      }),
    };
    await ask({ journeyId: 'a.1' }, racing);
    expect(isErasing).toBe(true);
    expect(await redis.handle.client.keys('{cl}:contact:*:asked')).toEqual([]);
  });

  test('a record that is called by their address is not remembered by it once it has been read (audit trace)', async () => {
    const { aliases, source } = unitContext().context;
    const alias = aliases.of(email);
    await aliases.note([email], ago(2_000));
    const slow = overriding(source, {
      read: async () => {
        await aliases.forget([alias], new Date());
        const record = { id: email, currentId: email, state: { is: 'open' as const }, shape: {} };
        return [{ ok: true, record }];
      },
    });
    const [result] = await aliasedSource(slow, aliases, { now: () => new Date() }).read([alias], 'plan');
    expect(result).toMatchObject({ ok: true, record: { id: alias, currentId: alias } });
    expect(await redis.handle.client.keys('{cl:calm}:alias:*')).toEqual([]);
  });
});

describe('what names somebody where no journey does', () => {
  test('the note of when they were asked goes, though its process was killed once they were masked (audit trace)', async () => {
    const { context } = unitContext();
    await context.contacts.setLastAsked(email, { at: ago(1_000), journey: 'calm/gone.1' });
    const event = eraseOf({ contacts: [email] });
    const forgetAsked = () => Promise.reject(new Error('killed'));
    const dying = { ...context, contacts: overriding(context.contacts, { forgetAsked }) };
    await expect(erase(event, dying)).rejects.toThrow('killed');
    await erase(event, context);
    expect(await context.contacts.lastAsked(email)).toBeUndefined();
  });

  const ids: [called: string, erased: string][] = [
    ['Erika@Example.com', 'erika@example.com'],
    ['erika%40example.com', 'ERIKA@example.com'],
    ['+372 5551 2345', '0037255512345'],
  ];
  test.each(ids)(
    'a record that is called %j is not remembered by that, erased as %j (audit trace)',
    async (called, erased) => {
      const { context } = unitContext();
      await context.aliases.note([called], ago(2_000));
      await erase(eraseOf({ contacts: [erased] }), context);
      expect(await redis.handle.client.keys('{cl:calm}:alias:*')).toEqual([]);
    },
  );

  test('a record that is called by their address is forgotten by it, whom nobody was to ask about (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: none, campaign: 12, when: "false", contact: customer.email }' });
    const { context } = unit;
    const alias = context.aliases.of(email);
    await context.aliases.note([email, 'other@example.com'], ago(2_000));
    unit.vendor.close(email, { customer: { email } });
    await plan(eventOf(alias, { receivedAt: ago(1_000) }), context);
    expect(await unit.store.get(`${alias}.1`)).toMatchObject({ state: 'skipped' });
    await erase(eraseOf({ contacts: [email] }), context);
    const other = context.aliases.of('other@example.com');
    expect(await redis.handle.client.keys('{cl:calm}:alias:*')).toEqual([`{cl:calm}:alias:${other}`]);
  });

  test('its address comes back for a day at most, when a delivery from before is repeated (audit trace)', async () => {
    const { context, vendor } = unitContext();
    vendor.close(email, { customer: { email } });
    const event = eventOf(context.aliases.of(email), { receivedAt: ago(1_000) });
    await context.aliases.note([email], event.receivedAt);
    await plan(event, context);
    await erase(eraseOf({ contacts: [email] }), context);
    await context.aliases.note([email], new Date());
    await plan({ ...event, receivedAt: new Date() }, context);
    const left = await redis.handle.client.pttl(`{cl:calm}:alias:${event.recordId}`);
    expect([left > 0, left <= 86_400_000]).toEqual([true, true]);
  });

  test('turns of a backfill are kept under digests (audit trace)', async () => {
    const { context } = unitContext();
    const turn = { via: 'backfill', everyMs: 60_000 } as const;
    await plan(eventOf('a', turn), context);
    await plan(eventOf('b', { ...turn, key: `closing of ${email}` }), context);
    const turns = await redis.handle.client.hkeys('{cl:calm}:backfill:turns');
    expect([turns.length, turns.filter((one) => one.includes(email))]).toEqual([1, []]);
  });
});

describe('what would stay for good', () => {
  test("a survey's answers that came once the journey was erased do not wait with a stage that is stopped (audit trace)", async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    const { requestId = '' } = (await unit.store.get('a.1')) ?? {};
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const receivedAt = new Date();
    const survey = { kind: 'survey', requestId, answers: { q1: 'I am Erika' }, what: 'survey', key: 's' } as const;
    await unit.pipeline.jobs.plan.add([{ id: 'late', data: { ...survey, at: receivedAt, receivedAt } }]);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const [left] = await jobsOf(unit.pipeline.jobs.plan);
    expect(left).toHaveProperty('answers', {});
  });

  test('the contact that was looked for before another was chosen (audit trace)', async () => {
    const { context, store, vendor } = unitContext();
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    const lookedFor = { at: ago(500), intent: intentNow(), contact: email, numAppeals: 0, lastAppeal: null };
    await store.update('a.1', (now) => ({ journey: step({ ...now, lookedFor }, 'received', new Date()), trace: [] }));
    const { state } = vendor.records.get('a') ?? expect.fail('no record');
    vendor.close('a', { customer: { email: 'second@example.com' }, state });
    await plan(eventOf('a', { receivedAt: ago(500) }), context);
    expect(await store.get('a.1')).toMatchObject({ state: 'waiting', contact: { value: 'second@example.com' } });
    await erase(eraseOf({ contacts: [email] }), context);
    expect(JSON.stringify(await store.get('a.1'))).not.toContain(email);
  });

  test('the name of a closing, which is in the words of its vendor (audit trace)', async () => {
    const unit = unitContext();
    const state = { is: 'closed' as const, closing: `closed for ${email}`, closedAt: ago(2_000) };
    await asked(unit, 'a', { email }, { state });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(JSON.stringify(await unit.store.get('a.1'))).not.toContain(email);
    await plan(eventOf('a', { receivedAt: new Date() }), unit.context);
    expect((await unit.store.records.journeysOf('a')).map(({ id }) => id)).toEqual(['a.1']);
  });

  test('a comment that was given elsewhere is not kept with a journey that no contact leads to (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: none, campaign: 15, when: "false", contact: $trim(customer.email) }' });
    unit.vendor.close('a', { customer: { email } });
    const graded = { kind: 'external-grade', recordId: 'a', grade: 1, comment: 'I am Erika', what: 'graded' } as const;
    await plan({ ...graded, at: new Date(), key: 'g', receivedAt: ago(1_000) }, unit.context);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const given = (await unit.store.get('a.1'))?.given;
    expect(given).toMatchObject({ grade: 1, comment: null });
    expect(await unit.trace('a.1')).toMatch(/its comment is not kept/);
  });

  test('nor one that was given for the record that theirs was merged into (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 15, contact: customer.email }' });
    const { context, vendor, store } = unit;
    await asked(unit, 'a', { email });
    vendor.close('r', { customer: { email } });
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'r' }), context);
    const graded = { kind: 'external-grade', recordId: 'r', grade: 1, comment: 'I am Erika', what: 'graded' } as const;
    const waiting = { ...graded, at: new Date(), key: 'g', receivedAt: ago(1_000) };
    await erase(eraseOf({ contacts: [email] }), context);
    await plan(waiting, context);
    expect([(await store.get('a.1'))?.given, (await store.get('r.1'))?.given?.comment]).toEqual([undefined, null]);
  });

  test('the digests of those who were forgotten go when their time is up (audit trace)', async () => {
    const { context } = unitContext({ general: 'retention: { journeys: 90d }' });
    await erase(eraseOf({ contacts: [email] }), context);
    const left = await redis.handle.client.pttl('{cl:calm}:erasures:forgotten');
    expect(Math.round(left / 86_400_000)).toBe(90);
  });
});

describe('two sources of one account', () => {
  const rule = '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }';

  test.each(['in one process', 'in two'])(
    'a person is forgotten in both, though only one is told by their id (%s) (audit trace)',
    async (where) => {
      const vendor = Object.assign(new ToyVendor(), { account: 'the only account' });
      const unit = unitContext({ vendor, rule, ...(where === 'in one process' && { others: ['other'] }) });
      const second = where === 'in one process' ? unit : unitContext({ vendor, rule, source: 'other' });
      for (const { engine } of [unit, second]) await engine.noteSources();
      const other = second.engine.pipelines.get('other')?.context ?? expect.fail('no pipeline');
      await asked(unit, 'a', { phone: '+37255512345' }, { personId: '7' });
      await asked({ ...second, context: other }, 'b', { email }, { personId: '7' });
      await erase(eraseOf({ personIds: ['7'] }), unit.context);
      expect([sentTo(), (await other.store.get('b.1'))?.erasedAt]).toEqual([['***', '***'], expect.any(Date)]);
    },
  );

  test('in another account the same id is somebody else (audit trace)', async () => {
    const unit = unitContext({ rule, others: ['other'] });
    const other = unit.engine.pipelines.get('other')?.context ?? expect.fail('no pipeline');
    await asked(unit, 'a', { phone: '+37255512345' }, { personId: '7' });
    await asked({ ...unit, context: other }, 'b', { email }, { personId: '7' });
    await erase(eraseOf({ personIds: ['7'] }), unit.context);
    expect(sentTo()).toEqual(['***', email]);
  });
});
