import { z } from 'zod';
import { FeedbackStandin } from '../../../standins/feedback/standin.ts';
import { HubspotStandin } from '../../../standins/hubspot/standin.ts';
import type { StandinRequest, StandinResponse } from '../../../standins/kit/message.ts';
import { ZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { type Account, crmAccount, deskAccount } from './accounts.ts';
import type { Balancer } from './balancer.ts';
import { serveFaulty } from './faulty-server.ts';
import { type PlannedFault, slowestMs } from './plan.ts';
import { type Act, type PlannedRecord, renamedDesk, sources, type Vendor } from './planned-record.ts';
import { accountZone, campaigns, marker, type PolicySettings, type PolicyVersion, policyText } from './policy.ts';
import type { Chance } from './random.ts';
import { type Value, type Vendors, writeBack } from './shown.ts';
import { Sightings, seenAtCrm, seenAtDesk, storeField } from './sightings.ts';

const agentId = 9001;
const secrets = { desk: 'zendesk-chaos-secret', plain: 'plain-chaos-secret', crm: 'hubspot-chaos-secret' } as const;
/** Where vendors deliver to, by their own word: what answers there is the balancer. Signatures cover it. */
const publicUrl = 'http://127.0.0.1:9';

/** A request as the service took it. */
export interface Taken {
  requestId: number;
  /** Real time. */
  at: number;
  campaign: number;
  contact: string;
  marker: string | undefined;
  /** Of its other custom fields. */
  values: Readonly<Record<string, string>>;
}

/** What the customer had said of a request, from this instant on. */
export interface SaidAt extends Value {
  requestId: number;
  at: number;
}

/** What the configuration is written from. */
export interface Setup {
  redisSocket: string;
  collectEveryMs: number;
  deskName: string;
  version: PolicyVersion;
  settings: PolicySettings;
}

/** The service and the vendors, on sockets of their own, in this process: they survive everything. */
export interface World extends Vendors {
  feedback: FeedbackStandin;
  /** Everything the service took, in order. */
  taken: readonly Taken[];
  /** Everything customers said, in order. */
  said: readonly SaidAt[];
  /** What the vendors returned to those who read records. */
  sightings: Sightings;
  /** closeloop's configuration for this world. */
  config(setup: Setup): string;
  add(record: PlannedRecord): void;
  act(record: Pick<PlannedRecord, 'vendor' | 'id'>, act: Act): void;
  /** What this does happened so long ago at the help desks. */
  backdate(ms: number, act: () => void): void;
  /** A customer answers a request. @throws ControlError before the request has gone out */
  answer(requestId: number, given: { grade: number; comment?: string }): void;
  /** The customer's first e-mail address, by the CRM's id of them. */
  contactOf(personId: number): string | undefined;
  order(fault: PlannedFault): void;
  endFaults(): void;
  /** No webhook is under way or waits for its next attempt. */
  idle(): Promise<void>;
  /** How many calls each has had: a sign of life. */
  calls(): number;
  end(): Promise<void>;
}

export async function openWorld(options: {
  balancer: Balancer;
  chance: Chance;
  onTaken: (taken: Taken) => void;
}): Promise<World> {
  let agoMs = 0;
  const vendors = openVendors(options, () => new Date(Date.now() - agoMs));
  const feedback = openService();
  const sightings = new Sightings();
  const taken: Taken[] = [];
  const said: SaidAt[] = [];
  const watched = (req: StandinRequest, response: StandinResponse): StandinResponse => {
    if (req.method !== 'POST' || req.path !== '/api/appeals/' || response.status !== 201) return response;
    const { id, campaign, email, custom_fields } = Created.parse(response.body);
    const { [marker]: ref, ...values } = custom_fields;
    const one = { requestId: id, at: Date.now(), campaign, contact: email, marker: ref, values };
    taken.push(one);
    options.onTaken(one);
    return response;
  };
  const serveVendor = (vendor: Vendor, seen: (req: StandinRequest, response: StandinResponse) => Seen) =>
    serveFaulty(
      async (req) => {
        const response = await vendors[vendor].handle(req);
        sightings.note(vendor, Date.now(), seen(req, response));
        return response;
      },
      (ms) => {
        if (vendor !== 'crm') vendors[vendor].changeSettings({ nextJobsQueuedMs: [ms] });
      },
    );
  const servers = {
    feedback: await serveFaulty(async (req) => watched(req, await feedback.handle(req))),
    desk: await serveVendor('desk', seenAtDesk),
    plain: await serveVendor('plain', seenAtDesk),
    crm: await serveVendor('crm', seenAtCrm),
  };
  const accounts: Record<Vendor, Account> = {
    desk: deskAccount(vendors.desk, agentId),
    plain: deskAccount(vendors.plain, agentId),
    crm: crmAccount(vendors.crm),
  };
  const urls = {
    feedback: servers.feedback.url,
    desk: servers.desk.url,
    plain: servers.plain.url,
    crm: servers.crm.url,
  };
  const all = Object.values(vendors);

  return {
    ...vendors,
    ...{ feedback, taken, said, sightings },
    config: (setup) => configText(setup, urls, vendors),
    add: (record) => accounts[record.vendor].add(record),
    act: (record, act) => accounts[record.vendor].act(record, act),
    backdate(ms, act) {
      agoMs = ms;
      act();
      agoMs = 0;
    },
    answer(requestId, given) {
      const { grade, comment } = feedback.answer({ request: requestId, ...given });
      said.push({ requestId, at: Date.now(), grade, comment });
    },
    contactOf: (personId) => accounts.crm.addressOf(personId),
    order: ({ on, fault, forMs }) => servers[on].order(fault, forMs),
    endFaults() {
      for (const server of Object.values(servers)) server.endFaults();
    },
    idle: async () => {
      await Promise.all(all.map((vendor) => vendor.idle()));
    },
    calls: () =>
      all.reduce((sum, vendor) => sum + vendor.totalCalls(), 0) +
      Object.values(feedback.calls()).reduce((a, b) => a + b, 0),
    end: async () => {
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
}

type Seen = ReturnType<typeof seenAtDesk>;

const Created = z.object({
  id: z.number(),
  campaign: z.number(),
  email: z.string(),
  custom_fields: z.record(z.string(), z.string()),
});

function openService(): FeedbackStandin {
  const feedback = new FeedbackStandin({ timeZone: accountZone });
  feedback.addAccount({ name: 'acme', timeZone: accountZone });
  feedback.addKey({ account: 'acme', key: 'chaos-key' });
  const store = { name: 'Store' };
  for (const [vendor, ids] of Object.entries(campaigns)) {
    const customFields = vendor === 'crm' ? [store] : [store, { name: marker }];
    for (const id of Object.values(ids)) feedback.addCampaign({ account: 'acme', id, customFields });
  }
  return feedback;
}

function openVendors({ balancer, chance }: { balancer: Balancer; chance: Chance }, now: () => Date): Vendors {
  // A vendor's own pauses between attempts, made shorter: Zendesk's 5 s become 1, HubSpot's half a day half a second.
  const webhooks = { duplicates: 0.3, reorder: true, concurrency: 20 };
  const ports = { random: chance.next, fetch: balancer.fetch };
  const openDesk = (vendor: 'desk' | 'plain'): ZendeskStandin => {
    const rateLimit = { perMinute: 100_000, ticketUpdatesPerMinute: 100_000 };
    const desk = new ZendeskStandin({ ...ports, now, rateLimit, webhooks: { ...webhooks, pauseScale: 0.2 } });
    desk.addUser({ id: agentId, name: 'Ann Agent', role: 'agent' });
    desk.addTicketField({ id: Number(writeBack.help.grade), title: 'Grade', type: 'integer' });
    desk.addTicketField({ id: Number(writeBack.help.comment), title: 'Comment', type: 'textarea' });
    desk.addTicketField({ id: storeField, title: 'Store', type: 'text' });
    desk.setWebhook({ url: `${publicUrl}/hooks/${sources[vendor]}`, secrets: [secrets[vendor]] });
    return desk;
  };
  const crm = new HubspotStandin({
    ...ports,
    rateLimit: { per10s: 10_000 },
    webhooks: { ...webhooks, pauseScale: 0.0001 },
  });
  crm.addProperty({ type: 'tickets', name: writeBack.crm.grade, kind: 'number' });
  for (const name of [writeBack.crm.comment, 'store', 'flag'])
    crm.addProperty({ type: 'tickets', name, kind: 'string' });
  crm.setWebhook({
    url: `${publicUrl}/hooks/${sources.crm}`,
    secrets: [secrets.crm],
    subscriptions: [
      { event: 'propertyChange', object: 'tickets', propertyName: 'hs_pipeline_stage' },
      { event: 'deletion', object: 'tickets' },
      { event: 'privacyDeletion', object: 'contacts' },
    ],
  });
  return { desk: openDesk('desk'), plain: openDesk('plain'), crm };
}

function configText(
  { redisSocket, collectEveryMs, deskName, version, settings }: Setup,
  urls: Record<'feedback' | Vendor, string>,
  vendors: Vendors,
): string {
  const desk = (vendor: 'desk' | 'plain', name: string, extras: string): string => `
  ${name}:${
    name === renamedDesk
      ? `
    was: ${sources.desk}`
      : ''
  }
    connector: zendesk
    subdomain: ${vendor === 'desk' ? 'acme' : 'acme-plain'}
    baseUrl: ${urls[vendor]}
    clientId: ${vendors[vendor].credentials.clientId}
    clientSecret: ${vendors[vendor].credentials.clientSecret}
    webhookSecrets: ["${secrets[vendor]}"]
${policyText(version, vendor, settings)}
    writeBack: { grade: ${writeBack.help.grade}, comment: ${writeBack.help.comment}${extras} }`;
  return `
feedback: { baseUrl: "${urls.feedback}/api", apiKey: chaos-key, timeZone: ${accountZone}, timeoutMs: 1000 }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redisSocket} }
http: { port: 0, publicUrl: "${publicUrl}" }
lookup: { after: ${slowestMs + 500}ms }
# Only reading all finds an answer that took the place of one with the same grade: the counts stay as they were.
collect: { every: ${collectEveryMs}ms, fullEvery: 60s }
sources:${desk('desk', deskName, ', note: true, tags: true')}${desk('plain', sources.plain, '')}
  ${sources.crm}:
    connector: hubspot
    baseUrl: ${urls.crm}
    accessToken: ${vendors.crm.accessToken}
    webhookSecrets: ["${secrets.crm}"]
    properties: [store, flag]
${policyText(version, 'crm', settings)}
    writeBack: { grade: ${writeBack.crm.grade}, comment: ${writeBack.crm.comment} }
`;
}
