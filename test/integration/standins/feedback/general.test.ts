import { describe, expect, test } from 'vitest';
import { type Answer, envelope, noon, type Service, service } from '../../../support/standins/feedback/service.ts';

/** One row: what the specification says, what to do, what must come back (`body` compared whole where given). */
type Row = [says: string, run: (s: Service) => Promise<Answer>, expected: { status: number; body?: unknown }];

async function check(run: Row[1], expected: Row[2]): Promise<void> {
  const s = await service();
  s.standin.addCampaign({ account: 'a', id: 12 });
  const answer = await run(s);
  expect({ status: answer.status, ...('body' in expected ? { body: answer.body } : {}) }).toEqual(expected);
}

const get =
  (path: string, headers: Record<string, string | undefined> = {}) =>
  (s: Service): Promise<Answer> =>
    s.call('GET', path, undefined, headers);

describe('section 5, authentication', () => {
  const token = (authorization: string | undefined) => get('/surveys/', { authorization });
  const none = { status: 401, body: { detail: 'Authentication credentials were not provided.' } };
  const invalid = { status: 401, body: { detail: 'Invalid token.' } };
  const rows: Row[] = [
    ['the header carries the word Token, one space, then the key', token('Token key'), { status: 200 }],
    ['a missing header was not provided', token(undefined), none],
    ['another scheme was not provided', token('Bearer key'), none],
    ['the word is written with a capital letter', token('token key'), none],
    ['two spaces are not one', token('Token  key'), invalid],
    ['a key with a typo is invalid', token('Token kye'), invalid],
    ['the word alone is invalid', token('Token'), invalid],
    [
      'a deleted key is invalid',
      (s) => {
        s.standin.deleteKey({ key: 'key' });
        return token('Token key')(s);
      },
      invalid,
    ],
    [
      'a deactivated key is inactive',
      (s) => {
        s.standin.changeKey({ key: 'key', active: false });
        return token('Token key')(s);
      },
      { status: 401, body: { detail: 'Inactive API key.' } },
    ],
    [
      'a key whose expiry date has passed is expired',
      (s) => {
        s.standin.changeKey({ key: 'key', expiresAt: noon });
        return token('Token key')(s);
      },
      { status: 401, body: { detail: 'Expired API token.' } },
    ],
    [
      'a key whose expiry is to come is valid',
      (s) => {
        s.standin.changeKey({ key: 'key', expiresAt: new Date(noon.getTime() + 1) });
        return token('Token key')(s);
      },
      { status: 200 },
    ],
    [
      'expiry passes as the clock moves',
      (s) => {
        s.standin.changeKey({ key: 'key', expiresAt: new Date(noon.getTime() + 60_000) });
        s.standin.moveClock({ advanceMs: 60_000 });
        return token('Token key')(s);
      },
      { status: 401, body: { detail: 'Expired API token.' } },
    ],
    [
      'expiry can be cleared, and the switch set again',
      (s) => {
        s.standin.changeKey({ key: 'key', expiresAt: noon, active: false });
        s.standin.changeKey({ key: 'key', expiresAt: null, active: true });
        return token('Token key')(s);
      },
      { status: 200 },
    ],
  ];
  test.for(rows)('%s', ([, run, expected]) => check(run, expected));
});

describe('section 1, path matching', () => {
  const missing = { status: 404, body: { detail: 'Not found.' } };
  const rows: Row[] = [
    ['GET /appeals/ ends with a slash', get('/appeals/'), { status: 200 }],
    ['GET /surveys/ ends with a slash', get('/surveys/'), { status: 200 }],
    ['/surveys without its slash is not there', get('/surveys'), missing],
    ['a slash added to the campaigns is 404', get('/appeals/campaigns/'), missing],
    ['a slash added to a campaign is 404', get('/appeals/campaigns/12/'), missing],
    ['a slash added to the custom fields is 404', get('/appeals/custom-fields/?campaign=12'), missing],
    ['a slash added to a contact is 404', get('/contacts/x/'), missing],
    ['a slash added to the access log is 404', get('/contacts/x/access-log/'), missing],
    ['a slash added to a mask is 404', (s) => s.call('POST', '/contacts/x/mask/'), missing],
    ['a slash added to a survey is 404', get('/surveys/1/'), missing],
    ['a slash added to a feedback request is 404', get('/appeals/1/'), missing],
    ['any other path is 404', get('/nothing'), missing],
    ['a contact that is no URL encoding is 404', get('/contacts/%E0%A4%A'), missing],
    ['an id too long for a number is 404', get('/surveys/99999999999999999999'), missing],
  ];
  test.for(rows)('%s', ([, run, expected]) => check(run, expected));

  test('/appeals without the slash is redirected with 301, query kept', async () => {
    const s = await service();
    const answer = await s.call('GET', '/appeals?campaign=12&page=2');
    expect([answer.status, answer.headers.get('location')]).toEqual([301, `${s.url}/api/appeals/?campaign=12&page=2`]);
  });
});

describe('section 1 and 7, methods and bodies', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const rows: Row[] = [
    ['a wrong method is 405', (s) => s.call('POST', '/appeals/campaigns'), { status: 405 }],
    ['GET where POST is expected is 405', get('/contacts/x/mask'), { status: 405 }],
    ['DELETE of a survey is 405', (s) => s.call('DELETE', '/surveys/1'), { status: 405 }],
    ['a form post is 415', (s) => s.call('POST', '/appeals/', 'campaign=12', form), { status: 415 }],
    ['a body that is not JSON is 415', (s) => s.call('POST', '/appeals/', '{"campaign":'), { status: 415 }],
    [
      'a body that calls itself text is 415',
      (s) => s.call('POST', '/appeals/', '{}', { 'content-type': 'text/plain' }),
      { status: 415 },
    ],
    [
      'JSON with a character set is JSON',
      (s) =>
        s.call(
          'POST',
          '/appeals/',
          { campaign: 12, email: 'a@b.ee' },
          { 'content-type': 'application/json; charset=utf-8' },
        ),
      { status: 201 },
    ],
    ['no body needs no Content-Type', (s) => s.call('POST', '/contacts/x/mask'), { status: 404 }],
    [
      'a key is asked for before the method',
      (s) => s.call('PUT', '/appeals/', undefined, { authorization: undefined }),
      { status: 401 },
    ],
  ];
  test.for(rows)('%s', ([, run, expected]) => check(run, expected));

  test('a body without Content-Type is 415', async () => {
    const s = await service();
    const headers = { authorization: 'Token key' };
    const response = await fetch(`${s.url}/api/appeals/`, { method: 'POST', headers, body: Buffer.from('{}') });
    expect([response.status, response.headers.get('content-type')]).toEqual([415, 'application/json']);
  });
});

describe('section 1, paging of lists', () => {
  const many = async (count: number): Promise<Service> => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12 });
    if (count > 0) s.standin.fill({ campaign: 12, count });
    return s;
  };

  test('an empty list is one page', async () => {
    const s = await many(0);
    expect((await s.call('GET', '/appeals/?page=1')).body).toEqual({
      count: 0,
      next: null,
      previous: null,
      results: [],
    });
  });

  test.for([
    [1000, [1000]],
    [1001, [1000, 1]],
    [2500, [1000, 1000, 500]],
  ] as const)('%i records come by following next until null, at most 1000 a page', async ([count, sizes]) => {
    const s = await many(count);
    const ids: (number | undefined)[] = [];
    const seen: number[] = [];
    let next: string | null = '/appeals/?campaign=12';
    while (next !== null) {
      const page: ReturnType<typeof envelope.parse> = envelope.parse((await s.call('GET', next)).body);
      expect(page.count).toBe(count);
      seen.push(page.results.length);
      ids.push(...page.results.map(({ id }) => id));
      next = page.next?.slice(`${s.url}/api`.length) ?? null;
    }
    expect(seen).toEqual(sizes);
    expect(new Set(ids).size).toBe(count);
  });

  test('next and previous are full addresses that keep the query', async () => {
    const s = await many(2001);
    const page = envelope.parse((await s.call('GET', '/appeals/?campaign=12&page=2&x=a%20b&x=c')).body);
    expect(page.next).toBe(`${s.url}/api/appeals/?campaign=12&page=3&x=a+b&x=c`);
    expect(page.previous).toBe(`${s.url}/api/appeals/?campaign=12&page=1&x=a+b&x=c`);
  });

  test('next and previous follow the public base address where one is given', async () => {
    const s = await service({ baseUrl: 'https://feedback.example.com/eu/api' });
    s.standin.addCampaign({ account: 'a', id: 12 });
    s.standin.fill({ campaign: 12, count: 1001 });
    const page = envelope.parse((await s.call('GET', '/appeals/')).body);
    expect(page.next).toBe('https://feedback.example.com/eu/api/appeals/?page=2');
  });

  test.for(['0', '-1', 'x', '1.5', ''])('page %s is 400 and names the parameter', async (page) => {
    const s = await many(0);
    const answer = await s.call('GET', `/appeals/?page=${page}`);
    expect([answer.status, answer.body]).toEqual([400, { page: ['A valid integer of at least 1 is required.'] }]);
  });

  test('a page after the last is 404', async () => {
    const s = await many(1000);
    expect((await s.call('GET', '/appeals/?page=2')).status).toBe(404);
  });
});
