import { describe, expect, test } from 'vitest';
import { ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

const tickets = '/crm/objects/2026-09/tickets';

describe('search', () => {
  const search = (more: object = {}) =>
    account.call('POST', `${tickets}/search`, {
      filterGroups: [],
      sorts: [],
      properties: ['closed_date'],
      limit: 10,
      after: '',
      ...more,
    });
  const filtered = (...filters: object[]) => ({ filterGroups: [{ filters }] });
  const idsOf = (json: { results: { id: string }[] }) => json.results.map(({ id }) => Number(id));

  test('it finds by stage and time, in order and in pages, deleted ones not', async () => {
    const ids: number[] = [];
    for (const id of [11, 12, 13, 14]) {
      account.clock.now += 1000;
      account.standin.addTicket({ id });
      await account.standin.close(id);
      ids.push(id);
    }
    await account.standin.deleteRecord({ type: 'tickets', id: 14 });
    const closed = {
      ...filtered(
        { propertyName: 'hs_pipeline_stage', operator: 'IN', values: ['4'] },
        { propertyName: 'closed_date', operator: 'GTE', value: String(Date.parse('2026-11-21T10:00:02Z')) },
      ),
      sorts: [{ propertyName: 'closed_date', direction: 'DESCENDING' }],
    };
    const first = await search({ ...closed, limit: 1 });
    expect([first.json.total, idsOf(first.json), first.json.paging.next.after]).toEqual([2, [13], '1']);
    expect(idsOf((await search({ ...closed, limit: 1, after: '1' })).json)).toEqual([12]);
  });

  const one = { propertyName: 'subject', operator: 'HAS_PROPERTY' };
  const refusals: [name: string, more: object][] = [
    ['more than 200 a page', { limit: 201 }],
    ['more than 10,000 results', { limit: 200, after: '9900' }],
    ['two sorts', { sorts: Array(2).fill({ propertyName: 'subject', direction: 'ASCENDING' }) }],
    ['seven filters in a group', filtered(...Array(7).fill(one))],
    ['six groups', { filterGroups: Array(6).fill({ filters: [one] }) }],
    ['nineteen filters', { filterGroups: Array(4).fill({ filters: Array(5).fill(one) }) }],
    ['an unknown operator', filtered({ ...one, operator: 'LIKE' })],
    ['an unknown property', filtered({ ...one, propertyName: 'nope' })],
    ['a body of more than 3,000 characters', { properties: ['x'.repeat(3_000)] }],
    ['a missing key', { sorts: undefined }],
  ];
  test.each(refusals)('it refuses %s', async (_name, more) => {
    expect((await search(more)).status).toBe(400);
  });

  test('it lags when told to, and takes five a second without saying what is left', async () => {
    account.standin.changeSettings({ searchLagMs: 500 });
    expect((await search()).json.total).toBe(0);
    account.clock.now += 500;
    const later = await search();
    expect([later.json.total, later.headers.get('x-hubspot-ratelimit-remaining')]).toEqual([1, null]);
    await Promise.all([search(), search(), search()]);
    const refused = await search();
    expect([refused.status, refused.json.policyName, refused.json.message]).toEqual([
      429,
      'SECONDLY',
      'You have reached your secondly limit.',
    ]);
  });

  test('it lists everything without a search', async () => {
    for (const id of [1, 2, 3]) account.standin.addTicket({ id });
    const first = await account.call('GET', `${tickets}?limit=2`);
    const rest = await account.call('GET', `${tickets}?limit=2&after=${first.json.paging.next.after}`);
    expect([idsOf(first.json), idsOf(rest.json), rest.json.paging]).toEqual([[1, 2], [3, ticketId], undefined]);
  });
});
