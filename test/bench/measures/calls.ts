import { setTimeout as sleep } from 'node:timers/promises';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startFreshdeskStandin } from '../../../standins/freshdesk/standin.ts';
import { startHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import type { JourneyState } from '../../../worker/journey/states.ts';
import type { Measure, Row } from '../harness.ts';
import { journeysIn, startProduct, startRedis } from '../product.ts';

const sizes = { full: 1_000, short: 40 };

/** A vendor's stand-in: as strict as the vendor, and counting calls. */
interface Desk {
  vendor: string;
  /** The source's section of the configuration. */
  settings: string;
  /** Closes all its records, and tells the hook. */
  close(hook: string): Promise<unknown>;
  calls(): number;
  stop(): Promise<void>;
  atMost: number;
  /** Where the closings wait: at most the reading more that planning makes. */
  atMostWaiting: number;
  /** Default: with notes. */
  notes?: false;
  /** The share of customers who answer. Default: all. */
  answers?: number;
  /** Calls of a day's polling, which take place whatever is closed. */
  polls?: number;
}

async function zendesk(closings: number): Promise<Desk> {
  const { standin, url, close } = await startZendeskStandin();
  standin.addUser({ id: 9001, name: 'Ann Agent', role: 'agent' });
  standin.addGroup({ id: 2001, name: 'Phone' });
  standin.addTicketField({ id: 360001, title: 'Grade', type: 'integer' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const user = standin.addUser({ name: `Customer ${i}`, email: `customer-${i}@example.com` });
    return standin.addTicket({ id: 10_000 + i, requesterId: user.id, assigneeId: 9001, groupId: 2001 }).id;
  });
  const { clientId, clientSecret } = standin.credentials;
  return {
    vendor: 'Zendesk',
    settings: `
    connector: zendesk
    subdomain: acme
    baseUrl: ${url}
    clientId: ${clientId}
    clientSecret: ${clientSecret}
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: requester.email, fields: { Agent: assignee.name } }]
    writeBack: { grade: 360001, note: true, tags: true }`,
    close: async (hook) => {
      standin.setWebhook({ url: hook, secrets: ['a-secret'] });
      standin.changeSender({ concurrency: 50 });
      await Promise.all(ids.map((id) => standin.solve(id)));
    },
    calls: () => standin.totalCalls(),
    stop: close,
    atMost: 45,
    atMostWaiting: 55,
  };
}

async function hubspot(closings: number): Promise<Desk> {
  const { standin, url, close } = await startHubspotStandin();
  const owner = standin.addOwner({});
  standin.addProperty({ type: 'tickets', name: 'feedback_grade', kind: 'number' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const contact = standin.addContact({ properties: { email: `customer-${i}@example.com` } });
    const properties = { hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner.id };
    return standin.addTicket({ properties, contacts: [contact.id] }).id;
  });
  return {
    vendor: 'HubSpot',
    settings: `
    connector: hubspot
    baseUrl: ${url}
    accessToken: hubspot-token
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: owner.name } }]
    writeBack: { grade: feedback_grade, note: true }`,
    close: async (hook) => {
      standin.setWebhook({ url: hook, secrets: ['a-secret'] });
      standin.changeSender({ pauseScale: 0 });
      await standin.closeAll({ ids });
    },
    calls: () => standin.totalCalls(),
    stop: close,
    atMost: 60,
    atMostWaiting: 95,
  };
}

/** Reads no tickets by their ids, and writes on one at a time. */
const freshdesk =
  ({ notes }: { notes: boolean }) =>
  async (closings: number): Promise<Desk> => {
    const { standin, url, close } = await startFreshdeskStandin();
    standin.changeSettings({ limits: { total: 100_000, list: 100_000, update: 100_000 } });
    standin.addField({ name: 'cf_feedback_grade', type: 'custom_number' });
    standin.addField({ name: 'cf_feedback_comment', type: 'custom_paragraph' });
    const ids = Array.from({ length: closings }, (_, i) => {
      const { id } = standin.addContact({ name: `Customer ${i}`, email: `customer-${i}@example.com` });
      return standin.addTicket({ requesterId: id }).id;
    });
    const budget = { atMost: 740, atMostWaiting: 800 };
    return {
      vendor: 'Freshdesk',
      settings: `
    connector: freshdesk
    subdomain: acme
    baseUrl: ${url}
    apiKey: ${standin.apiKey}
    webhookSecrets: [a-secret]
    callsPerMinute: { list: 100000, update: 100000 }
    rules: [{ name: all, campaign: 12, contact: requester.email, fields: { Agent: agent.name } }]
    writeBack: { grade: cf_feedback_grade, comment: cf_feedback_comment, note: ${notes} }`,
      close: async (hook) => {
        standin.setWebhook({ url: hook, secret: 'a-secret' });
        standin.changeSender({ concurrency: 50 });
        await standin.resolveAll({ ids });
      },
      calls: () => standin.totalCalls(),
      stop: close,
      // A read and a note more for each answer.
      ...(notes ? { atMost: budget.atMost + 600, atMostWaiting: budget.atMostWaiting + 600 } : { ...budget, notes }),
      answers: 0.3,
      polls: 144,
    };
  };

/** Long enough for a thousand closings to wait together. */
const delay = '20s';

/**
 * The whole loop, from closings that come together to their answers on the records.
 * @param waits their customers are asked later, and each is decided about again then
 */
async function loopOf(desk: Desk, closings: number, { waits }: { waits: boolean }): Promise<Row> {
  const [service, redis] = await Promise.all([startFeedbackStandin({ seed: true }), startRedis()]);
  const settings = waits ? desk.settings.replace('name: all,', `name: all, delay: ${delay},`) : desk.settings;
  const product = await startProduct({ url: service.url, redis, settings, collectEvery: '2s' });
  const until = async (state: JourneyState, count = closings) => {
    while ((await journeysIn(redis, state)) < count) await sleep(50);
  };
  await desk.close(product.hooks);
  await until('asked');
  const answered = Math.round(closings * (desk.answers ?? 1));
  for (const { id } of service.standin.requests().slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
  await until('written', answered);
  const counted = await journeysIn(redis, 'written');
  const share = desk.answers === undefined ? '' : `${desk.answers * 1_000} `;
  const calls = (desk.calls() * 1_000) / closings + (desk.polls ?? 0);
  await product.stop();
  await Promise.all([desk.stop(), service.close(), redis.stop()]);
  return {
    measure: `calls to ${desk.vendor} for 1,000 closings together${waits ? ' that wait' : ''}, reads and ${share}write-backs ${desk.notes === false ? 'without' : 'with'} notes${desk.polls === undefined ? '' : `, and ${desk.polls} polls`}`,
    unit: '',
    closeloop: [calls],
    counted,
    target: { of: 'value', is: 'at most', figure: waits ? desk.atMostWaiting : desk.atMost },
  };
}

export const calls: Measure = {
  name: 'calls',
  async run(size) {
    const closings = sizes[size];
    const desks =
      size === 'full' ? [zendesk, hubspot, freshdesk({ notes: false }), freshdesk({ notes: true })] : [zendesk];
    const rows: Row[] = [];
    for (const desk of desks) {
      for (const waits of [false, true]) rows.push(await loopOf(await desk(closings), closings, { waits }));
    }
    return rows;
  },
};
