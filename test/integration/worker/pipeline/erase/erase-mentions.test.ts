import { describe, expect, test } from 'vitest';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { saveSnapshot } from '../../../../../worker/pipeline/erasure-guard.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { eventOf, jobsOf, overriding, type UnitContext, useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { unitContext } = service;
const sentTo = () => sentToBy(service.standin);
const shop = 'info@shop.example';
const phone = '+37255512345';
const snapshotOf = (shape: object, more: object = {}) => ({ state: 'closed', ...more, shape });
const proofOf = async ({ erasures }: SourceContext) => (await erasures.all())[0];

/** Two customers who were asked, and the snapshots of their records. */
async function twoAsked(unit: UnitContext, tellings: [first: object, second: object]): Promise<void> {
  for (const [i, id] of ['a', 'b'].entries()) {
    await asked(unit, id, { email: `${id}@example.com` });
    await unit.context.snapshots.save(
      id,
      ago(500),
      snapshotOf({ ...tellings[i], customer: { email: `${id}@example.com` } }),
    );
  }
}

describe('an address that stands in records of other people', () => {
  const places: [where: string, shape: object, left: object][] = [
    ['as that of an agent', { agent: { email: shop, name: 'Ann' } }, { agent: { name: 'Ann' } }],
    ['at the top', { assignee: shop }, {}],
    ['in a list', { cc: ['x@example.com', shop] }, { cc: ['x@example.com'] }],
    ['as a name', { seen: { [shop]: true, 'x@example.com': true } }, { seen: { 'x@example.com': true } }],
    ['in a text', { note: `<mailto:${shop}>, or else` }, { note: '<mailto:***>, or else' }],
    ['in another case', { note: 'Write to INFO@Shop.example.' }, { note: 'Write to ***.' }],
  ];
  test.each(places)('it leads to none of them, and is taken out: %s (audit trace)', async (_, shape, left) => {
    const unit = unitContext();
    await twoAsked(unit, [shape, shape]);
    await erase(eraseOf({ contacts: [shop] }), unit.context);
    expect(sentTo()).toEqual(['a@example.com', 'b@example.com']);
    expect([await isErased(unit, 'a.1'), await isErased(unit, 'b.1')]).toEqual([false, false]);
    expect(await unit.context.snapshots.of(['a', 'b'])).toEqual(
      ['a', 'b'].map((id) => snapshotOf({ ...left, customer: { email: `${id}@example.com` } })),
    );
    expect(await proofOf(unit.context)).toMatchObject({ journeys: 0, contacts: 1, mentions: 2 });
  });

  test('nor does a number, however it is written there; an order of the same digits stays (audit trace)', async () => {
    const unit = unitContext();
    await twoAsked(unit, [{ fax: 37255512345, order: 55512345 }, { note: 'call 00372 5551-2345 first' }]);
    await erase(eraseOf({ contacts: [phone] }), unit.context);
    expect(sentTo()).toEqual(['a@example.com', 'b@example.com']);
    expect(await unit.context.snapshots.of(['a', 'b'])).toMatchObject([
      snapshotOf({ order: 55512345 }),
      snapshotOf({ note: 'call *** first' }),
    ]);
  });

  test('it is taken out of events that wait as well, and their customers are asked (audit trace)', async () => {
    const unit = unitContext();
    const snapshot = snapshotOf({ agent: shop, customer: { email } });
    await unit.pipeline.jobs.plan.add([{ id: 'w', data: eventOf('w', { receivedAt: ago(500), snapshot }) }]);
    await erase(eraseOf({ contacts: [shop] }), unit.context);
    expect(await jobsOf(unit.pipeline.jobs.plan)).toMatchObject([{ snapshot: snapshotOf({ customer: { email } }) }]);
    expect(JSON.stringify(await jobsOf(unit.pipeline.jobs.plan))).not.toContain('shop');
    expect(await proofOf(unit.context)).toMatchObject({ mentions: 1 });
  });

  test.each(['before', 'while'])(
    'it does not come back with an event that was taken up before, and kept %s it was forgotten (audit trace)',
    async (when) => {
      const { context } = unitContext();
      const event = eventOf('a', { receivedAt: ago(500), snapshot: snapshotOf({ agent: shop, customer: { email } }) });
      const forgotten = () => erase(eraseOf({ contacts: [shop] }), context);
      if (when === 'before') await forgotten();
      const racing: SourceContext = {
        ...context,
        snapshots: overriding(context.snapshots, {
          save: async (...args) => {
            if (when === 'while') await forgotten();
            await context.snapshots.save(...args);
          },
        }),
      };
      await saveSnapshot(event, racing);
      expect(await context.snapshots.of(['a'])).toEqual([snapshotOf({ customer: { email } })]);
    },
  );

  test('nor does the snapshot of their own record, that was kept while they were forgotten (audit trace)', async () => {
    const { context } = unitContext();
    const event = eventOf('a', { receivedAt: ago(500), snapshot: snapshotOf({ customer: { email } }) });
    const racing: SourceContext = {
      ...context,
      snapshots: overriding(context.snapshots, {
        save: async (...args) => {
          await erase(eraseOf({ contacts: [email] }), context);
          await context.snapshots.save(...args);
        },
      }),
    };
    await saveSnapshot(event, racing);
    expect(await context.snapshots.of(['a'])).toEqual([undefined]);
  });

  test('it is taken out where the service refuses to mask it, too (audit trace)', async () => {
    const unit = unitContext();
    await twoAsked(unit, [{ agent: shop }, {}]);
    service.standin.faults.add({ method: 'POST', path: '/mask$', times: 1_000, status: 422, body: { detail: 'No.' } });
    await erase(eraseOf({ contacts: [shop] }), unit.context);
    expect(JSON.stringify(await unit.context.snapshots.of(['a']))).not.toContain('shop');
    expect(await unit.context.erasures.open()).toHaveLength(1);
  });
});

describe("a record's customer", () => {
  const found: [how: string, rule: string, snapshot: object][] = [
    ['what a rule asks by', 'customer.email', snapshotOf({ customer: { email } })],
    ['what stands beside it', 'customer.phone', snapshotOf({ customer: { phone, mail: email } })],
    ['a list beside it', 'customer.phone', snapshotOf({ customer: { phone, mails: ['x@example.com', email] } })],
    ['beside what is not there', 'customer.phone', snapshotOf({ customer: { mail: email } })],
    [
      'among others of a list',
      'people[is="customer"].phone',
      snapshotOf({ people: [{ is: 'customer', phone, email }] }),
    ],
    ['by a function', '$trim(customer.phone)', snapshotOf({ customer: { phone: ' +37255512345 ', mail: email } })],
    ['what the source says', 'phone', snapshotOf({ phone, mail: email }, { contacts: [phone, email] })],
    ['the id of the person', 'phone', snapshotOf({ phone, agent: email }, { personId: email })],
  ];
  test.each(found)(
    'it is found, and masked with what they were asked by: %s (audit trace)',
    async (_, contact, snapshot) => {
      const unit = unitContext({ rule: `{ name: all, campaign: 12, contact: '${contact}' }` });
      await unit.context.snapshots.save('a', ago(500), snapshot);
      await erase(eraseOf({ contacts: [email] }), unit.context);
      expect(await unit.context.snapshots.of(['a'])).toEqual([undefined]);
      expect(await proofOf(unit.context)).toMatchObject({ mentions: 0 });
    },
  );

  const others: [who: string, rule: string, snapshot: object][] = [
    ['beside it at the top', 'phone', snapshotOf({ phone, agent_email: email })],
    ['in an object within', 'customer.phone', snapshotOf({ customer: { phone, company: { email } } })],
    [
      'another of a list',
      'people[is="customer"].phone',
      snapshotOf({
        people: [
          { is: 'customer', phone },
          { is: 'agent', email },
        ],
      }),
    ],
    [
      'the side not taken',
      'vip ? agent.email : customer.phone',
      snapshotOf({ vip: false, agent: { email }, customer: { phone } }),
    ],
    [
      'not what the source says',
      'customer.phone',
      snapshotOf({ customer: { phone, agent: email } }, { contacts: [phone] }),
    ],
  ];
  test.each(others)('somebody else is not: %s (audit trace)', async (_, contact, snapshot) => {
    const unit = unitContext({ rule: `{ name: all, campaign: 12, contact: '${contact}' }` });
    await unit.context.snapshots.save('a', ago(500), snapshot);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const [left] = await unit.context.snapshots.of(['a']);
    expect(JSON.stringify(left)).toContain(phone);
    expect(JSON.stringify(left)).not.toContain(email);
    expect(await proofOf(unit.context)).toMatchObject({ contacts: 1, mentions: 1 });
  });

  test('it is masked by all that the source says is theirs (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }' });
    await asked(unit, 'b', { phone });
    await unit.context.snapshots.save('a', ago(500), snapshotOf({}, { contacts: [phone, email] }));
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect([sentTo(), await isErased(unit, 'b.1')]).toEqual([['***'], true]);
  });

  test('whom a rule asks for want of anybody is not forgotten with a customer (audit trace)', async () => {
    const unit = unitContext({ rule: `{ name: all, campaign: 12, contact: [customer.email, '"${shop}"'] }` });
    await asked(unit, 'b', {});
    await unit.context.snapshots.save('a', ago(500), snapshotOf({ customer: { email } }));
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await unit.context.snapshots.of(['a'])).toEqual([undefined]);
    expect([sentTo(), await isErased(unit, 'b.1')]).toEqual([[shop], false]);
  });

  test('it is told where an expression that was stopped would have to say who that is (audit trace)', async () => {
    const unit = unitContext({
      rule: `{ name: all, campaign: 12, contact: '($f := function($n) { $n = "Erika" ? customer.email : $f($n) }; $f(name))' }`,
    });
    await unit.context.snapshots.save('a', ago(500), snapshotOf({ name: 'Maria', customer: { email } }));
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await proofOf(unit.context)).toMatchObject({
      unreadable: ['the snapshot of calm/a, over which an expression of a rule was stopped'],
    });
  });
});

describe('a source that this process does not have', () => {
  test("its records' customers are found by what its rules ask by (audit trace)", async () => {
    const knowing = unitContext({ source: 'calm' });
    const other = unitContext({ source: 'other', rule: '{ name: all, campaign: 12, contact: phone }' });
    await knowing.engine.noteSources();
    await other.engine.noteSources();
    await knowing.context.snapshots.save(
      'a',
      ago(500),
      snapshotOf({ agent: shop, customer: { email, name: 'Erika' } }),
    );
    await knowing.context.snapshots.save(
      'b',
      ago(500),
      snapshotOf({ agent: email, customer: { email: 'b@example.com' } }),
    );
    await erase(eraseOf({ contacts: [email] }), other.context);
    const left = [undefined, snapshotOf({ customer: { email: 'b@example.com' } })];
    expect(await knowing.context.snapshots.of(['a', 'b'])).toEqual(left);
  });

  test('also by those that it has got since (audit trace)', async () => {
    const other = unitContext({ source: 'other', rule: '{ name: all, campaign: 12, contact: phone }' });
    for (const rule of ['phone', 'customer.email']) {
      const knowing = unitContext({ source: 'calm', rule: `{ name: all, campaign: 12, contact: ${rule} }` });
      await knowing.engine.noteSources();
      await knowing.context.snapshots.save('a', ago(500), snapshotOf({ customer: { email } }));
      await erase(eraseOf({ contacts: [email] }), other.context);
      const [left] = await knowing.context.snapshots.of(['a']);
      expect(left).toEqual(rule === 'phone' ? snapshotOf({ customer: {} }) : undefined);
      await knowing.context.snapshots.save('a', ago(400), snapshotOf({ customer: { email } }));
    }
  });
});

test('whom nobody mentions keeps the snapshot of their record as it is', async () => {
  const unit = unitContext();
  const snapshot = snapshotOf({ agent: shop, customer: { email: 'b@example.com' } });
  await plan(eventOf('b', { receivedAt: ago(500), snapshot }), unit.context);
  await erase(eraseOf({ contacts: [email] }), unit.context);
  expect(await unit.context.snapshots.of(['b'])).toEqual([snapshot]);
  expect(await proofOf(unit.context)).toMatchObject({ mentions: 0 });
});
