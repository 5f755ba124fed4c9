import { z } from 'zod';
import { FeedbackStandin } from '../../../standins/feedback/standin.ts';
import { HubspotStandin } from '../../../standins/hubspot/standin.ts';
import { FaultQueue } from '../../../standins/kit/faults.ts';
import type { StandinRequest, StandinResponse } from '../../../standins/kit/message.ts';
import { serve } from '../../../standins/kit/server.ts';
import { ZendeskStandin } from '../../../standins/zendesk/standin.ts';
import type { Balancer } from './balancer.ts';
import {
  type PlannedFault,
  type PlannedRecord,
  type ServerFault,
  slowDelayMs,
  slowestMs,
  sources,
  type Vendor,
} from './plan.ts';
import type { Chance } from './random.ts';

/** Requests of one of them carry the journey's reference, those of the other are found again by contact and counters. */
export const campaigns = { desk: 41, crm: 42 } as const;
export const marker = 'closeloop';
/** Ids of ticket fields, names of properties. */
export const writeBack = {
  desk: { grade: '360001', comment: '360002' },
  crm: { grade: 'feedback_grade', comment: 'feedback_comment' },
} as const;
const agentId = 9001;
const secrets = { desk: 'zendesk-chaos-secret', crm: 'hubspot-chaos-secret' } as const;
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
}

/** The service and two vendors, on sockets of their own, in this process: they survive everything. */
export interface World {
  feedback: FeedbackStandin;
  desk: ZendeskStandin;
  crm: HubspotStandin;
  /** Everything the service took, in order. */
  taken: readonly Taken[];
  /** closeloop's configuration for this world. */
  config(redisSocket: string, collectEveryMs: number, deskName?: string): string;
  add(record: PlannedRecord): void;
  close(record: Pick<PlannedRecord, 'vendor' | 'id'>): void;
  /** What this does happened so long ago at the help desk. */
  backdate(ms: number, act: () => void): void;
  reopen(record: Pick<PlannedRecord, 'vendor' | 'id'>): void;
  /** The customer has the vendor forget them, who tells of it. */
  forget(record: Pick<PlannedRecord, 'contact'>): void;
  /** The customer's e-mail address, by the vendor's id of them. */
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
  const { balancer, chance } = options;
  let agoMs = 0;
  const timeZone = 'Europe/Tallinn';
  // A vendor's own pauses between attempts, made shorter: Zendesk's 5 s become 1, HubSpot's half a day half a second.
  const webhooks = { duplicates: 0.3, reorder: true, concurrency: 20 };
  const ports = { random: chance.next, fetch: balancer.fetch };
  const feedback = new FeedbackStandin({ timeZone });
  const desk = new ZendeskStandin({
    ...ports,
    now: () => new Date(Date.now() - agoMs),
    rateLimit: { perMinute: 100_000, ticketUpdatesPerMinute: 100_000 },
    webhooks: { ...webhooks, pauseScale: 0.2 },
  });
  const crm = new HubspotStandin({
    ...ports,
    rateLimit: { per10s: 10_000 },
    webhooks: { ...webhooks, pauseScale: 0.0001 },
  });

  feedback.addAccount({ name: 'acme', timeZone });
  feedback.addKey({ account: 'acme', key: 'chaos-key' });
  const store = { name: 'Store' };
  feedback.addCampaign({ account: 'acme', id: campaigns.desk, customFields: [store, { name: marker }] });
  feedback.addCampaign({ account: 'acme', id: campaigns.crm, customFields: [store] });
  desk.addUser({ id: agentId, name: 'Ann Agent', role: 'agent' });
  desk.addTicketField({ id: Number(writeBack.desk.grade), title: 'Grade', type: 'integer' });
  desk.addTicketField({ id: Number(writeBack.desk.comment), title: 'Comment', type: 'textarea' });
  crm.addProperty({ type: 'tickets', name: writeBack.crm.grade, kind: 'number' });
  crm.addProperty({ type: 'tickets', name: writeBack.crm.comment, kind: 'string' });
  desk.setWebhook({ url: `${publicUrl}/hooks/${sources.desk}`, secrets: [secrets.desk] });
  crm.setWebhook({
    url: `${publicUrl}/hooks/${sources.crm}`,
    secrets: [secrets.crm],
    subscriptions: [
      { event: 'propertyChange', object: 'tickets', propertyName: 'hs_pipeline_stage' },
      { event: 'deletion', object: 'tickets' },
      { event: 'privacyDeletion', object: 'contacts' },
    ],
  });

  const taken: Taken[] = [];
  const watched = (req: StandinRequest, response: StandinResponse): StandinResponse => {
    if (req.method !== 'POST' || req.path !== '/api/appeals/' || response.status !== 201) return response;
    const { id, campaign, email, custom_fields } = Created.parse(response.body);
    const one = { requestId: id, at: Date.now(), campaign, contact: email, marker: custom_fields[marker] };
    taken.push(one);
    options.onTaken(one);
    return response;
  };
  const servers = {
    feedback: await serveFaulty(async (req) => watched(req, await feedback.handle(req))),
    desk: await serveFaulty(desk.handle),
    crm: await serveFaulty(crm.handle),
  };
  /** A customer is one person at each vendor. */
  const people = { desk: new Map<string, number>(), crm: new Map<string, number>() };
  const personOf = (vendor: Vendor, contact: string): number => {
    const known = people[vendor].get(contact);
    if (known !== undefined) return known;
    const person =
      vendor === 'desk' ? desk.addUser({ email: contact }) : crm.addContact({ properties: { email: contact } });
    people[vendor].set(contact, person.id);
    return person.id;
  };

  return {
    feedback,
    desk,
    crm,
    taken,
    config: (redisSocket, collectEveryMs, deskName = sources.desk) => `
feedback: { baseUrl: "${servers.feedback.url}/api", apiKey: chaos-key, timeZone: ${timeZone}, timeoutMs: 1000 }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redisSocket} }
http: { port: 0, publicUrl: "${publicUrl}" }
lookup: { after: ${slowestMs + 500}ms }
collect: { every: ${collectEveryMs}ms }
sources:
  ${deskName}:
    connector: zendesk
    subdomain: acme
    baseUrl: ${servers.desk.url}
    clientId: ${desk.credentials.clientId}
    clientSecret: ${desk.credentials.clientSecret}
    webhookSecrets: ["${secrets.desk}"]
    rules:
${rulesFor(campaigns.desk, 'requester.email', 'ticket.subject')}
    writeBack: { grade: ${writeBack.desk.grade}, comment: ${writeBack.desk.comment}, note: true, tags: true }
  ${sources.crm}:
    connector: hubspot
    baseUrl: ${servers.crm.url}
    accessToken: ${crm.accessToken}
    webhookSecrets: ["${secrets.crm}"]
    rules:
${rulesFor(campaigns.crm, 'contact.email', 'ticket.subject')}
    writeBack: { grade: ${writeBack.crm.grade}, comment: ${writeBack.crm.comment} }
`,
    add({ id, vendor, rule, contact }) {
      const person = personOf(vendor, contact);
      if (vendor === 'desk') desk.addTicket({ id, requesterId: person, assigneeId: agentId, subject: rule });
      else crm.addTicket({ id, properties: { subject: rule }, contacts: [person] });
    },
    close({ vendor, id }) {
      void (vendor === 'desk' ? desk.solve(id) : crm.close(id));
    },
    reopen({ vendor, id }) {
      void (vendor === 'desk' ? desk.reopen(id) : crm.reopen(id));
    },
    backdate(ms, act) {
      agoMs = ms;
      act();
      agoMs = 0;
    },
    forget({ contact }) {
      const person = people.crm.get(contact);
      if (person !== undefined) void crm.privacyDelete(person);
    },
    contactOf: (personId) => [...people.crm].find(([, id]) => id === personId)?.[0],
    order: ({ on, fault, forMs }) => servers[on].order(fault, forMs),
    endFaults() {
      for (const server of Object.values(servers)) server.endFaults();
    },
    idle: async () => {
      await Promise.all([desk.idle(), crm.idle()]);
    },
    calls: () => desk.totalCalls() + crm.totalCalls() + Object.values(feedback.calls()).reduce((a, b) => a + b, 0),
    end: async () => {
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
}

const Created = z.object({
  id: z.number(),
  campaign: z.number(),
  email: z.string(),
  custom_fields: z.record(z.string(), z.string()),
});

function rulesFor(campaign: number, contact: string, subject: string): string {
  const rule = (name: string, more: string) =>
    `      - { name: ${name}, when: '${subject} = "${name}"', campaign: ${campaign}, contact: ${contact}${more} }`;
  return [
    rule('slow', `, delay: ${slowDelayMs}ms`),
    rule('each', ', again: each closing'),
    rule('once', ', fields: { Store: ticket.subject }'),
  ].join('\n');
}

interface FaultyServer {
  url: string;
  order(fault: ServerFault, forMs?: number): void;
  endFaults(): void;
  close(): Promise<void>;
}

/** A stand-in behind its socket, with one more fault than `serve` knows: the work is done, and another status answered. */
async function serveFaulty(handle: (req: StandinRequest) => Promise<StandinResponse>): Promise<FaultyServer> {
  const faults = new FaultQueue();
  const late = new FaultQueue();
  const server = await serve(
    async (req) => {
      const fault = late.take(req);
      const response = await handle(req);
      if (fault?.status === undefined) return response;
      return { status: fault.status, body: fault.body ?? { detail: 'After the work.' } };
    },
    { faults },
  );
  return {
    url: server.url,
    order({ afterWork = false, retryAfter, ...fault }, forMs) {
      const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } };
      const drop = (afterWork ? late : faults).add({ ...fault, ...headers });
      if (forMs !== undefined) setTimeout(drop, forMs).unref();
    },
    endFaults() {
      faults.clear();
      late.clear();
    },
    close: server.close,
  };
}

/** What the vendor shows of a record, for the auditor. */
export interface Shown {
  isClosed: boolean;
  grade: number | null;
  comment: string | null;
  /** References of our notes, as often as they are there. */
  notes: string[];
  /** Grade tags on it. */
  gradeTags: string[];
  /** Mails that the customer got of it. */
  mails: number;
}

const Ticket = z.object({ status: z.string() });
const Audit = z.object({ events: z.array(z.object({ type: z.string(), body: z.string().optional() }).loose()) });

/** What is on a record at the vendor now, read past the API. */
export function shown(world: Pick<World, 'desk' | 'crm'>, vendor: Vendor, id: number): Shown {
  if (vendor === 'crm') {
    const { properties } = world.crm.ticket(id);
    const grade = properties[writeBack.crm.grade];
    return {
      isClosed: properties.hs_pipeline_stage === '4',
      grade: grade === undefined ? null : Number(grade),
      comment: properties[writeBack.crm.comment] ?? null,
      notes: [],
      gradeTags: [],
      mails: 0,
    };
  }
  const { ticket, tags, fields, audits, mails } = world.desk.ticket(id);
  const grade = z.coerce.number().nullish().parse(fields[writeBack.desk.grade]);
  const bodies = z
    .array(Audit)
    .parse(audits)
    .flatMap(({ events }) => events)
    .flatMap(({ type, body }) => (type === 'Comment' && body !== undefined ? [body] : []));
  return {
    isClosed: Ticket.parse(ticket).status === 'solved',
    grade: grade ?? null,
    comment: z.string().nullish().parse(fields[writeBack.desk.comment]) ?? null,
    notes: bodies.flatMap((body) => /closeloop ref (\S+)\s*$/.exec(body)?.[1] ?? []),
    gradeTags: tags.filter((tag) => tag.startsWith('fb_grade_')),
    mails,
  };
}
