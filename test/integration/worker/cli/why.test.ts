import { expect, test } from 'vitest';
import { z } from 'zod';
import { why } from '../../../../worker/cli/why.ts';
import { startLoop } from '../../../support/loop.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('a customer is found by any address, a record and a journey by name, each with the reason of every closing', async () => {
  const rule = `{ name: some, when: ticket.store != "Riga", campaign: 12, contact: [customer.email, customer.phone], throttle: 30d }`;
  const loop = await startLoop(redis, { source: fresh(), rule });
  const { source } = loop.store;
  const customer = { email: 'both@example.com', phone: '+372 5551 2345' };
  await loop.asked('a', { customer });
  await loop.post(loop.vendor.close('b', { customer, store: 'Riga' }).delivery);
  await loop.journey('b.1', 'skipped');
  await loop.post(loop.vendor.close('c', { customer }).delivery);
  await loop.journey('c.1', 'skipped');
  await loop.post(loop.vendor.close('d', { customer: {} }).delivery);
  await loop.journey('d.1', 'skipped');
  const ask = (text: string, more: object = {}) => why({ ...beside(loop), stored: false, about: text, ...more });
  const about = async (text: string) => Answer.parse((await printed(() => ask(text))).rows[0]);

  const asked = { journey: `${source}/a.1`, state: 'asked', isAsked: true, rule: 'some', campaign: 12 };
  const noRule = { journey: `${source}/b.1`, state: 'skipped', isAsked: false, reason: 'no-rule' };
  const throttled = {
    journey: `${source}/c.1`,
    isAsked: false,
    reason: 'throttled',
    what: expect.stringMatching(/asked at \S+ \(journey \S+\/a\.1; throttle/),
  };
  for (const text of [customer.email, customer.phone, '0037255512345']) {
    const { first, closings } = await about(text);
    expect([text, first, closings]).toMatchObject([text, throttled, [throttled, noRule, asked]]);
  }
  expect(await about('b')).toMatchObject({ closings: [noRule] });
  expect(await about(`${source}/b`)).toMatchObject({ closings: [noRule] });
  expect(await about(`${source}/c.1`)).toMatchObject({ closings: [throttled] });
  expect(await about('d')).toMatchObject({ first: { reason: 'no-contact', isAsked: false } });

  const { out } = await printed(() => ask(customer.email, { json: false, stored: true }));
  expect(out).toContain('not asked: ');
  expect(out).not.toMatch(/both@|5551/);
  expect(await printed(() => ask('stranger@example.com'))).toMatchObject({ code: 1, rows: [{ closings: [] }] });
  const { said } = await sayings(() => ask('stranger@example.com', { json: false }));
  expect(said.join('')).toContain('has never heard of');
});

const Answer = z.looseObject({ first: z.unknown(), closings: z.array(z.unknown()), records: z.array(z.unknown()) });

test('every condition is told with its value now, and what would be sent if the record closed now', async () => {
  const rule = `{ name: riga, when: ticket.store = "Riga", campaign: 12, contact: customer.email }
      - { name: broken, when: ticket.store + 1 = 2, campaign: 12, contact: customer.email }
      - { name: rest, campaign: 12, contact: customer.email, fields: { Store: ticket.store }, again: each closing }`;
  const general = `policy: { never: ['"vip" = ticket.store', { ownDomains: [acme.ee] }] }`;
  const loop = await startLoop(redis, { source: fresh(), rule, general });
  const { source } = loop.store;
  await loop.asked('r', { store: 'Riga' });
  const ask = (more: object = {}) => why({ ...beside(loop), stored: false, about: 'r', ...more });
  const now = async () => Answer.parse((await printed(() => ask())).rows[0]).records;
  const values = { of: 'never', condition: '"vip" = ticket.store', is: 'false', saw: { 'ticket.store': 'Riga' } };
  expect(await now()).toMatchObject([
    {
      source,
      record: 'r',
      state: 'closed',
      journey: `${source}/r.1`,
      conditions: [
        { ...values, decides: false },
        { of: 'never', condition: 'ownDomains: acme.ee', is: 'false' },
        { of: 'rule', rule: 'riga', is: 'true', decides: true },
        { rule: 'broken', is: 'error', why: expect.stringContaining('numbers'), decides: false },
        { rule: 'rest', condition: 'always', is: 'true', decides: false },
      ],
      ifClosedNow: { decision: 'skip', reason: 'asked-already', heldUp: [] },
    },
  ]);

  loop.vendor.close('r', { store: 'Tallinn' });
  expect(await now()).toMatchObject([
    {
      ifClosedNow: { decision: 'skip', reason: 'condition-failed' },
      conditions: [{}, { is: 'not-reached' }, {}, { decides: true }, {}],
    },
  ]);
  loop.vendor.close('r', { store: 'vip' });
  expect(await now()).toMatchObject([
    { ifClosedNow: { reason: 'never' }, conditions: [{ is: 'true', decides: true }, {}, {}, {}, {}] },
  ]);
  const words = await printed(() => ask({ json: false }));
  expect(words.out).toMatch(/never: "vip" = ticket\.store → true \(ticket\.store is vip\) {2}← decides/);
  expect(words.out).toMatch(/if it closed now: nobody would be asked: `"vip" = ticket\.store` is true \(never\)/);

  loop.vendor.failures.read.push(new Error('the vendor is down'));
  expect(await now()).toMatchObject([{ state: 'unreachable', why: 'the vendor is down', conditions: [] }]);
  const calls = loop.vendor.calls.length;
  expect(await printed(() => ask({ stored: true }))).toMatchObject({
    rows: [{ closings: [{ isAsked: true }], records: [] }],
  });
  expect(loop.vendor.calls).toHaveLength(calls);
  expect(loop.feedback.standin.requests()).toHaveLength(1);
});

test('a record of which nothing was told is read, and what would be sent is told with what holds it up', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { source } = loop.store;
  loop.vendor.close('new');
  const { pauses } = loop.app.engine.pipelines.get(source) ?? expect.fail('no source');
  await pauses.pause('plan', { why: 'new texts', by: 'anna@desk', at: new Date() });
  const ask = (about: string) => printed(() => why({ ...beside(loop), stored: false, about }));
  const { code, rows } = await ask(`${source}/new`);
  expect(code).toBe(1);
  expect(rows).toMatchObject([
    {
      closings: [],
      records: [
        {
          record: 'new',
          state: 'closed',
          ifClosedNow: {
            decision: 'ask',
            campaign: 12,
            contact: { kind: 'email', value: 'new@example.com' },
            values: { Store: 'Tallinn' },
            heldUp: [expect.stringContaining(`step plan of ${source} is paused by anna@desk`)],
          },
        },
      ],
      sources: [{ source, paused: [{ stage: 'plan', by: 'anna@desk' }] }],
    },
  ]);
  expect(rows).not.toHaveProperty('0.records.0.journey');
  expect(await ask('nobody@example.com')).toMatchObject({ code: 1, rows: [{ closings: [], records: [] }] });
  expect(loop.feedback.standin.requests()).toEqual([]);
  expect(await loop.store.get('new.1')).toBeUndefined();
});
