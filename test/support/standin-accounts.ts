import { startFreshdeskStandin } from '../../standins/freshdesk/standin.ts';
import { startHubspotStandin } from '../../standins/hubspot/standin.ts';
import { startIntercomStandin } from '../../standins/intercom/standin.ts';
import { startShopifyStandin } from '../../standins/shopify/standin.ts';
import { startWooCommerceStandin } from '../../standins/woocommerce/standin.ts';
import { startZendeskStandin } from '../../standins/zendesk/standin.ts';

export interface Person {
  name: string;
  email: string;
  phone?: string;
}
type Id = string | number;

/** An account at the stand-in of one vendor, ready for a source that writes answers back. */
export interface StandinAccount {
  standin: {
    faults: { add(fault: object): void };
    idle(): Promise<unknown>;
    totalCalls(): number;
    callCounts(): object;
  };
  /** The source's section of the configuration, but for its rules and `writeBack`. */
  settings: object;
  /** Where a grade goes, and what else has its place there. */
  writeBack: Record<string, unknown>;
  /** Expressions: whom to ask, what names them, and what names who served them. */
  contact: string;
  who: string;
  agent: string;
  /** From now on closings are told to this address. */
  listen(hook: string): void;
  /** Adds an open record of this person. */
  add(person: Person): Promise<Id>;
  close(ids: Id[]): Promise<unknown>;
  /** The grade that was written on it, in digits. */
  gradeOn(id: Id): unknown;
  stop(): Promise<unknown>;
}

const common = { comment: 'feedback_comment', answeredAt: 'feedback_at', status: 'feedback_status' };

/** Each of these opens an account whose secrets all begin with `word`. */
export const standinAccounts = { zendesk, hubspot, freshdesk, intercom, shopify, woocommerce };

async function zendesk(word: string): Promise<StandinAccount> {
  const credentials = { clientId: 'closeloop', clientSecret: `${word}-zendesk-secret` };
  const hookSecret = `${word}-zendesk-hook`;
  const { url, standin, close: stop } = await startZendeskStandin({ credentials });
  const assigneeId = standin.addUser({ name: 'Ann Agent', role: 'agent' }).id;
  const grade = standin.addTicketField({ title: 'Grade', type: 'integer' }).id;
  const comment = standin.addTicketField({ title: 'Comment', type: 'textarea' }).id;
  return {
    ...{ standin, stop, contact: '[requester.phone, requester.email]', who: 'requester.name', agent: 'assignee.name' },
    settings: { connector: 'zendesk', subdomain: 'acme', baseUrl: url, ...credentials, webhookSecrets: [hookSecret] },
    writeBack: { grade, comment },
    listen(hook) {
      standin.setWebhook({ url: hook, secrets: [hookSecret] });
      standin.changeSender({ concurrency: 50 });
    },
    async add({ phone, ...person }) {
      const requesterId = standin.addUser({ ...person, ...(phone && { phone: phone.replaceAll(' ', '') }) }).id;
      return standin.addTicket({ requesterId, assigneeId, subject: `Call ${person.name}` }).id;
    },
    close: (ids: number[]) => Promise.all(ids.map((id) => standin.solve(id))),
    gradeOn: (id: number) => String(standin.ticket(id).fields[grade]),
  };
}

async function hubspot(word: string): Promise<StandinAccount> {
  const [accessToken, hookSecret] = [`${word}-hubspot-token`, `${word}-hubspot-hook`];
  const { url, standin, close: stop } = await startHubspotStandin({ accessToken, clientSecret: hookSecret });
  const owner = String(standin.addOwner({}).id);
  const add = (name: string, kind: 'number' | 'string' | 'datetime') =>
    standin.addProperty({ type: 'tickets', name, kind });
  add('feedback_grade', 'number');
  add('feedback_comment', 'string');
  add('feedback_at', 'datetime');
  standin.addProperty({ type: 'tickets', name: 'feedback_status', kind: 'enumeration', options: ['answered'] });
  return {
    ...{ standin, stop, contact: 'contact.email', who: 'contact.email', agent: 'owner.name' },
    settings: { connector: 'hubspot', accessToken, baseUrl: url, webhookSecrets: [hookSecret] },
    writeBack: { grade: 'feedback_grade', ...common },
    listen(hook) {
      standin.setWebhook({ url: hook, secrets: [hookSecret] });
      // A delivery that a busy machine answers late comes again soon, not within a day.
      standin.changeSender({ pauseScale: 0 });
    },
    async add({ name, email, phone }) {
      const contact = standin.addContact({ properties: { email, firstname: name, ...(phone && { phone }) } }).id;
      const stage = { hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner };
      return standin.addTicket({ properties: { subject: `Call ${name}`, ...stage }, contacts: [contact] }).id;
    },
    close: (ids: number[]) => standin.closeAll({ ids }),
    gradeOn: (id: number) => standin.record('tickets', id).properties.feedback_grade,
  };
}

async function freshdesk(word: string): Promise<StandinAccount> {
  const keys = { apiKey: `${word}-freshdesk-key`, adminKey: `${word}-freshdesk-admin-key` };
  const secret = `${word}-freshdesk-hook`;
  const { url, standin, close: stop } = await startFreshdeskStandin(keys);
  standin.changeSettings({ limits: { total: 100_000, list: 100_000, update: 100_000 } });
  standin.addField({ name: 'cf_grade', type: 'custom_number' });
  standin.addField({ name: 'cf_comment', type: 'custom_paragraph' });
  return {
    ...{ standin, stop, contact: '[requester.phone, requester.email]', who: 'requester.email', agent: 'agent.name' },
    settings: {
      ...{ connector: 'freshdesk', subdomain: 'acme', apiKey: keys.apiKey, setupKey: keys.adminKey, baseUrl: url },
      ...{ webhookSecrets: [secret], callsPerMinute: { list: 100_000, update: 100_000 } },
    },
    writeBack: { grade: 'cf_grade', comment: 'cf_comment' },
    listen(hook) {
      standin.setWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
    },
    async add(person) {
      const requesterId = standin.addContact(person).id;
      return standin.addTicket({ requesterId, subject: `Call ${person.name}` }).id;
    },
    close: (ids: number[]) => standin.resolveAll({ ids }),
    gradeOn: (id: number) => String(standin.ticket(id).values.cf_grade),
  };
}

async function intercom(word: string): Promise<StandinAccount> {
  const [accessToken, secret] = [`${word}-intercom-token`, `${word}-intercom-hook`];
  const { url, standin, close: stop } = await startIntercomStandin({ accessToken });
  standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' });
  standin.addAttribute({ name: 'Feedback comment' });
  return {
    ...{ standin, stop, contact: '[contact.phone, contact.email]', who: 'contact.email', agent: 'agent.name' },
    settings: {
      ...{ connector: 'intercom', workspace: standin.appId, accessToken, adminId: standin.serviceAdminId },
      ...{ webhookSecrets: [secret], baseUrl: url },
    },
    writeBack: { grade: 'Feedback grade', comment: 'Feedback comment' },
    listen(hook) {
      standin.setWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
    },
    async add(person) {
      const contacts = [standin.addContact(person).id];
      return standin.addConversation({ contacts, subject: `Call ${person.name}` }).id;
    },
    close: (ids: string[]) => standin.closeAll({ ids }),
    gradeOn: (id: string) => String(standin.conversation(id).values['Feedback grade']),
  };
}

async function shopify(word: string): Promise<StandinAccount> {
  const [accessToken, clientSecret] = [`${word}-shopify-token`, `${word}-shopify-hook`];
  const { url, standin, close: stop } = await startShopifyStandin({ accessToken, clientSecret });
  // A large shop: the points of a small one would stretch the same calls over two minutes.
  standin.changeSettings({ maximumAvailable: 40_000, restoreRate: 2_000 });
  standin.addDefinition({ key: 'feedback_grade', type: 'number_integer' });
  standin.addDefinition({ key: 'feedback_comment', type: 'multi_line_text_field' });
  standin.addDefinition({ key: 'feedback_at', type: 'date_time' });
  standin.addDefinition({ key: 'feedback_status', type: 'single_line_text_field' });
  return {
    ...{ standin, stop, contact: '[contact.phones, contact.email]', who: 'contact.email', agent: 'order.source' },
    settings: {
      ...{ connector: 'shopify', shop: standin.shop.domain, accessToken, baseUrl: url },
      webhookSecrets: [clientSecret],
    },
    writeBack: { grade: 'feedback_grade', ...common },
    listen(hook) {
      for (const topic of ['ORDERS_FULFILLED', 'FULFILLMENTS_UPDATE', 'ORDERS_CANCELLED'])
        standin.addSubscription({ topic, uri: hook });
      // A delivery that a busy machine answers late comes again soon, but not eight times in a moment: then the webhook is removed.
      standin.changeSender({ concurrency: 50, pauseScale: 0.01 });
    },
    async add({ name, email }) {
      const customerId = standin.addCustomer({ email: `account.${email}`, firstName: name }).id;
      const { id } = standin.addOrder({ customerId, email, note: `Call ${name}` });
      await standin.fulfil({ id });
      return id;
    },
    close: (ids: string[]) => Promise.all(ids.map((id) => standin.deliver(id))),
    gradeOn: (id: string) => standin.order(id).metafields['$app.feedback_grade'],
  };
}

async function woocommerce(word: string): Promise<StandinAccount> {
  const keys = { consumerKey: `ck_${word}`, consumerSecret: `cs_${word}` };
  const secret = `${word}-woocommerce-hook`;
  const { url, standin, close: stop } = await startWooCommerceStandin(keys);
  return {
    ...{ standin, stop, contact: 'customer.email', who: 'customer.email', agent: 'order.createdVia' },
    settings: { connector: 'woocommerce', site: url, ...keys, webhookSecrets: [secret] },
    writeBack: { grade: 'feedback_grade', ...common },
    listen(hook) {
      for (const topic of ['order.updated', 'order.deleted'])
        standin.addWebhook({ name: `closeloop ${topic}`, topic, url: hook, secret });
      standin.changeSender({ concurrency: 50 });
    },
    async add({ name, email, phone }) {
      const billing = { email, first_name: name, country: 'EE', ...(phone && { phone }) };
      return standin.addOrder({ billing }).id;
    },
    close: (ids: number[]) => standin.completeAll({ ids }),
    gradeOn: (id: number) => standin.order(id).values.feedback_grade,
  };
}
