import { describe, expect, test } from 'vitest';
import { Sightings, seenAtCrm, seenAtDesk, storeField } from '../../system/chaos/sightings.ts';

const carl = { email: 'carl@example.com', language: 'et', zone: 'Europe/Tallinn' } as const;
const ticket = { subject: 'slow', store: 'Tartu', flag: 'vip', isClosed: true } as const;

const deskBody = {
  tickets: [
    {
      ...{ id: 7, status: 'solved', subject: 'slow', tags: ['vip', 'fb_grade_4'], requester_id: 70 },
      custom_fields: [{ id: storeField, value: 'Tartu' }],
    },
  ],
  users: [
    { id: 70, email: carl.email, locale: 'et', iana_time_zone: carl.zone },
    { id: 9001, email: null, locale: 'en-US', iana_time_zone: carl.zone },
  ],
};
const showMany = (include: string) => ({
  path: '/api/v2/tickets/show_many.json',
  query: new URLSearchParams({ ids: '7', include }),
});
const post = (path: string, body: object) => ({ path, raw: Buffer.from(JSON.stringify(body)) });
const inputs = [{ id: '7' }];
const crmTicket = { id: '7', properties: { subject: 'slow', store: 'Tartu', flag: 'vip', hs_pipeline_stage: '4' } };

describe('sightings', () => {
  test('at a help desk one call shows all parts of a reading', () => {
    expect(seenAtDesk(showMany('users,groups'), { status: 200, body: deskBody })).toEqual([
      { of: 'ticket', id: 7, shows: ticket },
      { of: 'holder', id: 7, shows: 70 },
      { of: 'person', id: 70, shows: carl },
    ]);
  });

  test.each([
    ['a reading without users', showMany(''), { status: 200, body: deskBody }],
    ['a refused reading', showMany('users'), { status: 429, body: {} }],
    ['another call', { ...showMany('users'), path: '/api/v2/users/show_many.json' }, { status: 200, body: {} }],
  ])('at a help desk %s shows nothing', (_, req, response) => {
    expect(seenAtDesk(req, response)).toEqual([]);
  });

  test('in the CRM three calls make a reading, and one of the state alone makes none', () => {
    const sightings = new Sightings();
    const tickets = '/crm/objects/2026-09/tickets/batch/read';
    const see = (at: number, ...of: Parameters<typeof seenAtCrm>) => sightings.note('crm', at, seenAtCrm(...of));
    const readings = () => sightings.readings({ vendor: 'crm', id: 7 }, 0, 1_000);
    see(100, post(tickets, { inputs, properties: ['hs_pipeline_stage'] }), {
      status: 200,
      body: { results: [crmTicket] },
    });
    expect(sightings.lastBefore({ vendor: 'crm', id: 7 }, 1_000)).toBeUndefined();
    see(200, post(tickets, { inputs, properties: ['subject', 'store'] }), {
      status: 200,
      body: { results: [crmTicket] },
    });
    see(300, post('/crm/associations/2026-09/tickets/contacts/batch/read', { inputs }), {
      status: 200,
      body: { results: [{ from: { id: '7' }, to: [{ toObjectId: 70 }] }] },
    });
    expect(readings()).toEqual([]);
    const properties = { email: carl.email, hs_language: 'et', hs_timezone: 'europe_slash_tallinn' };
    see(400, post('/crm/objects/2026-09/contacts/batch/read', { inputs: [{ id: '70' }], properties: ['email'] }), {
      status: 200,
      body: { results: [{ id: '70', properties }] },
    });
    const person = { ...carl, zone: 'europe/tallinn' };
    expect(readings()).toEqual([{ at: 200, personId: 70, facts: { ticket, person } }]);
  });

  test('a record without customers reads as one that has none', () => {
    const sightings = new Sightings();
    sightings.note('crm', 1, [
      { of: 'ticket', id: 7, shows: ticket },
      { of: 'holder', id: 7, shows: undefined },
    ]);
    expect(sightings.readings({ vendor: 'crm', id: 7 }, 0, 9)).toEqual([
      { at: 1, personId: undefined, facts: { ticket, person: undefined } },
    ]);
  });

  test('of each part every value that was returned in the time counts', () => {
    const sightings = new Sightings();
    for (const [at, store] of [
      [1, 'Tallinn'],
      [2, 'Tartu'],
      [3, 'Tartu'],
      [9, 'Narva'],
    ] as const) {
      sightings.note('desk', at, [
        { of: 'ticket', id: 7, shows: { ...ticket, store } },
        { of: 'holder', id: 7, shows: 70 },
        { of: 'person', id: 70, shows: carl },
      ]);
    }
    const stores = sightings.readings({ vendor: 'desk', id: 7 }, 1, 5).map(({ at, facts }) => [at, facts.ticket.store]);
    expect(stores).toEqual([
      [1, 'Tallinn'],
      [3, 'Tartu'],
    ]);
  });
});
