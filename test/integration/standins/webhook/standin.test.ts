import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSigned, signature } from '../../../../standins/webhook/signature.ts';
import { startWebhookStandin } from '../../../../standins/webhook/standin.ts';

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
let board: Awaited<ReturnType<typeof startWebhookStandin>>;

beforeAll(async () => {
  board = await startWebhookStandin({ webhooks: { pauseScale: 0 } });
});
afterAll(async () => {
  await board?.close();
});

async function control(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${board.url}/_control/${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await answer.json();
}

function posted(id: string, data: object, key = board.standin.answerSecret): Promise<Response> {
  const at = new Date().toISOString();
  const whole = {
    request: '1',
    campaign: 'c',
    grade: 5,
    maxGrade: 5,
    comment: null,
    answers: {},
    answeredAt: at,
    ...data,
  };
  const body = JSON.stringify({ type: 'feedback.answered', timestamp: at, data: whole });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature(key, id, timestamp, body),
  };
  return fetch(`${board.url}/answers`, { method: 'POST', body, headers });
}

test('it tells of its jobs, signed; the same event again has the same id', async () => {
  const other = await startWebhookStandin();
  await control('PUT', 'hook', { url: `${other.url}/elsewhere`, secret });
  expect(await control('POST', 'jobs', { id: 7 })).toMatchObject({ id: '7', status: 'open' });
  expect(await control('POST', 'jobs/7/finish')).toMatchObject({ delivered: false, status: 404 });
  const sent = await control('GET', 'sent');
  expect(sent).toEqual([expect.stringMatching(/^msg_1_\d+$/)]);
  expect(other.standin.totalCalls()).toBe(4);
  await control('DELETE', 'hook');
  await other.close();
});

test('it tells of a job that was edited, in the state that it has', async () => {
  await control('POST', 'jobs', { id: 8, customer: { id: 'c1', email: 'a@example.com' } });
  const earlier = board.standin.sent().length;
  await control('PATCH', 'jobs/8', { customer: { email: 'b@example.com' } });
  expect(await control('GET', 'jobs/8')).toMatchObject({
    status: 'open',
    customer: { id: 'c1', email: 'b@example.com' },
  });
  expect(board.standin.sent()).toHaveLength(earlier + 1);
});

test('it takes an answer once, signed by us, about a job that it has', async () => {
  expect((await posted('a1', { record: '7' })).status).toBe(204);
  expect((await posted('a1', { record: '7' })).status).toBe(204);
  expect(await control('GET', 'jobs/7')).toMatchObject({ taken: 1, feedback: { grade: 5 } });
  expect((await posted('a2', { record: '7' }, secret)).status).toBe(401);
  expect((await posted('a3', { record: 'none' })).status).toBe(404);
  expect((await posted('a4', { record: '7', grade: 'five' })).status).toBe(422);
  expect((await posted('a5', { record: '7', more: 1 })).status).toBe(422);
});

test('it keeps the newest answer', async () => {
  await posted('b1', { record: '7', grade: 2, answeredAt: '2030-01-01T00:00:00Z' });
  await posted('b2', { record: '7', grade: 4, answeredAt: '2029-01-01T00:00:00Z' });
  expect(await control('GET', 'jobs/7')).toMatchObject({ taken: 3, feedback: { grade: 2 } });
});

test('a signature has an age, and an id without a full stop', () => {
  const now = new Date('2026-11-21T10:00:00Z');
  const at = (seconds: number, id = 'm') => {
    const timestamp = String(now.getTime() / 1000 + seconds);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature(secret, id, timestamp, 'x'),
    };
    return isSigned(headers, Buffer.from('x'), secret, now);
  };
  expect([at(0), at(-300), at(-301), at(301), at(0, 'm.1')]).toEqual([true, true, false, false, false]);
});
