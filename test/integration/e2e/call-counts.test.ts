import { beforeEach, expect, test, vi } from 'vitest';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startFreshdeskStandin } from '../../../standins/freshdesk/standin.ts';
import { startHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { startIntercomStandin } from '../../../standins/intercom/standin.ts';
import { startShopifyStandin } from '../../../standins/shopify/standin.ts';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

// A thousand journeys, both ends and Redis on one machine, which may be a busy one.
vi.setConfig({ testTimeout: 240_000 });

const redis = useRedis();
// Each has a service of its own, whose requests begin with the same ids.
beforeEach(() => redis.handle.client.flushall());
const closings = 1_000;
const secret = 'wcE2eSecretOfFortyLettersAndDigits012345';
const emailOf = (n: number) => `customer-${n}@example.com`;
const many = <T>(make: (n: number) => T): T[] => Array.from({ length: closings }, (_, n) => make(n));

/** An account at a vendor's stand-in, with records that are open. */
interface Account {
  standin: { idle(): Promise<unknown>; totalCalls(): number; callCounts(): object };
  /** Its section of the configuration, but for the webhook's secret and the campaign of the rule. */
  settings: string;
  /** What the rule is made of. */
  rule: string;
  /** Closes all records, which the vendor tells the hook. */
  close(hook: string): Promise<unknown>;
  stop(): Promise<unknown>;
  /** The grade on the first record. */
  grade?(): unknown;
}

async function zendesk(): Promise<Account> {
  const { standin, url, close: stop } = await startZendeskStandin();
  standin.addUser({ id: 9001, name: 'Ann Agent', role: 'agent' });
  standin.addGroup({ id: 2001, name: 'Phone' });
  standin.addTicketField({ id: 360001, title: 'Grade', type: 'integer' });
  const ids = many((n) => {
    const requesterId = standin.addUser({ name: `Customer ${n}`, email: emailOf(n) }).id;
    return standin.addTicket({ id: 10_000 + n, requesterId, assigneeId: 9001, groupId: 2001 }).id;
  });
  const { clientId, clientSecret } = standin.credentials;
  return {
    ...{ standin, stop, rule: 'contact: requester.email, fields: { Agent: assignee.name }' },
    settings: `connector: zendesk, subdomain: acme, baseUrl: "${url}", clientId: ${clientId}, clientSecret: ${clientSecret},
      writeBack: { grade: 360001, note: true, tags: true }`,
    async close(hook) {
      standin.setWebhook({ url: hook, secrets: [secret] });
      standin.changeSender({ concurrency: 50 });
      await Promise.all(ids.map((id) => standin.solve(id)));
    },
  };
}

async function hubspot(): Promise<Account> {
  const { standin, url, close: stop } = await startHubspotStandin();
  const owner = standin.addOwner({});
  standin.addProperty({ type: 'tickets', name: 'feedback_grade', kind: 'number' });
  const ids = many((n) => {
    const contact = standin.addContact({ properties: { email: emailOf(n) } }).id;
    const properties = { hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner.id };
    return standin.addTicket({ properties, contacts: [contact] }).id;
  });
  return {
    ...{ standin, stop, rule: 'contact: contact.email, fields: { Agent: owner.name }' },
    settings: `connector: hubspot, baseUrl: "${url}", accessToken: hubspot-token,
      writeBack: { grade: feedback_grade, note: true }`,
    async close(hook) {
      standin.setWebhook({ url: hook, secrets: [secret] });
      // A delivery that a busy machine answers late comes again soon, not within a day.
      standin.changeSender({ pauseScale: 0 });
      await standin.closeAll({ ids });
    },
    grade: () => standin.record('tickets', ids[0] ?? 0).properties.feedback_grade,
  };
}

/** Reads no tickets by their ids, and writes on one at a time. */
async function freshdesk(): Promise<Account> {
  const { standin, url, close: stop } = await startFreshdeskStandin();
  standin.changeSettings({ limits: { total: 100_000, list: 100_000, update: 100_000 } });
  standin.addField({ name: 'cf_feedback_grade', type: 'custom_number' });
  standin.addField({ name: 'cf_feedback_comment', type: 'custom_paragraph' });
  const ids = many((n) => {
    const requesterId = standin.addContact({ name: `Customer ${n}`, email: emailOf(n) }).id;
    return standin.addTicket({ requesterId }).id;
  });
  return {
    ...{ standin, stop, rule: 'contact: requester.email, fields: { Agent: agent.name }' },
    settings: `connector: freshdesk, subdomain: acme, baseUrl: "${url}", apiKey: ${standin.apiKey},
      callsPerMinute: { list: 100000, update: 100000 },
      writeBack: { grade: cf_feedback_grade, comment: cf_feedback_comment }`,
    async close(hook) {
      standin.setWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
      await standin.resolveAll({ ids });
    },
  };
}

async function intercom(): Promise<Account> {
  const { standin, url, close: stop } = await startIntercomStandin();
  standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' });
  standin.addAttribute({ name: 'Feedback comment' });
  const ids = many((n) => standin.addConversation({ contacts: [standin.addContact({ email: emailOf(n) }).id] }).id);
  return {
    ...{ standin, stop, rule: 'contact: contact.email, fields: { Agent: agent.name }' },
    settings: `connector: intercom, workspace: ${standin.appId}, baseUrl: "${url}", accessToken: ${standin.accessToken},
      adminId: "${standin.serviceAdminId}", writeBack: { grade: Feedback grade, comment: Feedback comment }`,
    async close(hook) {
      standin.setWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
      await standin.closeAll({ ids });
    },
  };
}

const fields = 'grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status';

async function shopify(): Promise<Account> {
  const { standin, url, close: stop } = await startShopifyStandin({ clientSecret: secret });
  // A large shop: the points of a small one would stretch the same calls over two minutes.
  standin.changeSettings({ maximumAvailable: 40_000, restoreRate: 2_000 });
  const ids = many((n) => {
    const customerId = standin.addCustomer({ email: `account-${n}@example.com` }).id;
    return standin.addOrder({ customerId, email: emailOf(n) }).id;
  });
  for (const id of ids) await standin.fulfil({ id });
  return {
    ...{ standin, stop, rule: 'contact: contact.email, fields: { Agent: order.source }' },
    settings: `connector: shopify, shop: acme.myshopify.com, baseUrl: "${url}", accessToken: shpat_shopify-token,
      writeBack: { ${fields}, tags: true }`,
    async close(hook) {
      standin.addSubscription({ topic: 'FULFILLMENTS_UPDATE', uri: hook });
      // A delivery that a busy machine answers late comes again soon, but not eight times in a moment: then the webhook is removed.
      standin.changeSender({ concurrency: 50, pauseScale: 0.01 });
      await Promise.all(ids.map((id) => standin.deliver(id)));
    },
    grade: () => standin.order(ids[0] ?? '').metafields['$app.feedback_grade'],
  };
}

async function woocommerce(): Promise<Account> {
  const { standin, url, close: stop } = await startWooCommerceStandin();
  const ids = many((n) => standin.addOrder({ billing: { email: emailOf(n) }, customerId: n + 1 }).id);
  return {
    ...{ standin, stop, rule: 'contact: customer.email, fields: { Agent: order.createdVia }' },
    settings: `connector: woocommerce, site: "${url}", consumerKey: ck_standin, consumerSecret: cs_standin,
      writeBack: { ${fields} }`,
    async close(hook) {
      standin.addWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
      await standin.completeAll({ ids });
    },
    grade: () => standin.order(ids[0] ?? 0).values.feedback_grade,
  };
}

interface Story {
  vendor: string;
  what: string;
  open: () => Promise<Account>;
  /** Some ten above the calls where a thousand records are read, planned and asked about within seconds: on a slow machine they are read again. */
  atMost: number;
  /** Their customers are asked later, and each is decided about again then. */
  waits?: true;
  /** How many of the customers answer. Left out: all. */
  answered?: number;
}
const [together, waiting, someAnswered] = [
  'a thousand closings together',
  'a thousand closings that wait together',
  'a thousand closings together, of which 300 are answered',
];
const stories: Story[] = [
  { vendor: 'Zendesk', what: together, open: zendesk, atMost: 55 },
  { vendor: 'Zendesk', what: waiting, open: zendesk, atMost: 65, waits: true },
  { vendor: 'HubSpot', what: together, open: hubspot, atMost: 66 },
  { vendor: 'HubSpot', what: waiting, open: hubspot, atMost: 110, waits: true },
  { vendor: 'Freshdesk', what: someAnswered, open: freshdesk, atMost: 450, answered: 300 },
  // 67 searches to plan, 67 to ask, 67 for contacts, 300 writes, and batches that leave half full on a busy machine.
  { vendor: 'Intercom', what: someAnswered, open: intercom, atMost: 560, answered: 300 },
  { vendor: 'Shopify', what: together, open: shopify, atMost: 120 },
  { vendor: 'WooCommerce', what: together, open: woocommerce, atMost: 70 },
];

test.each(stories)(
  '$vendor is called at most $atMost times for $what, until the answers are on the records',
  async ({ vendor, open, atMost, waits = false, answered = closings }) => {
    const [service, account] = [await startFeedbackStandin({ seed: true }), await open()];
    const { settings, rule, standin } = account;
    const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources: { thousand: { ${settings}, webhookSecrets: [${secret}], rules: [{ name: all, campaign: 12, ${rule}${waits ? ', delay: 20s' : ''} }] } }
`;
    const { log, told } = memoryLog();
    const { handle } = redis;
    const config = loadConfig(text, { env: {}, connectors });
    const runtime = { config, handle, redis: handle.client, close: async () => undefined };
    const app = await run(runtime, { role: 'all', clock: liveClock, log });
    const { queries } = app.engine.pipelines.get('thousand')?.context.store ?? expect.fail('no pipeline');
    await account.close(`${app.url}/hooks/thousand`);
    await until(async () => (await queries.counts()).asked === closings);
    const requests = service.standin.requests();
    expect(requests).toHaveLength(closings);
    for (const { id } of requests.slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
    await app.engine.collecting.now();
    await until(async () => (await queries.counts()).written === answered);
    await standin.idle();
    const calls = standin.totalCalls();
    process.stdout.write(
      `${vendor}${waits ? ', waiting' : ''}: ${calls} calls ${JSON.stringify(standin.callCounts())}\n`,
    );
    // On a starved machine Redis may answer late: the vendor is told to come again, and does.
    const errors = told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
    expect(errors).toEqual([]);
    // Its own writes have told the loop of nothing new.
    expect((await queries.counts()).written).toBe(answered);
    if (account.grade) expect(account.grade()).toBe('4');
    await app.close();
    await Promise.all([service.close(), account.stop()]);
    expect(calls).toBeLessThanOrEqual(atMost);
  },
);
