import { expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { anyone, eventOf, type UnitContext, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;

const ruleWith = (campaign: string, more = '') =>
  `{ name: all, campaign: ${campaign}, contact: customer.email${more} }`;
const inEstonian = () => service.standin.addCampaign({ account: 'acme', id: 113, name: 'Pärast tuge', type: 'mixed' });

async function planned({ vendor, context, store }: UnitContext, id: string, locale?: string) {
  vendor.close(id, { ...anyone, ...(locale !== undefined && { locale }) });
  await plan(eventOf(id), context);
  return (await store.get(`${id}.1`)) ?? expect.fail('no journey');
}

test("a customer is asked in the campaign of the customer's language, which the trace names", async () => {
  inEstonian();
  const unit = unitContext({ rule: ruleWith('{ et: 113, default: 12 }') });
  const asked = async (id: string, locale?: string) => {
    await planned(unit, id, locale);
    await ask({ journeyId: `${id}.1` }, unit.context);
    return await unit.store.get(`${id}.1`);
  };
  expect(await asked('a', 'et_EE')).toMatchObject({ state: 'asked', campaign: 113, locale: 'et-ee' });
  expect(await asked('b', 'fi')).toMatchObject({ state: 'asked', campaign: 12 });
  expect(await asked('c')).toMatchObject({ state: 'asked', campaign: 12 });
  expect(service.standin.requests().map(({ campaign }) => campaign)).toEqual([113, 12, 12]);
  expect(await unit.trace('a.1')).toMatch(/rule "all", campaign 113 \(language et-ee: et\)/);
  expect(await unit.trace('c.1')).toMatch(/rule "all", campaign 12 \(language not known: default\)/);
});

test('caps and throttles of a campaign count the campaign that was chosen', async () => {
  inEstonian();
  const general = 'policy: { campaigns: { 113: { throttle: 30d } } }';
  const unit = unitContext({ general, rule: ruleWith('{ et: 113, default: 12 }') });
  for (const [id, locale] of Object.entries({ a: 'et', b: 'et', c: 'en' })) {
    await planned(unit, id, locale);
    await ask({ journeyId: `${id}.1` }, unit.context);
  }
  const states = await Promise.all(['a.1', 'b.1', 'c.1'].map(async (id) => (await unit.store.get(id))?.state));
  expect(states).toEqual(['asked', 'skipped', 'asked']);
});

test('a campaign that lacks a field holds up customers of its language only', async () => {
  inEstonian();
  const unit = unitContext({ rule: ruleWith('{ et: 113, default: 12 }', ', fields: { Store: ticket.store }') });
  await expect(planned(unit, 'a', 'et')).rejects.toMatchObject({
    advice: { kind: 'config', only: 'rule "all" in campaign 113' },
  });
  expect(await planned(unit, 'b', 'en')).toMatchObject({ state: 'waiting', campaign: 12 });
});
