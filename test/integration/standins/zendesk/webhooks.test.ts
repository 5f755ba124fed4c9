import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { signZendesk } from '../../../../standins/zendesk/signature.ts';
import { type Account, customer, openAccount } from '../../../support/standins/zendesk/account.ts';

/* Signatures against the vectors, and the habits of deliveries that no closing of a test of the connector shows. */

const Text = z.string();
const Vector = z.object({
  name: Text,
  expect: Text,
  secret: Text,
  timestamp: Text,
  body_base64: Text,
  signature: Text,
});
const file = new URL('../../../support/connectors/zendesk/vectors/webhook-signatures.json', import.meta.url);
const { vectors } = z.object({ vectors: z.array(Vector) }).parse(JSON.parse(readFileSync(file, 'utf8')));

test.each(vectors)('it signs as the vector says: $name', (vector) => {
  const made = signZendesk(vector.secret, vector.timestamp, Buffer.from(vector.body_base64, 'base64'));
  expect(made === vector.signature).toBe(vector.expect === 'valid');
});

let received: StandinRequest[];
let answer: StandinResponse;
let receiver: StandinServer;
let account: Account;

beforeEach(async () => {
  received = [];
  answer = { status: 200 };
  receiver = await serve((req) => {
    received.push(req);
    return answer;
  });
  account = await openAccount({ wallClock: () => new Date('2026-11-21T10:15:30.900Z') });
  account.standin.setWebhook({ url: `${receiver.url}/hooks/support`, secrets: ['old', 'new'] });
});
afterEach(async () => {
  await account.close();
  await receiver.close();
});

const bodies = () => received.map((req) => JSON.parse(req.raw.toString('utf8')));
const types = (): string[] => bodies().map(({ type }) => type.replace('zen:event-type:ticket.', ''));

test('it signs the second of the clock on the wall, and takes turns with two secrets', async () => {
  await account.standin.solve(41960);
  await account.standin.reopen(41960);
  const at = '2026-11-21T10:15:30Z';
  expect(
    received.map(({ headers }) => [
      headers['x-zendesk-webhook-signature'],
      headers['x-zendesk-webhook-signature-timestamp'],
    ]),
  ).toEqual(['old', 'new'].map((secret, index) => [signZendesk(secret, at, received[index]?.raw ?? ''), at]));
});

test('it sends what is subscribed, and nothing else', async () => {
  const tell = async (tag: string) => {
    const ticket = { tags: [tag], comment: { body: 'x', public: false } };
    await account.call('PUT', '/api/v2/tickets/41960', { ticket });
    await account.standin.idle();
    return types().sort();
  };
  expect(await tell('one')).toEqual([]);
  account.standin.setWebhook({ url: receiver.url, subscriptions: ['ticket.tags_changed', 'ticket.comment_added'] });
  expect(await tell('two')).toEqual(['comment_added', 'tags_changed']);
});

test('it tells of spam and of deletions', async () => {
  account.standin.addTicket({ id: 5, requesterId: customer });
  await account.standin.markAsSpam(5);
  await account.standin.deleteTicket(41960);
  expect(types()).toEqual(['marked_as_spam', 'soft_deleted']);
});

test('it shows the tags of before the merge in the events of a merge', async () => {
  account.standin.addTicket({ id: 5, requesterId: customer });
  await account.standin.merge({ id: 41960, into: 5 });
  expect(types().sort()).toEqual(['merged', 'status_changed']);
  expect(bodies().map(({ detail }) => [detail.status, detail.tags])).toEqual(Array(2).fill(['CLOSED', ['vip']]));
  expect(account.standin.ticket(41960).tags).toEqual(['vip', 'closed_by_merge']);
});

test('it fills the template of a trigger, for the statuses of its condition only', async () => {
  const template = '{"v":1,"ticket_id":"{{ticket.id}}","status":"{{ticket.status}}"}';
  account.standin.setWebhook({ url: receiver.url, style: 'trigger', template });
  await account.standin.solve(41960);
  await account.standin.reopen(41960);
  expect(bodies()).toEqual([{ v: 1, ticket_id: '41960', status: 'Solved' }]);
});

test.each<[what: string, reply: StandinResponse, attempts: number]>([
  ['never a 500', { status: 500 }, 1],
  ['never a 401', { status: 401 }, 1],
  ['never a 503 without Retry-After', { status: 503 }, 1],
  ['never a 503 that asks for a minute', { status: 503, headers: { 'retry-after': '60' } }, 1],
  ['a 503 that asks for less five times', { status: 503, headers: { 'retry-after': '30' } }, 6],
  ['a 429 that asks for less five times', { status: 429, headers: { 'retry-after': '1' } }, 6],
  ['a 409 three times', { status: 409 }, 4],
])('it retries %s, under one invocation', async (_what, reply, attempts) => {
  answer = reply;
  const [result] = await account.standin.solve(41960);
  expect([result?.delivered, result?.attempts.length, received.length]).toEqual([false, attempts, attempts]);
  expect(new Set(received.map((req) => req.headers['x-zendesk-webhook-invocation-id'])).size).toBe(1);
});

test('it retries time-outs five times, and not a refused connection', async () => {
  account.standin.changeSender({ timeoutMs: 30 });
  account.standin.setWebhook({ url: account.url });
  account.standin.faults.add({ then: 'work-then-hang', times: 9 });
  const [slow] = await account.standin.solve(41960);
  expect(slow?.attempts).toEqual(Array(6).fill({ met: 'timeout' }));
  account.standin.changeSender({ timeoutMs: 5_000 });
  await receiver.close();
  account.standin.setWebhook({ url: receiver.url });
  const [refused] = await account.standin.reopen(41960);
  expect(refused?.attempts).toEqual([{ met: 'no-connection' }]);
});
