import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { signedUri, signV1, signV2, signV3 } from '../../../../standins/hubspot/signature.ts';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { type Account, contactId, dealId, openAccount, ticketId } from '../../../support/standins/hubspot/account.ts';

const file = z
  .object({
    clientSecret: z.string(),
    vectors: z.array(
      z.object({
        id: z.string(),
        method: z.string(),
        uri: z.string(),
        signedUri: z.string(),
        body: z.string(),
        timestamp: z.string(),
        signatures: z.object({ v1: z.string(), v2: z.string(), v3: z.string() }),
      }),
    ),
    published: z.array(
      z.object({
        version: z.string(),
        secret: z.string(),
        method: z.string(),
        uri: z.string(),
        body: z.string(),
        timestamp: z.string().optional(),
        signature: z.string(),
      }),
    ),
  })
  .parse(
    JSON.parse(
      readFileSync(
        new URL('../../../support/standins/hubspot/vectors/hubspot-webhook-vectors.json', import.meta.url),
        'utf8',
      ),
    ),
  );

test.each(file.vectors.map((vector) => [vector.id, vector] as const))(
  'it signs as the vector says: %s',
  (_id, { method, uri, body, timestamp, ...expected }) => {
    const secret = file.clientSecret;
    expect({
      signedUri: signedUri(uri),
      signatures: {
        v1: signV1(secret, body),
        v2: signV2(secret, method, uri, body),
        v3: signV3(secret, method, uri, body, timestamp),
      },
    }).toEqual({ signedUri: expected.signedUri, signatures: expected.signatures });
  },
);

test.each(file.published.map((one, index) => [`${one.version} ${index}`, one] as const))(
  'it signs as HubSpot published: %s',
  (_name, { version, secret, method, uri, body, timestamp = '', signature }) => {
    const made =
      version === 'v1'
        ? signV1(secret, body)
        : version === 'v2'
          ? signV2(secret, method, uri, body)
          : signV3(secret, method, uri, body, timestamp);
    expect(made).toBe(signature);
  },
);

type Event = Record<string, unknown>;

let received: StandinRequest[];
let answer: (count: number) => StandinResponse | Promise<StandinResponse>;
let receiver: StandinServer;
let account: Account;
let wall: number;

beforeEach(async () => {
  received = [];
  wall = Date.parse('2026-11-21T10:15:30Z');
  answer = () => ({ status: 200 });
  receiver = await serve((req) => answer(received.push(req)));
  account = await openAccount({ now: () => new Date('2026-11-21T10:15:29Z'), wallClock: () => new Date(wall) });
  account.standin.setWebhook({ url: `${receiver.url}/hooks/crm` });
});
afterEach(async () => {
  await account.close();
  await receiver.close();
});

const batches = (): Event[][] => received.map((req) => JSON.parse(req.raw.toString('utf8')));
const events = (): Event[] => batches().flat();
const signature = (index: number) => {
  const req = received[index];
  const body = req?.raw.toString('utf8') ?? '';
  const {
    'x-hubspot-signature': v1,
    'x-hubspot-signature-v3': v3,
    'x-hubspot-signature-version': version,
    'x-hubspot-request-timestamp': timestamp = '',
  } = req?.headers ?? {};
  const url = `${receiver.url}/hooks/crm`;
  return {
    good:
      v1 === signV1('hubspot-client-secret', body) &&
      v3 === signV3('hubspot-client-secret', 'POST', url, body, timestamp),
    version,
    timestamp,
  };
};

test('it delivers a close in the classic form, signed v1 and v3', async () => {
  expect(await account.standin.close(ticketId)).toEqual([
    { attempts: [{ met: 'answer', status: 200 }], delivered: true, status: 200 },
  ]);
  expect(events()).toEqual([
    {
      eventId: expect.any(Number),
      subscriptionId: expect.any(Number),
      portalId: 48_211_907,
      appId: 3_190_457,
      occurredAt: Date.parse('2026-11-21T10:15:29Z'),
      subscriptionType: 'ticket.propertyChange',
      attemptNumber: 0,
      objectId: ticketId,
      propertyName: 'hs_pipeline_stage',
      propertyValue: '4',
      changeSource: 'CRM_UI',
      sourceId: 'userId:98499705',
    },
  ]);
  expect(signature(0)).toEqual({ good: true, version: 'v1', timestamp: '1795256130000' });
});

test('it delivers a won deal in the generic form', async () => {
  account.standin.setWebhook({ url: `${receiver.url}/hooks/crm`, form: 'generic' });
  await account.standin.setStage({
    type: 'deals',
    id: dealId,
    stage: 'closedwon',
    source: { changeSource: 'INTEGRATION', sourceId: '2931120' },
  });
  expect(events()).toMatchObject([
    {
      subscriptionType: 'object.propertyChange',
      objectTypeId: '0-3',
      propertyName: 'dealstage',
      propertyValue: 'closedwon',
      changeSource: 'INTEGRATION',
      sourceId: '2931120',
      isSensitive: false,
    },
  ]);
});

test('it puts events that happen together into batches of at most 100', async () => {
  const ids = Array.from({ length: 250 }, (_value, index) => account.standin.addTicket({ id: index + 1 }).id);
  await account.standin.idle();
  received.length = 0;
  await account.standin.closeAll({ ids });
  expect(
    batches()
      .map((batch) => batch.length)
      .sort(),
  ).toEqual([100, 100, 50]);
  expect(new Set(events().map((event) => event.objectId)).size).toBe(250);
});

test('it signs the public address where there is one', async () => {
  account.standin.setWebhook({ url: receiver.url, publicUrl: 'https://feedback.example.com/hooks/crm?x=a%3Ab' });
  await account.standin.close(ticketId);
  const [req] = received;
  const { 'x-hubspot-signature-v3': v3, 'x-hubspot-request-timestamp': timestamp = '' } = req?.headers ?? {};
  expect(v3).toBe(
    signV3(
      'hubspot-client-secret',
      'POST',
      'https://feedback.example.com/hooks/crm?x=a:b',
      req?.raw.toString('utf8') ?? '',
      timestamp,
    ),
  );
});

const failures: [name: string, reply: StandinResponse][] = [
  ['a 500', { status: 500 }],
  ['a 401', { status: 401 }],
  ['a redirect', { status: 302, headers: { location: '/' } }],
];
test.each(failures)(
  'it retries %s ten times, each signed afresh with the attempt in the body',
  async (_name, reply) => {
    answer = () => {
      wall += 60_000;
      return reply;
    };
    const [result] = await account.standin.close(ticketId);
    expect([result?.delivered, result?.attempts.length]).toEqual([false, 11]);
    expect(events().map((event) => event.attemptNumber)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(new Set(events().map((event) => event.eventId)).size).toBe(1);
    expect(received.map((_req, index) => signature(index).good)).toEqual(Array(11).fill(true));
    expect(new Set(received.map((_req, index) => signature(index).timestamp)).size).toBe(11);
  },
);

test('it retries a refused connection, and ends when an attempt succeeds', async () => {
  account.standin.changeSender({ timeoutMs: 300 });
  answer = (count) => (count < 3 ? new Promise(() => {}) : { status: 204 });
  const [late] = await account.standin.close(ticketId);
  expect(late?.attempts).toEqual([{ met: 'timeout' }, { met: 'timeout' }, { met: 'answer', status: 204 }]);
  await receiver.close();
  const [never] = await account.standin.reopen(ticketId);
  expect(never?.attempts).toEqual(Array(11).fill({ met: 'no-connection' }));
});

test('it echoes what was written through the API, where that property is subscribed', async () => {
  const write = () =>
    account.call('PATCH', `/crm/objects/2026-09/tickets/${ticketId}`, { properties: { fb_grade: '9' } });
  await write();
  await account.standin.idle();
  expect(received).toEqual([]);
  account.standin.setWebhook({
    url: `${receiver.url}/hooks/crm`,
    subscriptions: [{ event: 'propertyChange', object: 'tickets', propertyName: 'fb_grade' }],
  });
  await write();
  await account.call('PATCH', `/crm/objects/2026-09/tickets/${ticketId}`, { properties: { fb_grade: '8' } });
  await account.standin.idle();
  expect(events()).toMatchObject([
    { propertyName: 'fb_grade', propertyValue: '8', changeSource: 'INTEGRATION', sourceId: '3190457' },
  ]);
});

test('it tells of lives: created, associated, merged, deleted, restored, erased', async () => {
  const { standin } = account;
  const other = standin.addTicket();
  await standin.idle();
  await standin.associate({ type: 'tickets', id: other.id, contactId });
  const merged = standin.merge({ type: 'tickets', primary: ticketId, merged: [other.id] });
  await merged.deliveries;
  await standin.deleteRecord({ type: 'tickets', id: merged.id });
  await standin.restore({ type: 'tickets', id: merged.id });
  await standin.privacyDelete(contactId);
  expect(events()).toMatchObject([
    { subscriptionType: 'ticket.creation', objectId: other.id, changeFlag: 'CREATED' },
    {
      subscriptionType: 'ticket.associationChange',
      fromObjectId: other.id,
      toObjectId: contactId,
      associationType: 'TICKET_TO_CONTACT',
      associationRemoved: false,
    },
    {
      subscriptionType: 'ticket.merge',
      objectId: ticketId,
      primaryObjectId: ticketId,
      mergedObjectIds: [other.id],
      newObjectId: merged.id,
    },
    { subscriptionType: 'ticket.deletion', objectId: merged.id },
    { subscriptionType: 'ticket.restore', objectId: merged.id },
    { subscriptionType: 'contact.privacyDeletion', objectId: contactId },
  ]);
});

test('it delivers made-up events as they are, twice when told to', async () => {
  account.standin.changeSender({ duplicates: 1 });
  const [result] = await account.standin.fireWebhook({ events: [{ subscriptionType: 'ticket.dance', portalId: 1 }] });
  expect([result?.status, batches()]).toEqual([
    200,
    Array(2).fill([{ subscriptionType: 'ticket.dance', portalId: 1, attemptNumber: 0 }]),
  ]);
});

test('it tells both ends of an association, with their types in the generic form', async () => {
  const other = account.standin.addTicket();
  await account.standin.idle();
  received.length = 0;
  await account.standin.associate({ type: 'tickets', id: other.id, contactId });
  account.standin.setWebhook({ url: `${receiver.url}/hooks/crm`, form: 'generic' });
  await account.standin.associate({ type: 'tickets', id: other.id, contactId, remove: true });
  expect(events().map((event) => event.objectId)).toEqual([undefined, undefined]);
  expect(events()[1]).toMatchObject({
    subscriptionType: 'object.associationChange',
    fromObjectTypeId: '0-5',
    toObjectTypeId: '0-1',
    associationRemoved: true,
  });
});

test('it hides a sensitive value from the classic form', async () => {
  account.standin.addProperty({ type: 'tickets', name: 'diagnosis', kind: 'string', sensitive: true });
  const subscriptions = [{ event: 'propertyChange' as const, object: 'tickets' as const, propertyName: 'diagnosis' }];
  for (const form of ['classic', 'generic'] as const) {
    account.standin.setWebhook({ url: `${receiver.url}/hooks/crm`, form, subscriptions });
    await account.standin.change({ type: 'tickets', id: ticketId, properties: { diagnosis: form } });
  }
  expect(events().map((event) => [event.propertyValue, event.isSensitive])).toEqual([
    ['REDACTED', undefined],
    ['generic', true],
  ]);
});

test('it tells an erased contact twice where deletion is subscribed too', async () => {
  account.standin.setWebhook({
    url: `${receiver.url}/hooks/crm`,
    subscriptions: [
      { event: 'privacyDeletion', object: 'contacts' },
      { event: 'deletion', object: 'contacts' },
    ],
  });
  await account.standin.privacyDelete(contactId);
  expect(
    events()
      .map((event) => event.subscriptionType)
      .sort(),
  ).toEqual(['contact.deletion', 'contact.privacyDeletion']);
  expect((await account.call('GET', `/crm/objects/2026-09/contacts/${contactId}?archived=true`)).status).toBe(404);
});

test('it refuses a subscription to the date of the last change', () => {
  const subscriptions = [
    { event: 'propertyChange' as const, object: 'tickets' as const, propertyName: 'hs_lastmodifieddate' },
  ];
  expect(() => account.standin.setWebhook({ url: receiver.url, subscriptions })).toThrow('not subscribable');
});

test('it spreads all attempts within a day', async () => {
  const pauses: number[] = [];
  const slow = await openAccount({ sleep: async (ms) => void pauses.push(ms) });
  answer = () => ({ status: 503 });
  slow.standin.setWebhook({ url: receiver.url });
  await slow.standin.close(ticketId);
  expect([pauses.length, pauses.reduce((sum, ms) => sum + ms, 0) <= 86_400_000]).toEqual([10, true]);
  await slow.close();
});
