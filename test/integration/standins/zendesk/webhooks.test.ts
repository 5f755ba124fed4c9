import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { signZendesk } from '../../../../standins/zendesk/signature.ts';
import { type Account, agent, customer, fields, openAccount } from '../../../support/standins/zendesk/account.ts';

const vectors = z
  .object({
    vectors: z.array(
      z.object({
        name: z.string(),
        expect: z.enum(['valid', 'invalid']),
        secret: z.string(),
        timestamp: z.string(),
        body_base64: z.string(),
        signature: z.string(),
      }),
    ),
  })
  .parse(
    JSON.parse(
      readFileSync(
        new URL('../../../support/standins/zendesk/vectors/zendesk-webhook-vectors.json', import.meta.url),
        'utf8',
      ),
    ),
  ).vectors;

test.each(vectors.map((vector) => [vector.name, vector] as const))(
  'it signs as the vector says: %s',
  (_name, vector) => {
    const made = signZendesk(vector.secret, vector.timestamp, Buffer.from(vector.body_base64, 'base64'));
    expect(made === vector.signature).toBe(vector.expect === 'valid');
  },
);

let received: StandinRequest[];
let answer: (count: number) => StandinResponse | Promise<StandinResponse>;
let receiver: StandinServer;
let account: Account;

beforeEach(async () => {
  received = [];
  answer = () => ({ status: 200 });
  receiver = await serve((req) => answer(received.push(req)));
  account = await openAccount({
    now: () => new Date('2026-11-21T10:15:29.482Z'),
    wallClock: () => new Date('2026-11-21T10:15:30.900Z'),
  });
  account.standin.setWebhook({ url: `${receiver.url}/hooks/support` });
});
afterEach(async () => {
  await account.close();
  await receiver.close();
});

const bodies = (): { type: string; event: Record<string, unknown>; detail: Record<string, unknown> }[] =>
  received.map((req) => JSON.parse(req.raw.toString('utf8')));
const types = (): string[] => bodies().map((body) => body.type.replace('zen:event-type:ticket.', ''));

test('it delivers a solve with the payload of an event subscription, signed', async () => {
  expect(await account.standin.solve(41960)).toEqual([
    { attempts: [{ met: 'answer', status: 200 }], delivered: true, status: 200 },
  ]);
  const [req] = received;
  const { 'x-zendesk-webhook-signature': signature, 'x-zendesk-webhook-signature-timestamp': timestamp = '' } =
    req?.headers ?? {};
  expect([req?.method, req?.path, timestamp, req?.headers['x-zendesk-account-id']]).toEqual([
    'POST',
    '/hooks/support',
    '2026-11-21T10:15:30Z',
    '7654321',
  ]);
  expect(signature).toBe(signZendesk('zendesk-webhook-secret', timestamp, req?.raw ?? ''));
  const [body] = bodies();
  expect(body).toMatchObject({
    type: 'zen:event-type:ticket.status_changed',
    account_id: 7_654_321,
    subject: 'zen:ticket:41960',
    time: expect.stringMatching(/^2026-11-21T10:15:29\.482\d{6}Z$/),
    zendesk_event_version: '2022-11-06',
    event: { current: 'SOLVED', previous: 'OPEN', meta: { sequence: { id: expect.any(String), position: 1 } } },
  });
  expect(Object.keys(body?.detail ?? {}).sort()).toEqual(
    'actor_id assignee_id brand_id created_at custom_status description external_id form_id group_id id is_public organization_id priority requester_id status subject submitter_id tags type updated_at via'.split(
      ' ',
    ),
  );
  expect(body?.detail).toMatchObject({
    id: '41960',
    status: 'SOLVED',
    actor_id: String(agent),
    requester_id: String(customer),
    custom_status: '5005',
  });
});

test('it sends nothing for what is not subscribed, and everything for what is', async () => {
  const put = () =>
    account.call('PUT', '/api/v2/tickets/41960', {
      ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_9' }], comment: { body: 'x', public: false } },
    });
  await put();
  await account.standin.idle();
  expect(received).toEqual([]);
  account.standin.setWebhook({
    url: receiver.url,
    subscriptions: [
      'ticket.custom_field_changed',
      'ticket.tags_changed',
      'ticket.comment_added',
      'ticket.status_changed',
    ],
  });
  account.standin.addTicket({ id: 5, requesterId: customer });
  await account.call('PUT', '/api/v2/tickets/5', {
    ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_9' }], comment: { body: 'x', public: false } },
  });
  await account.standin.idle();
  expect(types().sort()).toEqual(['comment_added', 'custom_field_changed', 'tags_changed']);
  expect(bodies()[0]?.detail.actor_id).toBe('9900');
});

const lives: [name: string, act: () => Promise<unknown>, expected: string[]][] = [
  [
    'closing what was solved',
    () => account.standin.solve(41960).then(() => account.standin.close(41960)),
    ['status_changed', 'status_changed'],
  ],
  [
    'reopening',
    () => account.standin.solve(41960).then(() => account.standin.reopen(41960)),
    ['status_changed', 'status_changed'],
  ],
  ['a deletion', () => account.standin.deleteTicket(41960), ['soft_deleted']],
  ['spam', () => account.standin.markAsSpam(41960), ['marked_as_spam']],
];
test.each(lives)('it tells of %s', async (_name, act, expected) => {
  await act();
  expect(types()).toEqual(expected);
});

test('it shows the tags of before the merge in the events of a merge', async () => {
  account.standin.addTicket({ id: 5, requesterId: customer });
  await account.standin.merge({ id: 41960, into: 5 });
  expect(types().sort()).toEqual(['merged', 'status_changed']);
  expect(bodies().map((body) => [body.detail.status, body.detail.tags])).toEqual([
    ['CLOSED', ['vip']],
    ['CLOSED', ['vip']],
  ]);
  expect(account.standin.ticket(41960)).toMatchObject({
    ticket: { status: 'closed' },
    tags: ['vip', 'closed_by_merge'],
  });
});

test('it fills the template of a trigger, for the statuses of its condition only', async () => {
  account.standin.setWebhook({
    url: receiver.url,
    style: 'trigger',
    template: '{"v":1,"ticket_id":"{{ticket.id}}","status":"{{ticket.status}}"}',
  });
  await account.standin.solve(41960);
  await account.standin.reopen(41960);
  expect(received.map((req) => req.raw.toString('utf8'))).toEqual(['{"v":1,"ticket_id":"41960","status":"Solved"}']);
});

test('it takes turns with two secrets', async () => {
  account.standin.setWebhook({ url: receiver.url, secrets: ['old', 'new'] });
  await account.standin.solve(41960);
  await account.standin.reopen(41960);
  const good = received.map((req) =>
    ['old', 'new'].filter(
      (secret) => signZendesk(secret, '2026-11-21T10:15:30Z', req.raw) === req.headers['x-zendesk-webhook-signature'],
    ),
  );
  expect(good).toEqual([['old'], ['new']]);
});

const habits: [name: string, reply: StandinResponse, attempts: number][] = [
  ['never retries a 500', { status: 500 }, 1],
  ['never retries a 401', { status: 401 }, 1],
  ['never retries a 503 without Retry-After', { status: 503 }, 1],
  ['never retries a 503 that asks for a minute', { status: 503, headers: { 'retry-after': '60' } }, 1],
  ['retries a 503 that asks for less', { status: 503, headers: { 'retry-after': '30' } }, 6],
  ['retries a 429 that asks for less', { status: 429, headers: { 'retry-after': '1' } }, 6],
  ['retries a 409 three times', { status: 409 }, 4],
];
test.each(habits)('it %s', async (_name, reply, attempts) => {
  answer = () => reply;
  const [result] = await account.standin.solve(41960);
  expect([result?.delivered, result?.attempts.length, received.length]).toEqual([false, attempts, attempts]);
  expect(new Set(received.map((req) => req.headers['x-zendesk-webhook-invocation-id'])).size).toBe(1);
});

test('it retries time-outs five times, and not a refused connection', async () => {
  account.standin.changeSender({ timeoutMs: 30 });
  answer = () => new Promise(() => {});
  const [slow] = await account.standin.solve(41960);
  expect(slow?.attempts).toEqual(Array(6).fill({ met: 'timeout' }));
  account.standin.changeSender({ timeoutMs: 5_000 });
  await receiver.close();
  const [refused] = await account.standin.reopen(41960);
  expect(refused?.attempts).toEqual([{ met: 'no-connection' }]);
});

test('it goes on after a retry that succeeds, and waits as long as it was asked to', async () => {
  const waits: number[] = [];
  const patient = await openAccount({ sleep: async (ms) => void waits.push(ms), webhooks: { pauseScale: 0.5 } });
  patient.standin.setWebhook({ url: receiver.url });
  answer = (count) => (count === 1 ? { status: 503, headers: { 'retry-after': '30' } } : { status: 200 });
  const [result] = await patient.standin.solve(41960);
  await patient.close();
  expect([result?.attempts.map((one) => one.met === 'answer' && one.status), waits]).toEqual([[503, 200], [15_000]]);
});

describe('tricks', () => {
  test('it repeats deliveries when told to', async () => {
    account.standin.changeSender({ duplicates: 1 });
    await account.standin.solve(41960);
    expect([received.length, new Set(bodies().map((body) => JSON.stringify(body))).size]).toEqual([2, 1]);
  });

  test('it sends an event that never happened, with a chosen id', async () => {
    const send = () =>
      account.standin.fireWebhook({ id: 41960, eventId: 'same', event: { current: 'SOLVED', previous: 'OPEN' } });
    expect([(await send())[0]?.status, (await send())[0]?.status]).toEqual([200, 200]);
    expect(received.map((req) => JSON.parse(req.raw.toString('utf8')).id)).toEqual(['same', 'same']);
  });

  test('it reorders deliveries that leave together', async () => {
    const numbers = [0.9, 0.1];
    const odd = await openAccount({
      random: () => numbers.shift() ?? 0.99,
      webhooks: { reorder: true, concurrency: 1 },
    });
    odd.standin.setWebhook({ url: receiver.url });
    odd.standin.addTicket({ id: 5, requesterId: customer, assigneeId: agent });
    await Promise.all([odd.standin.solve(41960), odd.standin.solve(5)]);
    await odd.close();
    expect(bodies().map((body) => body.detail.id)).toEqual(['5', '41960']);
  });
});

test('it has its webhooks made through the API', async () => {
  const webhook = {
    name: 'x',
    endpoint: receiver.url,
    http_method: 'POST',
    request_format: 'json',
    status: 'active',
    subscriptions: ['zen:event-type:ticket.status_changed'],
  };
  account.standin.removeWebhooks();
  const made = await account.call('POST', '/api/v2/webhooks', { webhook });
  const { json } = await account.call('GET', `/api/v2/webhooks/${made.json.webhook.id}/signing_secret`);
  await account.standin.solve(41960);
  const [req] = received;
  expect([made.status, req?.headers['x-zendesk-webhook-signature']]).toEqual([
    201,
    signZendesk(json.signing_secret.secret, '2026-11-21T10:15:30Z', req?.raw ?? ''),
  ]);
});
