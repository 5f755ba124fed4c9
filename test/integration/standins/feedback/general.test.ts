import { describe, expect, test } from 'vitest';
import type { FeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { campaigns, envelope, noon, service } from '../../../support/standins/feedback/service.ts';

/* The rules of the specification that hold for every call, and those of surveys: a row for each. */

const expires = (ms: number | null) => (s: FeedbackStandin) =>
  s.changeKey({ key: 'key', expiresAt: ms === null ? null : new Date(noon.getTime() + ms) });
const [none, invalid] = ['Authentication credentials were not provided.', 'Invalid token.'];

test.each<
  [says: string, header: string | undefined, detail?: string | undefined, before?: (s: FeedbackStandin) => void]
>([
  ['takes the word Token, one space and the key', 'Token key'],
  ['refuses a missing header', undefined, none],
  ['refuses another scheme', 'Bearer key', none],
  ['refuses the word without its capital letter', 'token key', none],
  ['refuses two spaces', 'Token  key', invalid],
  ['refuses the word alone', 'Token', invalid],
  ['refuses a deleted key', 'Token key', invalid, (s) => s.deleteKey({ key: 'key' })],
  ['takes a key before its expiry', 'Token key', undefined, expires(1)],
  ['takes one whose expiry was cleared', 'Token key', undefined, (s) => [expires(0), expires(null)].map((f) => f(s))],
])('authentication %s', async (_says, authorization, detail, before) => {
  const { standin, ask } = await service();
  before?.(standin);
  const { status, body } = await ask('GET /surveys/', undefined, { authorization });
  expect([status, body.detail]).toEqual([detail === undefined ? 200 : 401, detail]);
});

const text = { 'content-type': 'text/plain' };
const utf8 = { 'content-type': 'application/json; charset=utf-8' };
test.each<[says: string, call: string, status: number, body?: unknown, headers?: Record<string, string | undefined>]>([
  ['GET /appeals/ ends with a slash', 'GET /appeals/', 200],
  ['surveys without their slash', 'GET /surveys', 404],
  ['campaigns with a slash', 'GET /appeals/campaigns/', 404],
  ['a survey that is not there', 'GET /surveys/99', 404],
  ["another account's survey", 'GET /surveys/71', 404],
  ['any other path', 'GET /nothing', 404],
  ['a contact that is no URL encoding', 'GET /contacts/%E0%A4%A', 404],
  ['an id too long for a number', 'GET /surveys/99999999999999999999', 404],
  ['a wrong method', 'POST /appeals/campaigns', 405],
  ['GET where POST is expected', 'GET /contacts/x/mask', 405],
  ['a key is asked for before the method', 'PUT /appeals/', 401, undefined, { authorization: undefined }],
  ['a form post', 'POST /appeals/', 415, 'campaign=2', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['a body that is not JSON', 'POST /appeals/', 415, '{"campaign":'],
  ['a body that calls itself text', 'POST /appeals/', 415, '{}', text],
  ['a body without Content-Type', 'POST /appeals/', 415, '{}', { 'content-type': undefined }],
  ['JSON with a character set is JSON', 'POST /appeals/', 201, { campaign: 2, email: 'a@b.ee' }, utf8],
])('%s: %s is %i', async (_says, call, status, body, headers) => {
  const answer = await (await campaigns()).ask(call, body, headers);
  expect([answer.status, status === 404 ? answer.body : undefined]).toEqual([
    status,
    status === 404 ? { detail: 'Not found.' } : undefined,
  ]);
});

test('/appeals without the slash is redirected with 301, query kept', async () => {
  const { url, ask } = await service();
  const { status, headers } = await ask('GET /appeals?campaign=12&page=2');
  expect([status, headers.get('location')]).toEqual([301, `${url}/api/appeals/?campaign=12&page=2`]);
});

describe('paging', () => {
  const open = async (count: number, options?: Parameters<typeof service>[0]) => {
    const s = await service(options);
    s.standin.addCampaign({ account: 'a', id: 12 });
    if (count > 0) s.standin.fill({ campaign: 12, count });
    return s;
  };
  const page = async (count: number, query: string, options?: Parameters<typeof service>[0]) =>
    envelope.parse((await (await open(count, options)).ask(`GET /appeals/${query}`)).body);

  test('next and previous are full addresses, the public ones, that keep the query', async () => {
    const baseUrl = 'https://feedback.example.com/eu/api';
    const { next, previous } = await page(2001, '?campaign=12&page=2&x=a%20b&x=c', { baseUrl });
    expect(next).toBe(`${baseUrl}/appeals/?campaign=12&page=3&x=a+b&x=c`);
    expect(previous).toBe(`${baseUrl}/appeals/?campaign=12&page=1&x=a+b&x=c`);
  });

  test.each(['0', '-1', 'x', '1.5', ''])('page "%s" is 400 and names the parameter', async (number) => {
    const { status, body } = await (await open(0)).ask(`GET /appeals/?page=${number}`);
    expect([status, body]).toEqual([400, { page: ['A valid integer of at least 1 is required.'] }]);
  });
});
