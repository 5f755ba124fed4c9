import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import zendeskNodeApi from 'zendesk-node-api';
import { type Answer, withTransport, ZendeskCallError, zendeskCall } from '../../../connectors/zendesk/call.ts';
import { nobody, type ScriptedServer, type Step, scripted } from './scripted-server.ts';

const shim = fileURLToPath(new URL('../../../connectors/zendesk/request/index.cjs', import.meta.url));
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

/** Through the package, exactly as the connector uses it. */
function listFields(url: string): PromiseLike<unknown> {
  return zendeskNodeApi({ url, token: 't', oauth: true }).ticketFields.list();
}

test('zendesk-node-api gets our file when it asks for request', () => {
  const inside = createRequire(packages.resolve('zendesk-node-api'));
  expect(realpathSync(inside.resolve('request'))).toBe(realpathSync(shim));
});

describe('a call through zendesk-node-api that used to end the process or to resolve now rejects', () => {
  const rows: [name: string, step: Step, expected: object][] = [
    ['on a cut body', cutBody, { sent: 'maybe', retryable: true }],
    [
      'on an HTML 503',
      { status: 503, headers: { 'retry-after': '7' }, body: '<h1>Maintenance</h1>' },
      { statusCode: 503, retryAfterMs: 7000, body: '<h1>Maintenance</h1>' },
    ],
    [
      'on a 429 in plain text',
      {
        status: 429,
        headers: { 'retry-after': '93', 'content-type': 'text/html', 'x-request-id': 'r-1' },
        body: 'Number of allowed API requests per minute exceeded',
      },
      { statusCode: 429, retryAfterMs: 93_000, requestId: 'r-1', retryable: true },
    ],
    [
      'on a redirect to a login page',
      { status: 302, headers: { location: 'http://127.0.0.1/login' } },
      { statusCode: 302, code: 'REDIRECT', retryable: false },
    ],
    ['on a 200 that is no JSON', { status: 200, body: '<html>' }, { statusCode: 200, code: 'BAD_JSON', sent: 'maybe' }],
    [
      'on a 401',
      { status: 401, body: { error: "Couldn't authenticate you" } },
      { statusCode: 401, body: { error: "Couldn't authenticate you" } },
    ],
    [
      'on a 404',
      { status: 404, body: { error: 'RecordNotFound' } },
      { statusCode: 404, code: 'HTTP_404', retryable: false },
    ],
    [
      'on a 422',
      { status: 422, body: { error: 'RecordInvalid' } },
      { statusCode: 422, retryable: false, sent: 'answered' },
    ],
  ];
  test.each(rows)('%s', async (_name, step, expected) => {
    const server = await serving(step);
    const error = await errorOf(listFields(server.url));
    expect(error).toBeInstanceOf(ZendeskCallError);
    expect(error).toMatchObject(expected);
    expect(server.seen).toHaveLength(1);
  });

  test('on a refused connection, known as never sent', async () => {
    expect(await errorOf(listFields(await nobody()))).toMatchObject({
      code: 'ECONNREFUSED',
      sent: 'never',
      retryable: true,
    });
  });

  test('when nothing but an empty 204 comes: resolves with nothing', async () => {
    const server = await serving({ status: 204 });
    expect(await errorOf(listFields(server.url))).toEqual({ resolved: undefined });
  });
});

test('a call sends the token, asks for JSON, says who it is, and collapses doubled slashes', async () => {
  const server = await serving({ status: 200, body: { ticket_fields: [{ id: 1 }] } });
  expect(await listFields(`${server.url}/`)).toEqual([{ id: 1 }]);
  expect(server.seen[0]?.path).toBe('/api/v2/ticket_fields.json');
  expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer t', accept: 'application/json' });
  expect(server.seen[0]?.headers['user-agent']).toContain('closeloop');
});

test('withTransport shows the headers of every answer of the package, good or bad', async () => {
  const server = await serving(
    { status: 200, headers: { 'ratelimit-remaining': '3' }, body: {} },
    { status: 500, headers: { 'ratelimit-remaining': '2' } },
  );
  const answers: Answer[] = [];
  const transport = { onAnswer: (answer: Answer) => void answers.push(answer) };
  await withTransport(transport, () => listFields(server.url));
  await errorOf(withTransport(transport, () => listFields(server.url)));
  expect(answers.map(({ statusCode, headers }) => [statusCode, headers['ratelimit-remaining']])).toEqual([
    [200, '3'],
    [500, '2'],
  ]);
});

describe('zendeskCall', () => {
  test.each<[string, Step]>([
    ['a silent server', () => {}],
    ['a server that goes silent in the body', (response) => void response.writeHead(200).write('{"tickets":[')],
  ])('leaves %s, with an unknown outcome', async (_name, step) => {
    const server = await serving(step);
    const error = await errorOf(zendeskCall({ url: `${server.url}/api/v2/tickets.json`, timeoutMs: 100 }));
    expect(error).toMatchObject({ code: 'ETIMEDOUT', sent: 'maybe', retryable: true });
  });

  test('sends a body as JSON and returns status, headers and body', async () => {
    const server = await serving({ status: 201, headers: { 'x-request-id': 'r-2' }, body: { ok: true } });
    const answer = await zendeskCall({ method: 'put', url: `${server.url}/api/v2//x.json`, json: { a: 1 } });
    expect(answer).toMatchObject({ statusCode: 201, requestId: 'r-2', body: { ok: true } });
    expect(server.seen[0]).toMatchObject({ method: 'PUT', path: '/api/v2/x.json', body: { a: 1 } });
  });

  const refused: [why: string, url: string][] = [
    ['plain http', 'http://acme.zendesk.com/api/v2/tickets.json'],
    ['a path outside the API', 'https://acme.zendesk.com/admin'],
    ['a path that climbs out of its resource', 'https://acme.zendesk.com/api/v2/tickets/200/../../users/1.json'],
    ['the same, encoded', 'https://acme.zendesk.com/api/v2/tickets/%2e%2e/users/1.json'],
    ['a fragment', 'https://acme.zendesk.com/api/v2/search.json?query=a#b'],
    ['credentials', 'https://a:b@acme.zendesk.com/api/v2/tickets.json'],
    ['another scheme', 'ftp://acme.zendesk.com/api/v2/tickets.json'],
    ['no URL at all', 'api/v2/tickets.json'],
  ];
  test.each(refused)('refuses %s before anything is sent', async (_why, url) => {
    expect(await errorOf(zendeskCall({ url }))).toMatchObject({ code: 'REFUSED_URL', sent: 'never', retryable: false });
  });

  test('understands Retry-After as a date', async () => {
    const server = await serving({
      status: 503,
      headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() },
    });
    const error = await errorOf(zendeskCall({ url: `${server.url}/api/v2/x.json` }));
    if (!(error instanceof ZendeskCallError)) throw new Error('expected a ZendeskCallError');
    expect(error.retryAfterMs).toBeGreaterThan(50_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test('never puts the body, the query or the credentials into the message', async () => {
    const server = await serving({ status: 422, body: { error: 'RecordInvalid', description: 'secret@example.com' } });
    const error = await errorOf(
      zendeskCall({ url: `${server.url}/api/v2/x.json?email=secret`, headers: { authorization: 'Bearer secret' } }),
    );
    expect(String(error)).not.toContain('secret');
  });
});

test('a callback that throws does not end the process', async () => {
  const server = await serving({ status: 200, body: {} });
  const request: unknown = packages('request');
  if (typeof request !== 'function') throw new Error('request is not a function');
  const warning = new Promise<Error>((resolve) => process.once('warning', resolve));
  request({ url: `${server.url}/api/v2/x.json` }, () => {
    throw new TypeError('from the callback');
  });
  expect((await warning).message).toContain('TypeError');
});

function cutBody(response: Parameters<Extract<Step, (...args: never[]) => void>>[0]): void {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"ticket_fields":[');
  setImmediate(() => response.destroy());
}
