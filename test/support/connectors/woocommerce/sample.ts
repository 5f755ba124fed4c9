import { woocommerce } from '../../../../connectors/woocommerce/woocommerce.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { WooCommerceStandin } from '../../../../standins/woocommerce/standin.ts';
import { signWooCommerce } from '../../../../standins/woocommerce/webhooks.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { fault, hookUrl, leapingClock, mailbox, plantOneOf, posted, preflight } from '../vendor-account.ts';

/** A shop with webhooks that point here, and what brings each misconfiguration about. */
export const woocommerceSample: ConnectorSample = {
  connector: woocommerce,
  signatureHeaders: ['x-wc-webhook-signature'],
  missingId: '999999999',
  // A write looks once and writes once; each note is a call of its own.
  callsFor100: { read: 1, writeBack: 102 },
  does: ['poll', 'check', 'setup', 'no-answer', 'echo', 'forget', 'replace'],
  pollPage: 100,
  acts: [{ name: 'set', params: { follow_up: 'yes', feedback_calls: 2 }, amiss: [{ feedback_grade: '1' }] }],
  lacks: { dropdown: 'meta data hold any text', lock: 'orders take meta data in any status' },
  // The others, with what is said of each: preflight.test.ts.
  planted: ['a wrong key', 'no webhook'],
  async start() {
    const { now, atOnce } = leapingClock();
    const { fetch, taken, emptied } = mailbox();
    const standin = new WooCommerceStandin({ now, fetch });
    const server = await serve(standin.handle, { faults: standin.faults });
    const webhook = (topic: string) =>
      standin.addWebhook({ name: `closeloop ${topic}`, topic, url: hookUrl, secret: 'first-secret' });
    webhook('order.updated');
    webhook('order.deleted');
    let customerId = 56;
    const complete = async (id: number, secret: string) => {
      for (const { id } of standin.webhooks()) standin.changeWebhook({ id, secret });
      await standin.complete(id);
      return taken();
    };
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      const billing = { email: customer.email, first_name: 'Hanna', country: 'DE', phone: '0172 9925904' };
      const { id } = standin.addOrder({ billing, customerId: ++customerId, meta: { gift: customer.comment } });
      return { recordId: String(id), delivery: await complete(id, secret) };
    };
    return {
      settings: (secrets) => ({
        site: server.url,
        consumerKey: standin.consumerKey,
        consumerSecret: standin.consumerSecret,
        writeBack: {
          grade: 'feedback_grade',
          comment: 'feedback_comment',
          answeredAt: 'feedback_at',
          status: 'feedback_status',
          note: true,
          noAnswer: true,
        },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      now,
      closeRecord,
      closeAtOnce: (count) => atOnce(count, () => closeRecord(secrets[0])),
      reopen: async (id) => void (await standin.reopen(Number(id))),
      closeAgain: (id, secret) => complete(Number(id), secret),
      correctEmail: async (id, email) => void (await standin.change({ id: Number(id), billing: { email } })),
      async replaceCustomer(id, email) {
        await standin.change({ id: Number(id), billing: { email }, customerId: ++customerId });
      },
      sign: (raw, secret) => posted(raw, { 'x-wc-webhook-signature': signWooCommerce(secret, raw) }),
      gradeOn: (id) => {
        const text = standin.order(Number(id)).values.feedback_grade;
        return text === undefined ? null : Number(text);
      },
      commentOn(id) {
        const text = standin.order(Number(id)).values.feedback_comment;
        return typeof text === 'string' ? text : null;
      },
      notesOn(id) {
        const { notes } = standin.order(Number(id));
        return notes.map(({ note, customerNote: isPublic }) => ({ text: note, isHtml: true, isPublic }));
      },
      async swallow(id) {
        // A plugin has the last word.
        const other = { id: Number(id), meta_data: [{ id: 1, key: 'feedback_grade', value: '5' }] };
        standin.faults.add({ method: 'POST', path: 'orders/batch', status: 200, body: { update: [other] } });
      },
      traces(id) {
        const { values, meta, notes, mails, recalculations } = standin.order(Number(id));
        return { values, rows: meta.length, notes: notes.map(({ note }) => note), mails, recalculations };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, bodyOf(words))),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
      preflight: () => preflight,
      async strip() {
        standin.removeWebhooks();
      },
      async delivered(_secret) {
        await standin.idle();
        return emptied();
      },
      async plant(what) {
        const { consumerKey: key } = standin;
        const plants: Readonly<Record<string, () => unknown>> = {
          'a wrong key': () => standin.addKey({ key, secret: 'cs_other' }),
          'no webhook': () => standin.removeWebhooks(),
        };
        await plantOneOf(plants, what);
      },
    };
  },
};

/** As the vendor words its errors. */
const bodyOf = (words: string): object => ({ code: words, message: words, data: { params: { status: words } } });
