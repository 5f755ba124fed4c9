import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { signedUri, signV1, signV2, signV3 } from '../../../../standins/hubspot/signature.ts';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { type Account, contactId, openAccount, ticketId } from '../../../support/standins/hubspot/account.ts';

/* Signatures against HubSpot's own and our vectors, and the habits of deliveries that no test of the connector shows. */

const Text = z.string();
const Signed = z.object({ method: Text, uri: Text, body: Text, timestamp: Text.default('') });
const signatures = z.object({ v1: Text, v2: Text, v3: Text });
const vectors = z.object({
  clientSecret: Text,
  vectors: z.array(Signed.extend({ id: Text, signedUri: Text, signatures })),
  published: z.array(Signed.extend({ version: z.enum(['v1', 'v2', 'v3']), secret: Text, signature: Text })),
});
const path = new URL('../../../support/connectors/hubspot/vectors/webhooks.json', import.meta.url);
const file = vectors.parse(JSON.parse(readFileSync(path, 'utf8')));

const signedBy = (secret: string, { method, uri, body, timestamp }: z.output<typeof Signed>) => ({
  v1: signV1(secret, body),
  v2: signV2(secret, method, uri, body),
  v3: signV3(secret, method, uri, body, timestamp),
});

test.each(file.vectors)('it signs as the vector says: $id', (vector) => {
  const made = { signedUri: signedUri(vector.uri), signatures: signedBy(file.clientSecret, vector) };
  expect(made).toEqual({ signedUri: vector.signedUri, signatures: vector.signatures });
});

test.each(file.published)('it signs as HubSpot published: $version of $uri', (vector) => {
  expect(signedBy(vector.secret, vector)[vector.version]).toBe(vector.signature);
});

let received: StandinRequest[];
let answer: (count: number) => StandinResponse | Promise<StandinResponse>;
let receiver: StandinServer;
let account: Account;
let url: string;
let wall: number;

beforeEach(async () => {
  received = [];
  wall = Date.parse('2026-11-21T10:15:30Z');
  answer = () => ({ status: 200 });
  receiver = await serve((req) => answer(received.push(req)));
  url = `${receiver.url}/hooks/crm`;
  account = await openAccount({ now: () => new Date('2026-11-21T10:15:29Z'), wallClock: () => new Date(wall) });
  account.standin.setWebhook({ url });
});
afterEach(async () => {
  await account.close();
  await receiver.close();
});

const batches = (): Record<string, unknown>[][] => received.map((req) => JSON.parse(req.raw.toString('utf8')));
const events = () => batches().flat();
const isSigned = ({ raw, headers }: StandinRequest, uri = url): boolean => {
  const { 'x-hubspot-request-timestamp': timestamp = '' } = headers;
  const { v1, v3 } = signedBy('hubspot-client-secret', { method: 'POST', uri, body: raw.toString('utf8'), timestamp });
  return headers['x-hubspot-signature'] === v1 && headers['x-hubspot-signature-v3'] === v3;
};

test('it puts events that happen together into batches of at most 100', async () => {
  const ids = Array.from({ length: 250 }, (_value, index) => account.standin.addTicket({ id: index + 1 }).id);
  await account.standin.idle();
  received.length = 0;
  await account.standin.closeAll({ ids });
  expect(
    batches()
      .map(({ length }) => length)
      .sort(),
  ).toEqual([100, 100, 50]);
});

test('it signs the public address where there is one, decoded', async () => {
  account.standin.setWebhook({ url, publicUrl: 'https://feedback.example.com/hooks/crm?x=a%3Ab' });
  await account.standin.close(ticketId);
  expect(received.map((req) => isSigned(req, 'https://feedback.example.com/hooks/crm?x=a:b'))).toEqual([true]);
});

test.each<[what: string, reply: StandinResponse]>([
  ['a 500', { status: 500 }],
  ['a 401', { status: 401 }],
  ['a redirect', { status: 302, headers: { location: '/' } }],
])('it retries %s ten times, each signed afresh with the attempt in the body', async (_what, reply) => {
  answer = () => {
    wall += 60_000;
    return reply;
  };
  const [result] = await account.standin.close(ticketId);
  expect([result?.delivered, result?.attempts.length]).toEqual([false, 11]);
  expect(events().map(({ attemptNumber }) => attemptNumber)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(events().map(({ eventId }) => eventId)).size).toBe(1);
  expect(received.every((req) => isSigned(req))).toBe(true);
  expect(new Set(received.map(({ headers }) => headers['x-hubspot-request-timestamp'])).size).toBe(11);
});

test('it retries a refused connection, ends when an attempt succeeds, and spreads all within a day', async () => {
  const pauses: number[] = [];
  const slow = await openAccount({ sleep: async (ms) => void pauses.push(ms), webhooks: { timeoutMs: 300 } });
  slow.standin.setWebhook({ url });
  answer = (count) => (count < 3 ? new Promise(() => {}) : { status: 204 });
  const [late] = await slow.standin.close(ticketId);
  expect(late?.attempts.map(({ met }) => met)).toEqual(['timeout', 'timeout', 'answer']);
  await receiver.close();
  pauses.length = 0;
  const [never] = await slow.standin.reopen(ticketId);
  expect(never?.attempts).toEqual(Array(11).fill({ met: 'no-connection' }));
  expect([pauses.length, pauses.reduce((sum, ms) => sum + ms, 0) <= 86_400_000]).toEqual([10, true]);
  await slow.close();
});

test('it echoes what was written through the API, where that property is subscribed', async () => {
  const write = (fb_grade: string) =>
    account.call('PATCH', `/crm/objects/2026-09/tickets/${ticketId}`, { properties: { fb_grade } });
  await write('9');
  const subscriptions = [{ event: 'propertyChange' as const, object: 'tickets' as const, propertyName: 'fb_grade' }];
  account.standin.setWebhook({ url, subscriptions });
  await write('8');
  await account.standin.idle();
  expect(events()).toMatchObject([{ propertyValue: '8', changeSource: 'INTEGRATION', sourceId: '3190457' }]);
});

test('it tells both ends of an association, with their types in the generic form', async () => {
  const other = account.standin.addTicket();
  account.standin.setWebhook({ url, form: 'generic' });
  await account.standin.idle();
  received.length = 0;
  await account.standin.associate({ type: 'tickets', id: other.id, contactId });
  const ends = { fromObjectTypeId: '0-5', fromObjectId: other.id, toObjectTypeId: '0-1', toObjectId: contactId };
  expect(events()).toMatchObject([
    { subscriptionType: 'object.associationChange', ...ends, associationRemoved: false },
  ]);
});

test('it hides a sensitive value from the classic form', async () => {
  account.standin.addProperty({ type: 'tickets', name: 'diagnosis', kind: 'string', sensitive: true });
  const subscriptions = [{ event: 'propertyChange' as const, object: 'tickets' as const, propertyName: 'diagnosis' }];
  for (const form of ['classic', 'generic'] as const) {
    account.standin.setWebhook({ url, form, subscriptions });
    await account.standin.change({ type: 'tickets', id: ticketId, properties: { diagnosis: form } });
  }
  expect(events().map(({ propertyValue }) => propertyValue)).toEqual(['REDACTED', 'generic']);
});

test('it tells an erased contact twice where deletion is subscribed too', async () => {
  const both = ['privacyDeletion', 'deletion'] as const;
  account.standin.setWebhook({ url, subscriptions: both.map((event) => ({ event, object: 'contacts' as const })) });
  await account.standin.privacyDelete(contactId);
  expect(
    events()
      .map((event) => event.subscriptionType)
      .sort(),
  ).toEqual(both.map((one) => `contact.${one}`).sort());
  expect((await account.call('GET', `/crm/objects/2026-09/contacts/${contactId}?archived=true`)).status).toBe(404);
});
