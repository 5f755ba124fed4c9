import { describe, expect, test } from 'vitest';
import { account, type Row } from '../../../support/connectors/hubspot/fake-hubspot.ts';
import { called, closedTicket, contact, owners, reading } from '../../../support/connectors/hubspot/reading.ts';

describe('the contact', () => {
  const people: Row[] = [
    { id: '5', properties: { phone: '1' } },
    { id: '30', properties: { email: 'b@example.com' } },
    { id: '200', properties: { email: 'c@example.com' } },
  ];
  const rows: [name: string, contacts: Row['contacts'], expected: [string | undefined, string], settings?: object][] = [
    ['is none where there is none', [], [undefined, 'the ticket has no contact']],
    ['is none where the only one was deleted', [['77']], [undefined, 'the ticket has no contact']],
    [
      'is the one with an email address, lowest id first',
      [['200'], ['5'], ['30']],
      ['30', 'one of 3 contacts: lowest id with an email address'],
    ],
    [
      'is the one with the configured label',
      [['30'], ['200', [16, 401]], ['5']],
      ['200', 'the contact with the configured label'],
      { contactLabel: 401 },
    ],
    [
      'is chosen as usual where nobody has the label',
      [['30'], ['5']],
      ['30', 'one of 2 contacts: lowest id with an email address'],
      { contactLabel: 401 },
    ],
    ['may have no email address', [['5']], ['5', 'the only contact']],
  ];
  test.each(rows)('%s', async (_, contacts, expected, settings) => {
    const { results } = await reading(
      { tickets: [closedTicket('7', { contacts: contacts ?? [] })], contacts: people },
      ['ticket-7'],
      settings,
    );
    expect(results[0]).toMatchObject({ record: { shape: { contactChoice: expected[1] } } });
    const shape = results[0]?.ok ? results[0].record.shape : {};
    expect('contact' in shape && shape.contact).toEqual(
      expected[0] === undefined ? null : expect.objectContaining({ id: expected[0] }),
    );
  });

  test('that could not be looked up fails its record, not the others', async () => {
    const usual = account({ tickets: [closedTicket('7'), closedTicket('8')], contacts: [contact], owners });
    const { states } = await reading(
      (call, response) => {
        const reply = usual(call, response);
        if (!call.path.includes('/associations/')) return reply;
        const results = [{ from: { id: '8' }, to: [{ toObjectId: Number(contact.id), associationTypes: [] }] }];
        return {
          status: 207,
          body: { results, errors: [{ category: 'INTERNAL_ERROR', context: { fromObjectId: ['7'] } }] },
        };
      },
      ['ticket-7', 'ticket-8'],
    );
    expect(states).toEqual(['error', expect.objectContaining({ is: 'closed' })]);
  });
});

describe('the owner', () => {
  const rows: [name: string, id: string | null, expected: unknown, lists: number][] = [
    ['is found on a later page', '13', { id: '13', name: 'Cy', email: null }, 2],
    ['may have no name', '12', { id: '12', name: null, email: null }, 2],
    ['is found among the deactivated', '14', { id: '14', name: 'Gone Away', email: null }, 3],
    ['that HubSpot does not list keeps its id', '15', { id: '15', name: null, email: null }, 3],
    ['of nobody costs no call', null, null, 0],
  ];
  test.each(rows)('%s', async (_, id, expected, lists) => {
    const ticket = closedTicket('7', {
      properties: { hs_pipeline: '0', hs_pipeline_stage: '4', hubspot_owner_id: id },
    });
    const { results, calls } = await reading({ tickets: [ticket] }, ['ticket-7']);
    expect(results[0]).toMatchObject({ record: { shape: { owner: expected } } });
    expect(calls.filter(({ path }) => path.includes('/owners')).length).toBe(lists);
  });
});

test('open records cost no look for their people', async () => {
  const open = closedTicket('7', { properties: { hs_pipeline: '0', hs_pipeline_stage: '1' } });
  const { results, calls } = await reading({ tickets: [open] }, ['ticket-7']);
  expect(results[0]).toMatchObject({
    record: { shape: { contact: null, contactChoice: 'the ticket is not closed: not looked up' } },
  });
  expect(called(calls)).toEqual(['POST /crm/objects/tickets/batch/read 1', 'GET /crm/pipelines/tickets 0']);
});
