import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { zendesk } from '../../../../../connectors/zendesk/zendesk.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { type Account, account } from '../../../../support/connectors/zendesk/account.ts';
import { eventOf, hour, useManual } from '../../../../support/manual.ts';

/* Asking decides again: what changes at Zendesk, or in the configuration, between a closing and the time when its customer is due. */

const world = useManual();
beforeEach(() => {
  const customFields = [{ name: 'Store', fieldType: 'Text' as const }];
  world.standin.addCampaign({ account: 'acme', id: 113, name: 'Another', type: 'mixed', customFields });
});

const always = 'campaign: 12, contact: requester.email, fields: { Store: ticket.fields.store }, delay: 3h';
const phone = `{ name: phone, when: 'ticket.group.name = "Phone"', ${always} }`;
const everybody = `{ name: everybody, ${always} }`;
const byPhone = phone.replace('requester.email', 'requester.phone');

/** A ticket of Ann's, solved by the group Phone, whose journey waits. */
interface Desk extends Account {
  ticket: number;
  store: number;
  night: number;
}

interface Configuration {
  /** Default: `phone`. */
  rules?: string;
  /** The rest, and the file of people who are not to be asked. */
  general?: string;
  list?: string;
}

interface Change extends Configuration {
  atZendesk?: (desk: Desk) => unknown;
  /** What else happens meanwhile. */
  elsewhere?: () => Promise<unknown>;
  /** What is another in the configuration by then. */
  then?: Configuration;
  /** Default: three hours after the closing. */
  askedAfter?: number;
}

/** Plans the closing of a ticket, has something change, and asks when its customer is due. */
async function changed({ atZendesk, elsewhere, then, askedAfter = 3 * hour, ...first }: Change) {
  const desk = await openDesk();
  const folder = mkdtempSync(join(tmpdir(), 'decide-again-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { clientId, clientSecret } = desk.standin.credentials;
  const at = `subdomain: acme, baseUrl: "${desk.server.url}", clientId: ${clientId}, clientSecret: ${clientSecret}`;
  const settings = `connector: zendesk, ${at}, webhookSecrets: [s]`;
  const open = ({ rules = phone, general = '', list = '' }: Configuration) => {
    writeFileSync(join(folder, 'do-not-ask.txt'), list);
    const file = join(folder, 'closeloop.yaml');
    return world.unitContext({ source: 'desk', rule: rules, general, settings, file, connectors: [zendesk] });
  };
  const before = open(first);
  const id = `${desk.ticket}.1`;
  await plan(eventOf(`${desk.ticket}`), before.context);
  expect(await before.store.get(id)).toMatchObject({ state: 'waiting', rule: 'phone', personId: `${desk.customer}` });
  await atZendesk?.(desk);
  await elsewhere?.();
  const earlier = world.standin.requests().length;
  // The same process where the configuration stays: what it keeps of Zendesk must not count.
  const { context, store, trace } = then === undefined ? before : open({ ...first, ...then });
  const clock = { ...liveClock, now: () => new Date(Date.now() + askedAfter) };
  await ask({ journeyId: id }, { ...context, clock });
  const journey = await store.get(id);
  return { desk, journey, trace: await trace(id), requests: world.standin.requests().slice(earlier) };
}

async function openDesk(): Promise<Desk> {
  const one = await account();
  const store = one.standin.addTicketField({ title: 'Store', type: 'text' }).id;
  // A number that can be dialled.
  one.standin.changeUser({ id: one.customer, phone: '+37255512345' });
  const night = one.standin.addGroup({ name: 'Night' }).id;
  return { ...one, store, night, ticket: one.solved({ customFields: { [store]: 'Tallinn' } }) };
}

describe('a customer who is asked as ticket, requester and rules are by then', () => {
  const annAtHome = { name: 'Ann', email: 'ann@home.example' };
  const rows: [what: string, change: Change, request: object, journey: object, said: RegExp][] = [
    [
      'an e-mail address that was corrected',
      { atZendesk: ({ standin, customer }) => standin.changeUser({ id: customer, email: 'ann@home.example' }) },
      { email: 'ann@home.example' },
      { contact: { kind: 'email', value: 'ann@home.example' } },
      /: contact requester\.email is now another email$/m,
    ],
    [
      'a phone number that was removed, where an e-mail address is left',
      {
        rules: phone.replace('requester.email', '[requester.phone, requester.email]'),
        atZendesk: ({ standin, customer }) => standin.changeUser({ id: customer, phone: null }),
      },
      { email: 'ann@example.com' },
      { contact: { kind: 'email', value: 'ann@example.com' } },
      /: contact requester\.email is now another email/,
    ],
    [
      'another requester',
      {
        atZendesk: ({ standin, ticket }) =>
          standin.edit({ id: ticket, requesterId: standin.addUser({ id: 77, email: 'max@example.com' }).id }),
      },
      { email: 'max@example.com' },
      { personId: '77' },
      /: contact requester\.email is now another email; the customer is another person at the vendor;/,
    ],
    [
      'a requester who was merged into another user',
      {
        atZendesk: ({ standin, customer }) =>
          standin.mergeUser({ id: customer, into: standin.addUser({ id: 78, ...annAtHome }).id }),
      },
      { email: 'ann@home.example' },
      { personId: '78' },
      /: contact requester\.email is now another email; the customer is another person at the vendor;/,
    ],
    [
      'a custom field that was corrected',
      { atZendesk: ({ standin, ticket, store }) => standin.setField({ id: ticket, fieldId: store, value: 'Tartu' }) },
      { email: 'ann@example.com', customFields: { Store: 'Tartu' } },
      { values: { Store: 'Tartu' } },
      /: custom field "Store" has another value$/m,
    ],
    [
      'another group, for which another rule is',
      {
        rules: `${phone}, ${everybody.replace('campaign: 12', 'campaign: 113')}`,
        atZendesk: ({ standin, ticket, night }) => standin.edit({ id: ticket, groupId: night }),
      },
      { campaign: 113 },
      { rule: 'everybody', campaign: 113 },
      /: rule "everybody" in place of "phone"; campaign 113 in place of 12$/m,
    ],
    [
      'a rule with another name',
      { then: { rules: phone.replace('name: phone', 'name: calls') } },
      { campaign: 12 },
      { rule: 'calls' },
      /: rule "calls" in place of "phone"$/m,
    ],
    [
      'a rule that was moved behind another',
      { rules: `${phone}, ${everybody}`, then: { rules: `${everybody}, ${phone}` } },
      { campaign: 12 },
      { rule: 'everybody' },
      /: rule "everybody" in place of "phone"$/m,
    ],
    [
      'another campaign of the rule',
      { then: { rules: phone.replace('campaign: 12', 'campaign: 113') } },
      { campaign: 113, email: 'ann@example.com', customFields: { Store: 'Tallinn' } },
      { rule: 'phone', campaign: 113 },
      /: campaign 113 in place of 12/,
    ],
  ];
  test.each(rows)('%s', async (_, change, request, journey, said) => {
    const found = await changed(change);
    expect(found.requests).toMatchObject([request]);
    expect(found.journey).toMatchObject({ state: 'asked', ...journey });
    expect(found.trace).toMatch(said);
    expect(found.trace).not.toMatch(/@(?:home\.)?example/);
  });

  test('where nothing has changed, as planned, and the trace says nothing of it', async () => {
    const { requests, trace } = await changed({});
    expect(requests).toMatchObject([{ campaign: 12, email: 'ann@example.com', customFields: { Store: 'Tallinn' } }]);
    expect(trace).not.toMatch(/decided again/);
  });
});

describe('a customer whom nobody asks by then', () => {
  const list = { general: 'policy: { never: [{ contactsIn: do-not-ask.txt }] }' };
  const rows: [what: string, change: Change, reason: string, why: RegExp][] = [
    [
      'a tag was added that is never asked about',
      {
        general: 'policy: { never: [\'"no_survey" in ticket.tags\'] }',
        atZendesk: ({ standin, ticket }) => standin.setTags({ id: ticket, tags: ['no_survey'] }),
      },
      'never',
      /no_survey/,
    ],
    [
      "another group: the rule's condition is no longer true",
      { atZendesk: ({ standin, ticket, night }) => standin.edit({ id: ticket, groupId: night }) },
      'no-rule',
      /no rule's condition is true \("phone"\)/,
    ],
    [
      'the phone number was removed, and nothing else is asked by',
      { rules: byPhone, atZendesk: ({ standin, customer }) => standin.changeUser({ id: customer, phone: null }) },
      'no-contact',
      /no usable contact/,
    ],
    [
      'the rule was removed, and no other fits',
      { then: { rules: phone.replace('name: phone', 'name: night').replace('"Phone"', '"Night"') } },
      'no-rule',
      /no rule's condition is true \("night"\)/,
    ],
    [
      'the file of those not to ask has the address by then',
      { ...list, then: { list: 'ANN@example.com\n' } },
      'never',
      /on the list do-not-ask\.txt/,
    ],
    [
      'maxAge has passed',
      { rules: phone.replace('3h', '3h, maxAge: 5h'), askedAfter: 9 * hour },
      'too-old',
      /later than planned \(maxAge/,
    ],
    [
      'the person was asked meanwhile through another source',
      { general: 'policy: { throttle: 30d }', elsewhere: askAnnElsewhere },
      'throttled',
      /asked/,
    ],
  ];
  test.each(rows)('%s', async (_, change, reason, why) => {
    const { requests, journey, trace } = await changed(change);
    expect(requests).toEqual([]);
    expect(journey).toMatchObject({ state: 'skipped', reason, why: expect.stringMatching(why) });
    expect(trace).toMatch(/skipped: /);
  });
});

/** A closing of the toy vendor, of a customer with Ann's address, who is asked at once. */
async function askAnnElsewhere() {
  const { vendor, context, store } = world.unitContext({ source: 'shop', general: 'policy: { throttle: 30d }' });
  vendor.close('o', { customer: { email: 'ann@example.com' } });
  await plan(eventOf('o'), context);
  await ask({ journeyId: 'o.1' }, context);
  expect(await store.get('o.1')).toMatchObject({ state: 'asked' });
}
