import { describe, expect, test } from 'vitest';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { eventOf, overriding, useManual } from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const sentTo = () => sentToBy(service.standin);

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

  test('turns of a backfill are kept under digests (audit trace)', async () => {
    const { context } = unitContext();
    const turn = { via: 'backfill', everyMs: 60_000 } as const;
    await plan(eventOf('a', turn), context);
    await plan(eventOf('b', { ...turn, key: `closing of ${email}` }), context);
    const turns = await redis.handle.client.hkeys('{cl:calm}:backfill:turns');
    expect([turns.length, turns.filter((one) => one.includes(email))]).toEqual([1, []]);
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
