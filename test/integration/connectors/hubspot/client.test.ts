import { Client } from '@hubspot/api-client';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type HubSpotApi, hubSpotApi } from '../../../../connectors/hubspot/api.ts';
import { settings } from '../../../../connectors/hubspot/settings.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import {
  type Handler,
  minimal,
  type Reply,
  serve,
  testPorts,
} from '../../../support/connectors/hubspot/fake-hubspot.ts';

const path = '/crm/objects/2026-09/tickets/batch/read';
const anything = z.object({ results: z.array(z.unknown()) });

/** What one call throws, and what it told the budget. */
async function failing(
  handler: Handler,
  {
    call = (api) => api.call('POST', path, anything, { body: { inputs: [] } }),
    timeoutMs = 5000,
    more = {},
  }: { call?: (api: HubSpotApi) => Promise<unknown>; timeoutMs?: number; more?: object } = {},
) {
  const server = await serve(handler);
  const { ports, used } = testPorts();
  try {
    // No connector has a setting for its deadline: the call's own signal has to be there, and is shortened.
    const fetch: typeof ports.fetch = (input, init) => {
      if (!init.signal) throw new Error('a call without a deadline');
      const signal = AbortSignal.any([init.signal, AbortSignal.timeout(timeoutMs)]);
      return ports.fetch(input, { ...init, signal });
    };
    const given = settings.parse({ ...minimal, baseUrl: server.url, ...more });
    const api = hubSpotApi(given, { ...ports, fetch });
    const error = await call(api).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(error instanceof CloseloopError)) throw new Error('expected a CloseloopError', { cause: error });
    return { error, used, calls: server.calls.length };
  } finally {
    await server.close();
  }
}

describe('a call', () => {
  test('goes out with the token, once, and takes its slot in the budget', async () => {
    const server = await serve(() => ({ body: { results: [] } }));
    const { ports, used } = testPorts();
    const api = hubSpotApi(settings.parse({ ...minimal, baseUrl: server.url }), ports);
    await api.call('POST', path, anything, { body: { inputs: [{ id: '1' }] } });
    await api.call('GET', '/crm/owners/2026-09', anything, { query: { limit: '100' } });
    await server.close();
    expect(server.calls.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['POST', path, 'Bearer pat-eu1-made-up'],
      ['GET', '/crm/owners/2026-09?limit=100', 'Bearer pat-eu1-made-up'],
    ]);
    expect(server.calls[0]?.headers['content-type']).toBe('application/json');
    expect(used).toMatchObject({ takes: 2, pauses: [], left: [] });
  });

  test('keeps the token of its own source when several are open', async () => {
    const server = await serve(() => ({ body: { results: [] } }));
    const sources = ['pat-a', 'pat-b'].map((accessToken) =>
      hubSpotApi(settings.parse({ ...minimal, accessToken, baseUrl: server.url }), testPorts().ports),
    );
    for (const api of sources) await api.call('GET', path, anything);
    await server.close();
    expect(server.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer pat-a', 'Bearer pat-b']);
  });

  test('ends in time also where somebody else opened an official client since', async () => {
    const { error } = await failing(() => undefined, {
      timeoutMs: 100,
      call: (api) => {
        new Client({ accessToken: 'pat-other' });
        return api.call('GET', path, anything);
      },
    });
    expect(error.message).toMatch(/no whole answer within \d+ ms/);
  });

  test('tells the budget what its headers say is left: of the window, and of the day', async () => {
    const server = await serve(() => ({
      headers: {
        'x-hubspot-ratelimit-max': '190',
        'x-hubspot-ratelimit-remaining': '12',
        'x-hubspot-ratelimit-interval-milliseconds': '10000',
        'x-hubspot-ratelimit-daily': '625000',
        'x-hubspot-ratelimit-daily-remaining': '1000',
      },
      body: { results: [] },
    }));
    const { ports, used } = testPorts();
    const given = { ...minimal, baseUrl: server.url, timeZone: 'Europe/Tallinn' };
    await hubSpotApi(settings.parse(given), ports).call('GET', path, anything);
    await server.close();
    expect(used.left).toEqual([
      [{ limit: 190, remaining: 12, resetMs: 10_000 }],
      [{ limit: 625_000, remaining: 1000, resetMs: 12 * 3_600_000 }, 'daily'],
    ]);
  });

  test('of a search counts itself, as HubSpot tells nothing, and is paused alone', async () => {
    const search = '/crm/objects/2026-09/tickets/search';
    const { used } = await failing(() => limited('SECONDLY'), { call: (api) => api.call('POST', search, anything) });
    expect(used).toEqual({
      takes: 1,
      pauses: [1000],
      endpoints: ['search'],
      left: [[{ limit: 5, remaining: 5, resetMs: 1000 }, 'search']],
    });
    const daily = await failing(() => limited('DAILY'), { call: (api) => api.call('POST', search, anything) });
    expect(daily.used.endpoints).toEqual([undefined]);
  });
});

const limited = (policyName: string | undefined, headers = {}): Reply => ({
  status: 429,
  headers,
  body: {
    status: 'error',
    message: 'You have reached your limit for jane@example.com',
    errorType: 'RATE_LIMIT',
    policyName,
  },
});
interface Advice {
  kind: string;
  retryAfterMs?: number;
  throttled?: true;
}
const config: Advice = { kind: 'config' };
const permanent: Advice = { kind: 'permanent' };
const throttled = (retryAfterMs: number): Advice => ({ kind: 'transient', retryAfterMs, throttled: true });

describe('an answer', () => {
  const rows: [name: string, reply: Reply, advice: Advice, says: RegExp, more?: object][] = [
    [
      '429 waits as long as Retry-After says',
      limited('SECONDLY', { 'retry-after': '7' }),
      throttled(7000),
      /SECONDLY limit/,
    ],
    ['429 of the second waits a second', limited('SECONDLY'), throttled(1000), /SECONDLY/],
    ['429 of ten seconds waits ten', limited('TEN_SECONDLY_ROLLING'), throttled(10_000), /TEN_SECONDLY_ROLLING/],
    ['429 without a policy waits ten seconds', limited(undefined), throttled(10_000), /rate limit/],
    ['429 of the day waits an hour where the zone is unknown', limited('DAILY'), throttled(3_600_000), /DAILY/],
    [
      '429 of the day waits for midnight there',
      limited('DAILY'),
      throttled(12 * 3_600_000),
      /DAILY/,
      { timeZone: 'Europe/Tallinn' },
    ],
    ['423 waits two seconds', { status: 423 }, { kind: 'transient', retryAfterMs: 2000 }, /locked/],
    ['477 parks the account', { status: 477, headers: { 'retry-after': '86400' } }, throttled(86_400_000), /moved/],
    ['401 asks for the token', { status: 401 }, config, /admin must copy.*accessToken/],
    [
      '403 names the scope that HubSpot names',
      {
        status: 403,
        body: { category: 'MISSING_SCOPES', errors: [{ context: { requiredGranularScopes: ['tickets.sensitive'] } }] },
      },
      config,
      /scope tickets\.sensitive to the app/,
    ],
    [
      '403 names the scope of the path',
      { status: 403, body: { category: 'MISSING_SCOPES' } },
      config,
      /scope tickets to the app/,
    ],
    [
      '400 is permanent, in HubSpot’s codes',
      { status: 400, body: { category: 'VALIDATION_ERROR', message: 'jane@example.com' } },
      permanent,
      /400 VALIDATION_ERROR;/,
    ],
    [
      '400 repeats nothing that is not a code or a name',
      {
        status: 400,
        body: {
          category: 'jane@example.com',
          errors: [
            { code: 'jane doe', context: { propertyName: ['Jane'] } },
            { code: 'INVALID_DATE', context: { propertyName: 'x_at' } },
            { code: 'INVALID_OPTION', context: { propertyName: 'Jane' } },
            { code: 'jane doe', context: { propertyName: 'x_by' } },
          ],
        },
      },
      permanent,
      /: 400 error, INVALID_DATE in x_at, INVALID_OPTION, INVALID in x_by;/,
    ],
    ['200 of another shape names the place', { body: { results: 'jane@example.com' } }, permanent, /at results/],
  ];
  test.each(rows)('%s', async (_, reply, advice, says, more) => {
    const { error, used, calls } = await failing(() => reply, { more: more ?? {} });
    expect(error.advice).toEqual(advice);
    expect(used.pauses).toEqual(advice.throttled ? [advice.retryAfterMs] : []);
    expect(error.message).toMatch(says);
    expect(error.message).toContain(path);
    expect(error.message).not.toContain('jane');
    expect(calls).toBe(1);
  });

  test.each([
    ['/crm/owners/2026-09', /scope crm\.objects\.owners\.read to/],
    ['/crm/objects/2026-09/contacts/batch/read', /scope crm\.objects\.contacts\.read to/],
    ['/crm/objects/2026-09/deals/batch/update', /scope crm\.objects\.deals\.write to/],
    [
      '/crm/associations/2026-09/deals/contacts/batch/read',
      /scope crm\.objects\.deals\.read, crm\.objects\.contacts\.read to/,
    ],
  ])('403 on %s names its scope', async (place, says) => {
    const { error } = await failing(() => ({ status: 403 }), { call: (api) => api.call('POST', place, anything) });
    expect(error.message).toMatch(says);
  });
});
