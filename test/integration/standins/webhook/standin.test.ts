import { expect, onTestFinished, test } from 'vitest';
import { isSigned, signature, startWebhookStandin } from '../../../../standins/webhook/standin.ts';

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

test.each<[what: string, answer: object, status: number, key?: string]>([
  ['a signature of somebody else', {}, 401, secret],
  ['an answer about no job', { record: 'none' }, 404],
  ['a grade that is no number', { grade: 'five' }, 422],
  ['a key too many', { more: 1 }, 422],
  ['an older answer, which it takes and does not keep', { answeredAt: '2020-01-01T00:00:00Z' }, 204],
])('it refuses %s, and takes an answer once', async (_what, change, status, key) => {
  const { standin, url, close } = await startWebhookStandin();
  onTestFinished(close);
  standin.addJob({ id: 7 });
  const post = async (id: string, more: object, by = standin.answerSecret) => {
    const answeredAt = new Date().toISOString();
    const answer = { request: '1', campaign: 'c', grade: 5, maxGrade: 5, comment: null, answers: {}, answeredAt };
    const data = { record: '7', ...answer, ...more };
    const body = JSON.stringify({ type: 'feedback.answered', timestamp: answeredAt, data });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp };
    const headers = { ...signed, 'webhook-signature': signature(by, id, timestamp, body) };
    return (await fetch(`${url}/answers`, { method: 'POST', body, headers })).status;
  };
  expect([await post('a', {}), await post('a', {}), await post('b', { grade: 1, ...change }, key)]).toEqual([
    204,
    204,
    status,
  ]);
  expect(standin.job('7')).toMatchObject({ taken: status === 204 ? 2 : 1, feedback: { grade: 5 } });
});

test.each([
  [0, 'm', true],
  [-300, 'm', true],
  [-301, 'm', false],
  [301, 'm', false],
  [0, 'm.1', false],
])('a signature %i seconds old of the id %s is good: %s', (seconds, id, isGood) => {
  const now = new Date('2026-11-21T10:00:00Z');
  const timestamp = String(now.getTime() / 1000 + seconds);
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  const headers = { ...signed, 'webhook-signature': signature(secret, id, timestamp, 'x') };
  expect(isSigned(headers, Buffer.from('x'), secret, now)).toBe(isGood);
});
