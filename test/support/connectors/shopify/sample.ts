import { shopify } from '../../../../connectors/shopify/shopify.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { ShopifyStandin } from '../../../../standins/shopify/standin.ts';
import { signShopify } from '../../../../standins/shopify/webhooks.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { fault, hookUrl, leapingClock, mailbox, posted, preflight } from '../vendor-account.ts';
import { topics } from './fixture.ts';

const metafields = [
  ['feedback_grade', 'number_integer'],
  ['feedback_comment', 'multi_line_text_field'],
  ['feedback_at', 'date_time'],
  ['feedback_status', 'single_line_text_field'],
] as const;

type Standin = ShopifyStandin;

/** Misconfigurations of a shop, and how each comes about. */
export const plants: Readonly<Record<string, (standin: Standin) => unknown>> = {
  'a revoked token': (standin) => standin.uninstall(),
  'a frozen shop': (standin) => standin.changeSettings({ shop: 'frozen' }),
  'a locked shop': (standin) => standin.changeSettings({ shop: 'locked' }),
  'a shop that is no more': (standin) => standin.changeSettings({ shop: 'closed' }),
  'no right to write': (standin) => without(standin, 'write_orders'),
  'no right to customers': (standin) => without(standin, 'read_customers'),
  'no right to fulfillments': (standin) => without(standin, 'read_fulfillments'),
  'no right to locations': (standin) => without(standin, 'read_locations'),
  'webhooks of another version': (standin) => standin.changeSettings({ webhookVersion: '2025-10' }),
  'a removed webhook': (standin) => standin.removeSubscriptions({ topic: 'ORDERS_CANCELLED' }),
  'no webhook at all': (standin) => standin.removeSubscriptions(),
  'a webhook to another address': (standin) => replace(standin, { uri: 'https://old.example/hooks' }),
  'a webhook in XML': (standin) => replace(standin, { format: 'XML' }),
  'a webhook without the id': (standin) => replace(standin, { includeFields: ['name', 'updated_at'] }),
  'a webhook with a filter': (standin) => replace(standin, { filter: 'source_name:pos' }),
  'a webhook twice': (standin) => standin.addSubscription({ topic: 'ORDERS_FULFILLED', uri: hookUrl }),
  'a webhook for every change': (standin) => standin.addSubscription({ topic: 'ORDERS_UPDATED', uri: hookUrl }),
  'no metafield': (standin) => void standin.definitions().splice(0, 1),
  'a metafield of another type': (standin) => redefine(standin, { type: 'single_line_text_field' }),
  'a metafield that refuses a grade': (standin) => redefine(standin, { validations: [{ name: 'max', value: '4' }] }),
};

function without(standin: Standin, scope: string): void {
  const { scopes } = standin.changeSettings({});
  standin.changeSettings({ scopes: scopes.filter((one) => ![scope, scope.replace('read_', 'write_')].includes(one)) });
}

function replace(standin: Standin, change: object): void {
  standin.removeSubscriptions({ topic: 'ORDERS_FULFILLED' });
  standin.addSubscription({ topic: 'ORDERS_FULFILLED', uri: hookUrl, ...change });
}

function redefine(standin: Standin, change: object): void {
  standin.definitions().splice(0, 1);
  standin.addDefinition({ key: 'feedback_grade', ...change });
}

export const shopifySample: ConnectorSample = {
  connector: shopify,
  signatureHeaders: ['x-shopify-hmac-sha256'],
  missingId: '999999999',
  // By points: 27 whole orders a call, a hundred states. A write looks before and after; what each order needs costs 11 a step.
  callsFor100: { read: 4, writeBack: 6 },
  does: ['poll', 'check', 'setup', 'no-answer', 'echo', 'erase', 'forget', 'replace'],
  pollPage: 250,
  lacks: {
    notes: "the answer is a line in the order's one note, which nobody can add to: write-back.test.ts looks at it",
    lock: 'orders take metafields in any state',
  },
  acts: [{ name: 'tag', params: { order: ['unhappy'], customer: ['call back'] } }],
  planted: Object.keys(plants),
  async start() {
    const { now, atOnce } = leapingClock();
    const { fetch, taken, emptied } = mailbox();
    const standin = new ShopifyStandin({ now, fetch });
    const server = await serve(standin.handle, { faults: standin.faults });
    for (const topic of topics) standin.addSubscription({ topic, uri: hookUrl });
    // Somebody else's, so that our writes are told at all.
    standin.addSubscription({ topic: 'ORDERS_UPDATED', uri: 'https://elsewhere.example/hooks' });
    for (const [key, type] of metafields) standin.addDefinition({ key, type });
    standin.setCompliance({ uri: hookUrl });
    const scopes = [...standin.changeSettings({}).scopes, 'write_customers'];
    standin.changeSettings({ scopes, maximumAvailable: 1_000_000, restoreRate: 1_000_000 });
    const customerId = standin.addCustomer({ email: 'account@example.com' }).id;
    /** The stand-in signs with the app's one secret; the suite wants another: the same bytes, signed again. */
    const signed = (delivery: Delivery, secret: string): Delivery => ({
      ...delivery,
      headers: { ...delivery.headers, 'x-shopify-hmac-sha256': signShopify(secret, delivery.raw) },
    });
    const last = (topic: string): Delivery => taken(({ headers }) => headers['x-shopify-topic'] === topic);
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      const { id } = standin.addOrder({ customerId, email: customer.email, note: customer.comment });
      await standin.fulfil({ id });
      return { recordId: id, delivery: signed(last('orders/fulfilled'), secret) };
    };
    return {
      settings: (secrets) => ({
        shop: standin.shop.domain,
        accessToken: standin.accessToken,
        baseUrl: server.url,
        trigger: 'fulfilled',
        writeBack: {
          grade: 'feedback_grade',
          comment: 'feedback_comment',
          answeredAt: 'feedback_at',
          status: 'feedback_status',
          tags: true,
          note: true,
          noAnswer: true,
        },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      now,
      ports: { now },
      closeRecord,
      closeAtOnce: (count) => atOnce(count, () => closeRecord(secrets[0])),
      reopen: async (id) => void (await standin.cancelParcel({ id })),
      async closeAgain(id, secret) {
        await standin.fulfil({ id });
        return signed(last('orders/fulfilled'), secret);
      },
      correctEmail: async (id, email) => void (await standin.change({ id, email })),
      async replaceCustomer(id, email) {
        await standin.change({ id, email, customerId: standin.addCustomer({ email }).id });
      },
      sign: (raw, secret) =>
        posted(raw, {
          'x-shopify-topic': 'orders/fulfilled',
          'x-shopify-shop-domain': standin.shop.domain,
          'x-shopify-hmac-sha256': signShopify(secret, raw),
        }),
      gradeOn: (id) => {
        const text = standin.order(id).metafields['$app.feedback_grade'];
        return text === undefined ? null : Number(text);
      },
      commentOn: (id) => standin.order(id).metafields['$app.feedback_comment'] ?? null,
      swallow: async () => void standin.changeSettings({ sticky: { '$app.feedback_grade': '1' } }),
      dropdown: async (grades) =>
        redefine(standin, { validations: [{ name: 'max', value: String(Math.max(...grades)) }] }),
      traces(id) {
        const { tags, note, metafields } = standin.order(id);
        return { tags, note, metafields, ofCustomer: standin.customer(customerId).tags };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, bodyOf(words), { errors: words })),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
      preflight: () => preflight,
      async strip() {
        standin.removeSubscriptions();
        standin.definitions().splice(0);
      },
      async delivered(secret) {
        await standin.idle();
        return emptied().map((delivery) => signed(delivery, secret));
      },
      async erase(_recordId, secret) {
        await standin.redactCustomer({ customerId });
        return signed(last('customers/redact'), secret);
      },
      async plant(what) {
        const act = plants[what];
        if (act === undefined) throw new Error(`nobody knows how to plant "${what}"`);
        await act(standin);
      },
    };
  },
};

/** As Shopify words its errors. */
const bodyOf = (words: string): object => ({
  errors: [{ message: words, extensions: { code: words }, path: [words] }],
  data: { [words]: words },
});
