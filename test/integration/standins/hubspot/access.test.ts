import { expect, test } from 'vitest';
import { contactId, dealId, openAccount, ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

/* What the connector never provokes, and HubSpot has: tokens, scopes, versions, limits. */

const account = useAccount();
const ticket = `/crm/objects/2026-09/tickets/${ticketId}`;

test.each(['', 'Bearer nope', 'Basic aHVic3BvdC10b2tlbg=='])('it refuses "%s"', async (authorization) => {
  const { status, json } = await account.call('GET', ticket, undefined, { authorization });
  expect([status, json]).toMatchObject([401, { status: 'error', category: 'INVALID_AUTHENTICATION' }]);
});

test.each<[scope: string, method: string, path: string, status: number]>([
  ['tickets', 'GET', ticket, 200],
  ['tickets', 'GET', '/crm/pipelines/2026-09/tickets', 200],
  ['tickets', 'GET', `/crm/objects/2026-09/contacts/${contactId}`, 403],
  ['tickets', 'GET', '/crm/owners/2026-09', 403],
  ['tickets', 'GET', '/account-info/2026-09/details', 403],
  ['crm.objects.deals.read', 'PATCH', `/crm/objects/2026-09/deals/${dealId}`, 403],
  ['crm.objects.deals.write', 'PATCH', '/crm/properties/2026-09/deals/x', 403],
])('with the scope %s alone %s %s is %i', async (scope, method, path, status) => {
  account.standin.changeSettings({ scopes: [scope] });
  const reply = await account.call(method, path, method === 'PATCH' ? { properties: {} } : undefined);
  expect([reply.status, reply.json.category]).toEqual([status, status === 403 ? 'MISSING_SCOPES' : undefined]);
});

test.each<[path: string, status: number]>([
  [`/crm/objects/2026-03/tickets/${ticketId}`, 200],
  [`/crm/objects/2027-03/0-5/${ticketId}`, 200],
  [`/crm/v3/objects/tickets/${ticketId}`, 404],
  [`/crm/objects/v3/tickets/${ticketId}`, 404],
  ['/crm/objects/2026-09/gadgets/1', 404],
])('it knows only date versions and object types: %s is %i', async (path, status) => {
  expect((await account.call('GET', path)).status).toBe(status);
});

test('it refuses what is too much in any ten seconds, and serves again as they pass', async () => {
  const small = await openAccount({ now: account.now, rateLimit: { per10s: 2 } });
  const call = () => small.call('GET', ticket);
  expect((await call()).headers.get('x-hubspot-ratelimit-remaining')).toBe('1');
  account.clock.now += 6_000;
  await call();
  const { status, headers, json } = await call();
  expect([status, json]).toMatchObject([429, { errorType: 'RATE_LIMIT', policyName: 'TEN_SECONDLY_ROLLING' }]);
  expect(headers.get('retry-after')).toBeNull();
  expect(headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
  account.clock.now += 4_000;
  expect([(await call()).status, (await call()).status]).toEqual([200, 429]);
  await small.close();
});

test('its day of calls ends at midnight in the zone of the account', async () => {
  account.clock.now = Date.parse('2026-11-21T21:59:00Z');
  const small = await openAccount({ now: account.now, rateLimit: { daily: 1 } });
  const call = async () => (await small.call('GET', ticket)).json.policyName;
  expect([await call(), await call()]).toEqual([undefined, 'DAILY']);
  account.clock.now += 120_000;
  expect(await call()).toBeUndefined();
  await small.close();
});

test('a search lags when told to, and is taken five times a second, without a word of what is left', async () => {
  const body = { filterGroups: [], sorts: [], properties: [], limit: 10, after: '' };
  const search = () => account.call('POST', '/crm/objects/2026-09/tickets/search', body);
  account.standin.changeSettings({ searchLagMs: 500 });
  expect((await search()).json.total).toBe(0);
  account.clock.now += 500;
  const { json, headers } = await search();
  expect([json.total, headers.get('x-hubspot-ratelimit-remaining')]).toEqual([1, null]);
  const more = await Promise.all([search(), search(), search(), search()]);
  expect(more.map((reply) => reply.json.policyName)).toEqual([undefined, undefined, undefined, 'SECONDLY']);
});
