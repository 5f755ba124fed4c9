import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, test } from 'vitest';
import { all, clientFor, failureOf, listen, type Service } from '../../../support/core/feedback/service.ts';
import { until } from '../../../support/loop.ts';

const entry = (id: number) => ({ id, name: `Survey ${id}`, is_active: true });

/** Lists surveys, one a page; `link` gives `next` of a page. */
async function paged(link: (page: number, service: () => Service) => string | null): Promise<Service> {
  const service: Service = await listen(({ path }) => {
    const number = Number(new URL(path, 'http://any').searchParams.get('page') ?? '1');
    return { body: { count: 3, next: link(number, () => service), previous: null, results: [entry(number)] } };
  });
  return service;
}

const three = (page: number, service: () => Service): string | null =>
  page < 3 ? `${service().url}/surveys/?page=${page + 1}` : null;

describe('paging', () => {
  test('it gives up pages that go on beyond the entries there are (audit 28)', async () => {
    const service = await paged((page, self) => `${self().url}/surveys/?page=${page + 1}`);
    const error = await failureOf(all(clientFor(service.url).surveys()));
    expect(String(error)).toContain('the pages of GET /surveys/ go on beyond its 3 entries');
    expect(service.received).toHaveLength(104);
  });

  test('it follows next until it is null', async () => {
    const service = await paged(three);
    expect(await all(clientFor(service.url).surveys())).toEqual([1, 2, 3].map(entry));
    expect(service.received.map(({ path }) => path)).toEqual([
      '/api/surveys/',
      '/api/surveys/?page=2',
      '/api/surveys/?page=3',
    ]);
  });

  test('it gives pages with the count over all of them', async () => {
    const service = await paged(three);
    expect(await all(clientFor(service.url).surveyPages())).toEqual(
      [1, 2, 3].map((id) => ({ count: 3, results: [entry(id)] })),
    );
  });

  test('it fetches a page only when asked for more', async () => {
    const service = await paged(three);
    for await (const found of clientFor(service.url).surveys()) {
      if (found.id === 2) break;
    }
    expect(service.received).toHaveLength(2);
  });

  test('it fetches the next page of requests meanwhile, for who reads them all', async () => {
    const request = { id: 7, campaign: 12 };
    const service: Service = await listen(({ path }) => {
      const next = path.includes('page=2') ? null : `${service.url}/appeals/?page=2`;
      return { body: { count: 2, next, previous: null, results: [request] } };
    });
    let pages = 0;
    for await (const _ of clientFor(service.url).exportPages()) {
      pages += 1;
      await until(() => service.received.length === 2);
    }
    expect([pages, service.received.length]).toEqual([2, 2]);
  });

  test('the call for the next page is sent before this one is worked on', async () => {
    const service: Service = await listen(({ path }) => {
      const page = Number(/page=(\d)/.exec(path)?.[1] ?? 1);
      const next = page === 5 ? null : `/api/appeals/?page=${page + 1}`;
      return { body: { count: 5, next, previous: null, results: [{ id: 7, campaign: 12 }] } };
    });
    let sent = 0;
    const count = () => {
      sent += 1;
    };
    subscribe('undici:client:sendHeaders', count);
    const sentBefore: number[] = [];
    for await (const _ of clientFor(service.url).exportPages()) sentBefore.push(sent);
    unsubscribe('undici:client:sendHeaders', count);
    // Before the first a second connection may yet be opened.
    expect(sentBefore.slice(1)).toEqual([3, 4, 5, 5]);
  });

  const foreign: [name: string, link: (service: Service, other: Service) => string, says: RegExp][] = [
    ['another host', (_, other) => `${other.url}/surveys/?page=2`, /next page at http:\/\/127\.0\.0\.1:\d+, not under/],
    ['another scheme', ({ url }) => `${url.replace('http:', 'https:')}/surveys/?page=2`, /at https:/],
    ['another path of the host', ({ origin }) => `${origin}/admin/surveys/?page=2`, /at another path/],
    ['a path that only begins alike', ({ url }) => `${url}-old/surveys/?page=2`, /at another path/],
    ['a path that climbs out', ({ url }) => `${url}/../admin?page=2`, /at another path/],
    ['a path that climbs out encoded', ({ url }) => `${url}/%2e%2e/admin?page=2`, /at another path/],
    ['a name and password', ({ url }) => `${url.replace('//', '//me:secret@')}/surveys/?page=2`, /at another path/],
    ['a name alone', ({ url }) => `${url.replace('//', '//secret@')}/surveys/?page=2`, /at another path/],
    ['a password alone', ({ url }) => `${url.replace('//', '//:secret@')}/surveys/?page=2`, /at another path/],
    ['a host for a user', ({ origin }, other) => `${other.url.replace('//', `//${origin.slice(7)}@`)}/x`, /next page/],
    [
      'another host, under the same scheme',
      (_, other) => `${other.url.slice('http:'.length)}/surveys/?page=2`,
      /next page at http:\/\/127\.0\.0\.1:\d+, not under/,
    ],
    ['a relative path that climbs out', () => '../../admin?page=2', /at another path/],
    ['no address', () => 'http://[', /no address at all/],
  ];
  test.each(foreign)('it takes the key nowhere for a next page at %s', async (_name, link, says) => {
    const other = await listen(() => ({ body: { count: 0, next: null, previous: null, results: [] } }));
    const service = await paged((_page, self) => link(self(), other));
    const error = await failureOf(all(clientFor(service.url).surveys()));
    expect(error).toMatchObject({ advice: { kind: 'config' } });
    expect(String(error)).toMatch(says);
    expect(String(error)).not.toContain('secret');
    expect(other.received).toEqual([]);
    expect(service.received).toHaveLength(1);
  });

  test('it follows next at an address without a path of its own', async () => {
    const service = await paged((page, self) => (page < 3 ? `${self().origin}/surveys/?page=${page + 1}` : null));
    expect(await all(clientFor(service.origin).surveys())).toEqual([1, 2, 3].map(entry));
    expect(service.received.map(({ path }) => path)).toEqual(['/surveys/', '/surveys/?page=2', '/surveys/?page=3']);
  });

  test('it follows next given as a path', async () => {
    const service = await paged((page) => (page < 3 ? `/api/surveys/?page=${page + 1}` : null));
    expect(await all(clientFor(service.url).surveys())).toHaveLength(3);
  });

  test.each(['?page=', './?page=', '../surveys/?page='])('it follows next relative to its page: %s2', async (link) => {
    const service = await paged((page) => (page < 3 ? `${link}${page + 1}` : null));
    expect(await all(clientFor(service.url).surveys())).toEqual([1, 2, 3].map(entry));
    const paths = service.received.map(({ path }) => path);
    expect(paths).toEqual(['/api/surveys/', '/api/surveys/?page=2', '/api/surveys/?page=3']);
  });

  test('it says what to do about a next page elsewhere', async () => {
    const service = await paged(() => 'https://other.example/x');
    const error = await failureOf(all(clientFor(service.url).surveys()));
    expect(error).toMatchObject({
      message: `Feedback service: GET /surveys/ names its next page at https://other.example, not under ${service.url}; it is not fetched. Set feedback.baseUrl to the address under which the service knows itself.`,
    });
  });

  test.each([
    ['to itself', (_page: number, service: () => Service) => `${service().url}/surveys/`, 1],
    ['to page 1', (page: number, service: () => Service) => `${service().url}/surveys/?page=${(page % 3) + 1}`, 4],
  ])('it gives up on pages that lead %s', async (_name, link, calls) => {
    const service = await paged(link);
    const error = await failureOf(all(clientFor(service.url).surveys()));
    expect(error).toMatchObject({ advice: { kind: 'permanent' } });
    expect(error).toMatchObject({
      message:
        'Feedback service: the pages of GET /surveys/ lead in a circle; the list is incomplete and was given up.',
    });
    expect(service.received).toHaveLength(calls);
  });

  test.each([
    ['no count', { next: null, previous: null, results: [] }, 'count'],
    ['no next', { count: 0, previous: null, results: [] }, 'next'],
    [
      'a flawed record',
      { count: 1, next: null, previous: null, results: [{ ...entry(1), is_active: 'yes' }] },
      'results.0.is_active',
    ],
    ['no envelope', [], '(root)'],
  ])('it says where an envelope with %s is wrong', async (_name, body, place) => {
    const service = await listen(() => ({ body }));
    expect(String(await failureOf(all(clientFor(service.url).surveys())))).toContain(`at ${place}`);
  });
});

test('a page of more requests than specified is given on in several, a thousand in one turn (audit loop)', async () => {
  const request = (id: number) => ({
    ...{ id: `${id}`, campaign: 14, phone: null, email: 'hanna@example.com', identifier: null },
    ...{ scheduled: null, status: 'sent', grade: null, comment: null, custom_fields: {} },
  });
  const results = Array.from({ length: 2_500 }, (_, i) => (i === 2_400 ? { id: i } : request(i)));
  const service = await listen(() => ({ body: { count: 2_500, next: null, previous: null, results } }));
  const sizes: number[] = [];
  const wrong: string[] = [];
  for await (const page of clientFor(service.url).requestPages({ campaign: 14 })) {
    sizes.push(page.results.length + page.unreadable.length);
    wrong.push(...page.unreadable.map(({ message }) => message));
  }
  expect(sizes).toEqual([1_000, 1_000, 500]);
  for (const message of wrong) expect(message).toContain('results.2400.');
});

test('a page that is called by more than anybody reads is not gone to (audit loop)', async () => {
  const service = await paged((page, self) => `${self().url}/surveys/?page=${page + 1}&x=${'x'.repeat(8_192)}`);
  const error = await failureOf(all(clientFor(service.url).surveys()));
  expect(String(error)).toContain('the pages of GET /surveys/ are called by more than 8192 characters');
  expect(service.received).toHaveLength(1);
});
