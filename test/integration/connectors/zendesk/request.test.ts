import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import zendeskNodeApi from 'zendesk-node-api';
import { z } from 'zod';
import { type ZendeskApi, zendeskApi } from '../../../../connectors/zendesk/api.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import { VendorError } from '../../../../core/connector/classify.ts';
import { type Recorded, testPorts } from '../../../support/connectors/zendesk/ports.ts';
import {
  nobody,
  type ScriptedServer,
  type Step,
  scripted,
} from '../../../support/connectors/zendesk/scripted-server.ts';

const shim = fileURLToPath(new URL('../../../../connectors/zendesk/request/index.cjs', import.meta.url));
const packages = createRequire(import.meta.url);

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serving(...steps: Step[]): Promise<ScriptedServer> {
  const server = await scripted(...steps);
  open.push(server);
  return server;
}

async function errorOf(work: PromiseLike<unknown>): Promise<unknown> {
  return work.then(
    (value) => ({ resolved: value }),
    (error: unknown) => error,
  );
}

function at(baseUrl: string): { api: ZendeskApi; seen: Recorded } {
  const { ports, seen } = testPorts();
  const legacy = { email: 'me@example.com', apiToken: 'abc' };
  return {
    api: zendeskApi(settings.parse({ subdomain: 'acme', webhookSecrets: ['s'], baseUrl, ...legacy }), ports),
    seen,
  };
}

/** Through the package, exactly as the connector uses it. */
const listFields = (url: string): Promise<unknown> => at(url).api.listTicketFields(z.unknown());

test('zendesk-node-api gets our file when it asks for request', () => {
  const inside = createRequire(packages.resolve('zendesk-node-api'));
  expect(realpathSync(inside.resolve('request'))).toBe(realpathSync(shim));
});

describe('a call through zendesk-node-api that used to end the process or to resolve now rejects', () => {
  const rows: [name: string, step: Step, expected: object][] = [
    ['on a cut body', cutBody, { outcome: 'unknown', advice: { kind: 'transient' } }],
    [
      'on an HTML 503',
      { status: 503, headers: { 'retry-after': '7' }, body: '<h1>Maintenance</h1>' },
      { status: 503, outcome: 'unknown', advice: { kind: 'transient', retryAfterMs: 7000, throttled: true } },
    ],
    [
      'on a 429 in plain text',
      {
        status: 429,
        headers: { 'retry-after': '93', 'content-type': 'text/html', 'x-request-id': 'r-1' },
        body: 'Number of allowed API requests per minute exceeded',
      },
      { status: 429, advice: { kind: 'transient', retryAfterMs: 93_000, throttled: true }, reference: 'r-1' },
    ],
    [
      'on a redirect to a login page',
      { status: 302, headers: { location: 'http://127.0.0.1/login' } },
      { status: 302, advice: { kind: 'config', doubtful: true } },
    ],
    [
      'on a 200 that is no JSON',
      { status: 200, body: '<html>' },
      { outcome: 'unknown', advice: { kind: 'transient' } },
    ],
    [
      'on a 401',
      { status: 401, body: { error: "Couldn't authenticate you" } },
      { status: 401, advice: { kind: 'config' } },
    ],
    ['on a 404', { status: 404, body: { error: 'RecordNotFound' } }, { status: 404, advice: { kind: 'permanent' } }],
    [
      'on a 422',
      { status: 422, body: { error: 'RecordInvalid' } },
      { status: 422, code: 'RecordInvalid', advice: { kind: 'permanent' }, outcome: 'refused' },
    ],
  ];
  test.each(rows)('%s', async (_name, step, expected) => {
    const server = await serving(step);
    const error = await errorOf(listFields(server.url));
    expect(error).toBeInstanceOf(VendorError);
    expect(error).toMatchObject(expected);
    expect(server.seen).toHaveLength(1);
  });

  test('on a refused connection, known as never sent', async () => {
    expect(await errorOf(listFields(await nobody()))).toMatchObject({
      outcome: 'never-sent',
      advice: { kind: 'transient' },
    });
  });

  test('when nothing but an empty 204 comes: resolves with nothing', async () => {
    const server = await serving({ status: 204 });
    expect(await errorOf(listFields(server.url))).toEqual({ resolved: undefined });
  });
});

test('a call sends the token, asks for JSON, and names the path as Zendesk does', async () => {
  const server = await serving({ status: 200, body: { ticket_fields: [{ id: 1 }] } });
  expect(await listFields(server.url)).toEqual([{ id: 1 }]);
  expect(server.seen[0]?.path).toBe('/api/v2/ticket_fields.json');
  const authorization = `Basic ${Buffer.from('me@example.com/token:abc').toString('base64')}`;
  expect(server.seen[0]?.headers).toMatchObject({ authorization, accept: 'application/json' });
});

test('the budget is told what the headers of every answer of the package say, good or bad', async () => {
  const server = await serving(
    { status: 200, headers: { 'ratelimit-limit': '10', 'ratelimit-remaining': '3' }, body: {} },
    { status: 500, headers: { 'ratelimit-limit': '10', 'ratelimit-remaining': '2' } },
  );
  const { api, seen } = at(server.url);
  await api.listTicketFields(z.unknown());
  await errorOf(api.listTicketFields(z.unknown()));
  expect(seen.left.map(({ remaining }) => remaining)).toEqual([3, 2]);
});

test('two calls of the package at once, of two accounts, each get their own answer', async () => {
  const servers = [
    await serving({ status: 200, body: { ticket_fields: [{ id: 1 }] } }),
    await serving({ status: 200, body: { ticket_fields: [{ id: 2 }] } }),
  ];
  expect(await Promise.all(servers.map(({ url }) => listFields(url)))).toEqual([[{ id: 1 }], [{ id: 2 }]]);
});

test('an error never holds the body, the query or the credentials', async () => {
  const server = await serving({ status: 422, body: { error: 'RecordInvalid', description: 'secret@example.com' } });
  const error = await errorOf(at(server.url).api.get('/api/v2/x.json?email=secret', z.unknown()));
  expect(String(error)).toContain('RecordInvalid');
  expect(String(error)).not.toMatch(/secret|abc|Basic/);
});

describe('a path is refused before anything is sent', () => {
  test.each([
    ['that climbs out of its resource', '/api/v2/tickets/200/../../users/1.json'],
    ['that does so encoded', '/api/v2/tickets/%2e%2e/users/1.json'],
    ['with a fragment, which would cut the query off', '/api/v2/search.json?query=a#b'],
    ['that is another address', 'https://elsewhere.example.com/api/v2/tickets.json'],
    ['that makes the host another', '@elsewhere.example.com/api/v2/tickets.json'],
  ])('%s', async (_why, path) => {
    const server = await serving({ status: 200, body: {} });
    expect(await errorOf(at(server.url).api.get(path, z.unknown()))).toBeInstanceOf(TypeError);
    expect(server.seen).toEqual([]);
  });
});

describe('the package alone', () => {
  test('sends nothing where nobody said how', async () => {
    const server = await serving({ status: 200, body: {} });
    const listing = zendeskNodeApi({ url: server.url, token: 't', oauth: true }).ticketFields.list();
    expect(await errorOf(listing)).toBeInstanceOf(TypeError);
    expect(server.seen).toEqual([]);
  });

  test('does not end the process when a callback throws', async () => {
    const request: unknown = packages('request');
    if (typeof request !== 'function') throw new Error('request is not a function');
    const warning = new Promise<Error>((resolve) => process.once('warning', resolve));
    request({ url: 'https://acme.zendesk.com/api/v2/x.json' }, () => {
      throw new TypeError('from the callback');
    });
    expect((await warning).message).toContain('TypeError');
  });
});

function cutBody(response: Parameters<Extract<Step, (...args: never[]) => void>>[0]): void {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"ticket_fields":[');
  setImmediate(() => response.destroy());
}
