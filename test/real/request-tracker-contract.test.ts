import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { z } from 'zod';
import { requestTracker } from '../../connectors/request-tracker/request-tracker.ts';
import type { Delivery } from '../../core/connector/contract.ts';
import { plantOneOf, posted, preflight } from '../support/connectors/vendor-account.ts';
import {
  type Breakage,
  type ConnectorSample,
  connectorContract,
  customer,
  type HeldNote,
} from '../support/contract.ts';
import { until } from '../support/loop.ts';
import { startReceiver } from './systems/receiver.ts';
import { type RequestTracker, startRequestTracker } from './systems/request-tracker.ts';
import { useSystem } from './systems/use-system.ts';

/* The suite of every connector, on a Request Tracker that runs. A server between the two counts calls, and breaks them. */

const receiver = startReceiver();
const system = useSystem(async () => startRequestTracker({ hook: await receiver.url() }));
const writeBack = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback at',
  status: 'Feedback status',
  note: true,
  noAnswer: true,
};

const sample: ConnectorSample = {
  connector: requestTracker,
  signatureHeaders: ['x-rt-signature', 'x-rt-timestamp'],
  missingId: '99999999',
  // The tickets, two pages of their changes, the customer; the tickets, the fields, the tickets again, and a comment each.
  callsFor100: { read: 4, writeBack: 103 },
  pollPage: 100,
  does: ['poll', 'check', 'no-answer', 'echo', 'forget', 'replace'],
  keeps: ['comments'],
  acts: [
    {
      name: 'reopen',
      params: { queue: 'Escalations', priority: 40, owner: 'closeloop' },
      amiss: [{ queue: 'Nowhere' }, { owner: 'nobody-at-all' }, { owner: 'hanna' }, { status: 'resolved' }],
    },
    {
      name: 'set',
      params: { 'Feedback choice': 'bad' },
      amiss: [{ 'Feedback choice': 'awful' }, { Nothing: 'x' }, { 'Feedback grade': 1 }],
    },
  ],
  planted: ['a refused token', 'no rights', 'a disabled field', 'a zone with hours of its own'],
  lacks: {
    swallow: 'Request Tracker keeps what it takes',
    dropdown: 'not tried yet: the fields of this system are of free text',
    lock: 'every ticket that the agent sees takes answers',
  },
  async start() {
    const { running } = system;
    const { person, fields } = running;
    await makeWhole(running);
    const between = await startBetween(running.baseUrl);
    let token = running.agent.token;
    let told = receiver.told.length;
    /** What the scrip sent of the last change of the ticket, signed with a secret of the suite. */
    async function delivered(id: string, secret: string): Promise<Delivery> {
      const [{ id: change } = { id: '' }] = (await person.transactions(id))
        .filter(({ type }) => type === 'Status')
        .slice(-1);
      const sent = () =>
        receiver.told.find(
          ({ body }) => body.includes(`"transaction":${change},`) || body.includes(`"transaction":${change}}`),
        );
      await until(() => sent() !== undefined);
      told = receiver.told.length;
      return signed(Buffer.from(sent()?.body ?? ''), secret);
    }
    return {
      settings: (webhookSecrets) => ({
        address: between.url,
        token,
        writeBack,
        ...(webhookSecrets && { webhookSecrets }),
      }),
      async closeRecord(secret) {
        const id = await person.addTicket({ subject: customer.comment, customer: customer.email });
        await person.resolve(id);
        return { recordId: id, delivery: await delivered(id, secret) };
      },
      // Some seconds apart, as Request Tracker takes a moment for each: its pages go by ids, not by times.
      async closeAtOnce(count) {
        const ids: string[] = [];
        for (const _ of Array(count))
          ids.push(await person.addTicket({ subject: customer.comment, customer: customer.email }));
        await person.resolveAll(ids);
        return ids;
      },
      reopen: (id) => person.reopen(id),
      async closeAgain(id, secret) {
        await person.resolve(id);
        return await delivered(id, secret);
      },
      correctEmail: (_id, email) => person.changeUser('hanna', { EmailAddress: email }),
      async replaceCustomer(id, email) {
        await person.changeUser('olga', { EmailAddress: email });
        await person.edit(id, { Requestor: email });
      },
      sign: signed,
      gradeOn(id) {
        const [grade = ''] = fieldsOn(running, id)['Feedback grade'] ?? [];
        return grade === '' ? null : Number(grade);
      },
      commentOn: (id) => fieldsOn(running, id)['Feedback comment']?.[0] ?? null,
      notesOn: (id) => notesOn(running, id),
      traces: (id) => ({
        ...standingOf(running, id),
        fields: fieldsOn(running, id),
        comments: notesOn(running, id).map(({ text }) => text),
      }),
      breakVendor: between.breakAs,
      calls: () => between.calls(),
      settle: () => sleep(1_100),
      close: () => between.close(),
      preflight: () => preflight,
      async plant(what) {
        await plantOneOf(
          {
            'a refused token': () => {
              token = `${token.slice(0, -4)}0000`;
            },
            'no rights': () => {
              token = running.noRightsToken;
            },
            'a disabled field': () => person.call(z.unknown(), 'DELETE', `/customfield/${fields['Feedback grade']}`),
            'a zone with hours of its own': () => person.changeUser('closeloop', { Timezone: 'Asia/Tokyo' }),
          },
          what,
        );
      },
      async delivered(secret) {
        await sleep(300);
        const fresh = receiver.told.slice(told);
        told = receiver.told.length;
        return fresh.map(({ body }) => signed(Buffer.from(body), secret));
      },
    };
  },
};

function signed(raw: Uint8Array, secret: string): Delivery {
  const now = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${now}.`).update(raw).digest('hex');
  return posted(raw, { 'x-rt-timestamp': now, 'x-rt-signature': signature });
}

/** The customers and what a test before may have spoilt. */
async function makeWhole({ person, fields }: RequestTracker): Promise<void> {
  for (const Name of ['olga', 'hanna'])
    await person
      .call(z.unknown(), 'POST', '/user', { Name, RealName: 'Hanna K.', Privileged: 0 })
      .catch(() => undefined);
  await person.changeUser('olga', { EmailAddress: '' });
  await person.changeUser('hanna', { EmailAddress: customer.email });
  await person.changeUser('closeloop', { Timezone: 'UTC' });
  await person.call(z.unknown(), 'PUT', `/customfield/${fields['Feedback grade']}`, { Disabled: 0 });
}

/** The answer to a GET, awaited in another process: the suite asks synchronously. */
function getNow({ baseUrl, agent }: RequestTracker, path: string): unknown {
  const script =
    'fetch(process.argv[1], { headers: { authorization: process.argv[2] } }).then((a) => a.text()).then(console.log)';
  const { stdout } = spawnSync(process.execPath, ['-e', script, `${baseUrl}/REST/2.0${path}`, `token ${agent.token}`]);
  return JSON.parse(stdout.toString());
}

function fieldsOn(running: RequestTracker, id: string): Record<string, string[]> {
  const Fields = z.object({ CustomFields: z.array(z.object({ name: z.string(), values: z.array(z.string()) })) });
  const { CustomFields } = Fields.parse(getNow(running, `/ticket/${id}`));
  return Object.fromEntries(CustomFields.map(({ name, values }) => [name, values]));
}

/** Where the ticket stands, and with whom. */
function standingOf(running: RequestTracker, id: string) {
  const Standing = z.object({ Status: z.string(), Priority: z.coerce.number(), Queue: Named, Owner: Named });
  return Standing.parse(getNow(running, `/ticket/${id}`));
}

const Named = z.object({ id: z.coerce.string() });

/** Comments, which stay among agents, and replies, which customers are mailed. */
function notesOn(running: RequestTracker, id: string): HeldNote[] {
  const History = z.object({ items: z.array(z.object({ id: z.coerce.string(), Type: z.string() })) });
  const { items } = History.parse(getNow(running, `/ticket/${id}/history?fields=Type&per_page=100`));
  const types = new Map(items.map((one) => [one.id, one.Type]));
  const Texts = z.object({
    items: z.array(z.object({ TransactionId: z.coerce.string(), Content: z.string(), ContentType: z.string() })),
  });
  const path = `/ticket/${id}/attachments?fields=Content,ContentType,TransactionId&per_page=100`;
  return Texts.parse(getNow(running, path)).items.flatMap(({ TransactionId, Content, ContentType }) => {
    const type = types.get(TransactionId);
    if (type !== 'Comment' && type !== 'Correspond') return [];
    return [{ text: Content, isHtml: ContentType === 'text/html', isPublic: type === 'Correspond' }];
  });
}

async function startBetween(baseUrl: string) {
  let calls = 0;
  let broken: { how: Breakage; words: string } | undefined;
  const server = createServer(async (request, answer) => {
    calls++;
    if (broken !== undefined) {
      const { how, words } = broken;
      if (how === 'html') answer.end(`<html>${words}</html>`);
      else if (how !== 'silent')
        answer.writeHead(Number(how), { 'retry-after': '7' }).end(JSON.stringify({ message: words }));
      return;
    }
    const { method = 'GET', headers } = request;
    const body = await text(request);
    const { host: _, connection: _1, 'content-length': _2, 'transfer-encoding': _3, ...kept } = headers;
    const sent = { method, headers: z.record(z.string(), z.string()).parse(kept), ...(body !== '' && { body }) };
    const real = await fetch(`${baseUrl}${request.url}`, sent);
    const type = real.headers.get('content-type') ?? 'text/plain';
    answer.writeHead(real.status, { 'content-type': type }).end(await real.text());
  }).listen(0, '127.0.0.1');
  // Longer than any test: what the suite looks up at once holds this process up, and a closed connection would be used again.
  server.keepAliveTimeout = 3_600_000;
  await new Promise((done) => server.once('listening', done));
  const address = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls: () => calls,
    breakAs(how: Breakage, words: string) {
      broken = { how, words };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

connectorContract(sample, { describe, test, beforeEach, afterEach });
