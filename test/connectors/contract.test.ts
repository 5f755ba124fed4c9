import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { hubspot } from '../../connectors/hubspot/hubspot.ts';
import { zendesk } from '../../connectors/zendesk/zendesk.ts';
import { type ConnectorPorts, type Delivery, defineConnector } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { createHubspotStandin } from '../../standins/hubspot/standin.ts';
import { type Fault, FaultQueue, type StandinRequest, type StandinResponse, serve } from '../../standins/server.ts';
import { signZendesk } from '../../standins/zendesk/signature.ts';
import { createZendeskStandin } from '../../standins/zendesk/standin.ts';
import { type Breakage, type ConnectorSample, connectorContract, customer, type Vendor } from './contract.ts';

const hookUrl = 'https://closeloop.example/hooks/contract';

/** Takes what a stand-in delivers. Answers 200, as the worker does. */
function mailbox() {
  let last: Delivery | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { url, method, headers } = new Request(input, init);
    const raw = new Uint8Array(Buffer.from(String(init?.body)));
    last = { url, method, headers: Object.fromEntries(headers), raw, receivedAt: new Date() };
    return new Response();
  };
  return {
    fetch,
    taken(): Delivery {
      if (last === undefined) throw new Error('the stand-in delivered nothing');
      return last;
    },
  };
}

function posted(raw: Uint8Array, headers: Record<string, string>): Delivery {
  return { method: 'POST', url: hookUrl, headers, raw, receivedAt: new Date() };
}

/** On every call from now on. */
function fault(how: Breakage, words: string): Fault {
  const always = { times: 1_000 };
  const body = { error: words, message: words, description: words, details: { value: [words] } };
  switch (how) {
    case '429':
      return { ...always, status: 429, headers: { 'retry-after': '7' }, body };
    case '500':
      return { ...always, status: 500, body };
    case 'html':
      return { ...always, status: 200, headers: { 'content-type': 'text/html' }, body: `<html>${words}</html>` };
    case 'silent':
      return { ...always, delayMs: 3_600_000 };
  }
}

const zendeskSample: ConnectorSample = {
  connector: zendesk,
  signatureHeaders: ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp'],
  missingId: '999999999',
  // One for the token, one for the names of the fields, one for the tickets; a write looks before and after, and at its job.
  callsFor100: { plan: 3, ask: 3, writeBack: 7 },
  async start() {
    const { fetch, taken } = mailbox();
    const standin = createZendeskStandin({ fetch, jobs: { queuedMs: 0, workingMs: 0 } });
    const server = await serve(standin.handle, { faults: standin.faults });
    const grade = standin.addTicketField({ title: 'Grade', type: 'integer' }).id;
    const comment = standin.addTicketField({ title: 'Comment', type: 'textarea' }).id;
    const answeredAt = standin.addTicketField({ title: 'Answered', type: 'date' }).id;
    const assigneeId = standin.addUser({ name: 'Bob', role: 'agent' }).id;
    const requesterId = standin.addUser({ name: 'Hanna', email: customer.email }).id;
    const groupId = standin.addGroup({ name: 'Phone' }).id;
    return {
      settings: (secrets) => ({
        subdomain: 'acme',
        clientId: standin.credentials.clientId,
        clientSecret: standin.credentials.clientSecret,
        baseUrl: server.url,
        writeBack: { grade, comment, answeredAt, note: true, tags: true },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      // Jobs end before the first look; what they do is looked at, not how long it takes.
      ports: { sleep: () => standin.idle() },
      async closeRecord(secret) {
        standin.setWebhook({ url: hookUrl, secrets: [secret] });
        const { id } = standin.addTicket({ requesterId, assigneeId, groupId, subject: customer.comment });
        await standin.solve(id);
        return { recordId: String(id), delivery: taken() };
      },
      reopen: async (id) => void (await standin.reopen(Number(id))),
      closeAgain: async (id) => void (await standin.solve(Number(id))),
      sign(raw, secret) {
        const timestamp = new Date().toISOString();
        return posted(raw, {
          'x-zendesk-webhook-signature': signZendesk(secret, timestamp, raw),
          'x-zendesk-webhook-signature-timestamp': timestamp,
        });
      },
      gradeOn: (id) =>
        z
          .number()
          .nullable()
          .default(null)
          .parse(standin.ticket(Number(id)).fields[String(grade)]),
      traces(id) {
        const { tags, fields, audits, mails } = standin.ticket(Number(id));
        const notes = JSON.stringify(audits).match(/"plain_body":"[^"]*closeloop ref/g)?.length;
        return { tags, fields, mails, notes };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words)),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
    };
  },
};

const hubspotSample: ConnectorSample = {
  connector: hubspot,
  signatureHeaders: ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp'],
  missingId: 'ticket-999999999',
  // Two for the tickets with their history, one each for pipelines, associations, contacts and owners.
  callsFor100: { plan: 6, ask: 2, writeBack: 1 },
  async start() {
    const { fetch, taken } = mailbox();
    // Closings are told apart by their instants: a clock that never shows one twice.
    let clock = Date.now() - 3_600_000;
    const now = () => new Date(clock++);
    const standin = createHubspotStandin({ fetch, now });
    const server = await serve(standin.handle, { faults: standin.faults });
    for (const [name, kind] of [
      ['feedback_grade', 'number'],
      ['feedback_comment', 'string'],
      ['feedback_at', 'datetime'],
    ] as const) {
      standin.addProperty({ type: 'tickets', name, kind });
    }
    const owner = standin.addOwner({});
    const contact = standin.addContact({ properties: { email: customer.email } }).id;
    const number = (id: string) => Number(id.replace('ticket-', ''));
    return {
      settings: (secrets) => ({
        accessToken: standin.accessToken,
        baseUrl: server.url,
        writeBack: { grade: 'feedback_grade', comment: 'feedback_comment', answeredAt: 'feedback_at' },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      async closeRecord(secret) {
        const properties = {
          subject: customer.comment,
          hs_pipeline: '0',
          hs_pipeline_stage: '1',
          hubspot_owner_id: owner.id,
        };
        standin.removeWebhook();
        const { id } = standin.addTicket({ properties, contacts: [contact] });
        standin.setWebhook({ url: hookUrl, secrets: [secret] });
        await standin.close(id);
        return { recordId: `ticket-${id}`, delivery: taken() };
      },
      reopen: async (id) => void (await standin.reopen(number(id))),
      closeAgain: async (id) => void (await standin.close(number(id))),
      sign(raw, secret) {
        const timestamp = String(Date.now());
        const hmac = createHmac('sha256', secret).update(`POST${hookUrl}`).update(raw).update(timestamp);
        return posted(raw, {
          'x-hubspot-signature-v3': hmac.digest('base64'),
          'x-hubspot-request-timestamp': timestamp,
        });
      },
      gradeOn: (id) => gradeIn(standin.ticket(number(id)).properties.feedback_grade),
      traces(id) {
        const { hs_lastmodifieddate: _, ...properties } = standin.ticket(number(id)).properties;
        return properties;
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words)),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
    };
  },
};

function gradeIn(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : Number(text);
}

/** The least a connector is: a desk whose API gives and takes whole lists, and whose webhook names one ticket. */
const toySettings = z.strictObject({
  url: z.url(),
  webhookSecrets: z.array(z.string().trim().min(1)).min(1),
});

const ToyEvent = z.object({ ticket: z.string().regex(/^T\d+$/), closing: z.int(), at: z.coerce.date() });
const ToyTicket = z.object({
  id: z.string(),
  closings: z.int(),
  closedAt: z.coerce.date().nullable(),
  email: z.string(),
});
type ToyTicket = z.input<typeof ToyTicket> & { grade: number | null };

const toy = defineConnector({
  name: 'toy',
  settings: toySettings,
  account: ({ url }) => url,
  open: ({ url, webhookSecrets }, ports) => ({
    batchSize: 100,
    acceptedStatus: 202,
    verify({ headers, raw }) {
      const given = Buffer.from(headers['x-toy-signature'] ?? '');
      if (given.length === 0) return { ok: false, why: 'unsigned' };
      const equal = webhookSecrets
        .map((secret) => Buffer.from(toySign(secret, raw)))
        .filter((expected) => {
          return expected.length === given.length && timingSafeEqual(expected, given);
        });
      return equal.length > 0 ? { ok: true } : { ok: false, why: 'mismatch' };
    },
    events({ raw }) {
      const { data } = ToyEvent.safeParse(jsonOf(Buffer.from(raw)));
      if (data === undefined) return { ok: false, why: 'no event of a toy' };
      const { ticket: recordId, closing, at } = data;
      return {
        ok: true,
        events: [{ kind: 'closed', recordId, at, key: `${recordId}-${closing}`, what: 'closed' }],
        ignored: [],
      };
    },
    async read(ids) {
      if (ids.length === 0) return [];
      const found = await toyCall(ports, `${url}/read`, [...ids], z.array(ToyTicket));
      return ids.map((id) => {
        const ticket = found.find((one) => one.id === id);
        if (ticket === undefined) return { ok: false, why: 'not-found' };
        const { closings, closedAt, email } = ticket;
        const state =
          closedAt === null
            ? ({ is: 'open' } as const)
            : ({ is: 'closed', closing: `c${closings}`, closedAt } as const);
        return { ok: true, record: { id, currentId: id, state, shape: { email } } };
      });
    },
    async writeBack(items) {
      if (items.length === 0) return [];
      const grades = items.map(({ recordId, grade }) => ({ id: recordId, grade }));
      const taken = await toyCall(ports, `${url}/write`, grades, z.array(z.boolean()));
      return items.map((_item, index) =>
        taken[index] === true
          ? { ok: true, findings: [] }
          : { ok: false, why: 'not-found', message: 'There is no such ticket.' },
      );
    },
  }),
});

async function toyCall<S extends z.ZodType>(ports: ConnectorPorts, url: string, body: object, schema: S) {
  await ports.budget.take();
  const again = (text: string, more: object = {}, outcome: 'unknown' | 'refused' = 'unknown') =>
    new CloseloopError(`the toy desk ${text}; tried again`, { kind: 'transient', ...more }, { outcome });
  const signal = AbortSignal.timeout(10_000);
  const { status, headers, text } = await ports
    .fetch(url, { method: 'POST', body: JSON.stringify(body), signal })
    .then(async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }))
    .catch((): never => {
      throw again('did not answer');
    });
  if (status === 429) {
    const retryAfterMs = Number(headers.get('retry-after')) * 1000;
    await ports.budget.pause(retryAfterMs);
    throw again('asks us to wait', { retryAfterMs, throttled: true }, 'refused');
  }
  const { data } = schema.safeParse(jsonOf(Buffer.from(text)));
  if (status !== 200 || data === undefined) throw again(`answered ${status}, no JSON that we know`);
  return data;
}

function toySign(secret: string, raw: Uint8Array): string {
  return createHmac('sha256', secret).update(raw).digest('hex');
}

function jsonOf(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch {
    return undefined;
  }
}

const toySample: ConnectorSample = {
  connector: toy,
  signatureHeaders: ['x-toy-signature'],
  missingId: 'T0',
  callsFor100: { plan: 1, ask: 1, writeBack: 1 },
  async start(): Promise<Vendor> {
    const tickets = new Map<string, ToyTicket>();
    const faults = new FaultQueue();
    let calls = 0;
    const answer = ({ path, raw }: StandinRequest): StandinResponse => {
      calls++;
      if (path === '/read') {
        const ids = new Set(z.array(z.string()).parse(jsonOf(raw)));
        return { status: 200, body: [...tickets.values()].filter(({ id }) => ids.has(id)) };
      }
      const grades = z.array(z.object({ id: z.string(), grade: z.number().nullable() })).parse(jsonOf(raw));
      return { status: 200, body: grades.map((one) => tickets.has(one.id) && change(one.id, { grade: one.grade })) };
    };
    const change = (id: string, more: Partial<ToyTicket>): true => {
      const now = tickets.get(id) ?? { id, closings: 0, closedAt: null, email: customer.email, grade: null };
      tickets.set(id, { ...now, ...more });
      return true;
    };
    const close = async (id: string): Promise<void> => {
      change(id, { closings: (tickets.get(id)?.closings ?? 0) + 1, closedAt: new Date().toISOString() });
    };
    const sign = (raw: Uint8Array, secret: string) => posted(raw, { 'x-toy-signature': toySign(secret, raw) });
    const server = await serve(answer, { faults });
    return {
      settings: (secrets) => ({ url: server.url, ...(secrets && { webhookSecrets: secrets }) }),
      async closeRecord(secret) {
        const recordId = `T${tickets.size + 1}`;
        await close(recordId);
        const event = { ticket: recordId, closing: 1, at: new Date().toISOString() };
        return { recordId, delivery: sign(Buffer.from(JSON.stringify(event)), secret) };
      },
      reopen: async (id) => void change(id, { closedAt: null }),
      closeAgain: close,
      sign,
      gradeOn: (id) => tickets.get(id)?.grade ?? null,
      traces: (id) => ({ ...tickets.get(id) }),
      breakVendor: (how, words) => faults.add(fault(how, words)),
      calls: () => calls,
      close: () => server.close(),
    };
  },
};

for (const sample of [zendeskSample, hubspotSample, toySample]) connectorContract(sample);
