import { describe, expect, test } from 'vitest';
import {
  contactId,
  dealId,
  openAccount,
  readBody,
  ticketId,
  useAccount,
} from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

const tickets = '/crm/objects/2026-09/tickets';

describe('access', () => {
  const refusals: [name: string, headers: Record<string, string>, status: number, category: string][] = [
    ['refuses a caller without a token', { authorization: '' }, 401, 'INVALID_AUTHENTICATION'],
    ['refuses an unknown token', { authorization: 'Bearer nope' }, 401, 'INVALID_AUTHENTICATION'],
    ['refuses Basic', { authorization: 'Basic aHVic3BvdC10b2tlbg==' }, 401, 'INVALID_AUTHENTICATION'],
  ];
  test.each(refusals)('it %s', async (_name, headers, status, category) => {
    const reply = await account.call('GET', `${tickets}/${ticketId}`, undefined, headers);
    expect([reply.status, reply.json]).toEqual([
      status,
      expect.objectContaining({ status: 'error', category, correlationId: expect.any(String) }),
    ]);
  });

  const scopes: [name: string, scopes: string[], method: string, path: string, status: number][] = [
    ['lets `tickets` read tickets', ['tickets'], 'GET', `${tickets}/${ticketId}`, 200],
    ['lets `tickets` read ticket pipelines', ['tickets'], 'GET', '/crm/pipelines/2026-09/tickets', 200],
    ['does not let `tickets` read contacts', ['tickets'], 'GET', `/crm/objects/2026-09/contacts/${contactId}`, 403],
    ['does not let `tickets` read owners', ['tickets'], 'GET', '/crm/owners/2026-09', 403],
    [
      'does not let reading deals write them',
      ['crm.objects.deals.read'],
      'PATCH',
      `/crm/objects/2026-09/deals/${dealId}`,
      403,
    ],
    ['wants oauth for the account details', ['tickets'], 'GET', '/account-info/2026-09/details', 403],
  ];
  test.each(scopes)('it %s', async (_name, granted, method, path, status) => {
    account.standin.changeSettings({ scopes: granted });
    const reply = await account.call(method, path, method === 'PATCH' ? { properties: {} } : undefined);
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.json.category).toBe('MISSING_SCOPES');
  });

  const versions: [path: string, status: number][] = [
    [`/crm/objects/2026-03/tickets/${ticketId}`, 200],
    [`/crm/objects/2027-03/0-5/${ticketId}`, 200],
    [`/crm/v3/objects/tickets/${ticketId}`, 404],
    [`/crm/objects/v3/tickets/${ticketId}`, 404],
    ['/crm/objects/2026-09/gadgets/1', 404],
  ];
  test.each(versions)('it knows only date versions and object types: %s is %i', async (path, status) => {
    expect((await account.call('GET', path)).status).toBe(status);
  });
});

describe('limits', () => {
  test('it refuses what is too much in any ten seconds, and serves again as they pass', async () => {
    const small = await openAccount({ now: account.now, rateLimit: { per10s: 2 } });
    const get = () => small.call('GET', `${tickets}/${ticketId}`);
    expect((await get()).headers.get('x-hubspot-ratelimit-remaining')).toBe('1');
    account.clock.now += 6_000;
    await get();
    const refused = await get();
    expect([refused.status, refused.headers.get('retry-after'), refused.json]).toEqual([
      429,
      null,
      expect.objectContaining({
        errorType: 'RATE_LIMIT',
        policyName: 'TEN_SECONDLY_ROLLING',
        correlationId: expect.any(String),
        requestId: expect.any(String),
      }),
    ]);
    expect(refused.headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
    account.clock.now += 4_000;
    expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
    await small.close();
  });

  test('it has a daily limit', async () => {
    const small = await openAccount({ now: account.now, rateLimit: { daily: 1 } });
    await small.call('GET', `${tickets}/${ticketId}`);
    expect((await small.call('GET', `${tickets}/${ticketId}`)).json.policyName).toBe('DAILY');
    await small.close();
  });

  test('it counts calls by endpoint, control calls not', async () => {
    await account.call('POST', `${tickets}/batch/read`, readBody([ticketId]));
    await account.call('GET', `/_control/tickets/${ticketId}`);
    expect(account.standin.callCounts()).toEqual({ 'POST /crm/objects/{version}/tickets/batch/read': 1 });
  });
});

test('it ends the day of calls at midnight in the zone of the account', async () => {
  account.clock.now = Date.parse('2026-11-21T21:59:00Z');
  const small = await openAccount({ now: account.now, rateLimit: { daily: 1 }, accessToken: 'another' });
  const get = () => small.call('GET', `${tickets}/${ticketId}`, undefined, { authorization: 'Bearer another' });
  expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
  account.clock.now += 120_000;
  expect((await get()).status).toBe(200);
  await small.close();
});

test('it can be run over HTTP alone', async () => {
  const made = await account.call('POST', '/_control/tickets', { contacts: [contactId] });
  expect((await account.call('POST', `/_control/tickets/${made.json.id}/close`, {})).json).toEqual([]);
  expect((await account.call('GET', `/_control/tickets/${made.json.id}`)).json).toMatchObject({
    properties: { hs_pipeline_stage: '4' },
    contacts: [contactId],
  });
  expect((await account.call('POST', '/_control/tickets/5/close', {})).status).toBe(409);
  expect((await account.call('PATCH', '/_control/settings', { per10s: 'x' })).status).toBe(400);
  expect((await account.call('POST', '/_control/reset')).status).toBe(200);
  expect((await account.call('GET', '/_control/records')).json).toEqual([]);
});
