import { describe, expect, test } from 'vitest';
import {
  type Account,
  account,
  against,
  type Handler,
  now,
  type Row,
} from '../../../support/connectors/hubspot/fake-hubspot.ts';
import { called, closedTicket, closing, contact, reading } from '../../../support/connectors/hubspot/reading.ts';

describe('a closed ticket', () => {
  test('is presented whole, with its contact and owner', async () => {
    const { results } = await reading({ tickets: [closedTicket('7')] }, ['ticket-7'], {
      properties: ['store'],
    });
    expect(results).toEqual([
      {
        ok: true,
        record: {
          id: 'ticket-7',
          currentId: 'ticket-7',
          state: { is: 'closed', closing, closedAt: new Date(closing) },
          locale: 'pt-BR',
          personId: contact.id,
          timeZone: 'America/New_York',
          country: 'US',
          region: 'New York',
          shape: {
            ticket: {
              id: '7',
              subject: 'Broken',
              pipeline: { id: '0', label: 'Support' },
              stage: { id: '4', label: 'Open (only by its label)' },
              priority: null,
              category: null,
              createdAt: '2026-11-20T08:00:00Z',
              closedAt: closing,
              properties: {
                hs_pipeline: '0',
                hs_pipeline_stage: '4',
                subject: 'Broken',
                hs_ticket_priority: null,
                hs_ticket_category: null,
                createdate: '2026-11-20T08:00:00Z',
                hubspot_owner_id: '11',
                hs_merged_object_ids: null,
                store: 'Tartu',
              },
            },
            contact: {
              id: contact.id,
              email: 'jane@example.com',
              phone: null,
              mobilePhone: '+372 5555 5555',
              firstName: 'Jane',
              lastName: 'Doe',
              language: 'pt-br',
              timeZone: 'America/New_York',
              country: 'US',
              region: 'New York',
              properties: { ...contact.properties, phone: null, hs_state_code: null },
            },
            contactChoice: 'the only contact',
            owner: { id: '11', name: 'Ann Lee', email: 'ann@example.com' },
          },
        },
      },
    ]);
  });
});

describe('a state', () => {
  const ticket = (stage: string, more: Partial<Row> = {}) =>
    closedTicket('7', { properties: { hs_pipeline: '0', hs_pipeline_stage: stage }, ...more });
  const deal = (stage: string): Row => ({
    id: '7',
    properties: { pipeline: 'default', dealstage: stage },
    history: [[stage, closing]],
  });
  const closed = { is: 'closed', closing, closedAt: new Date(closing) };
  const open = { is: 'open' };
  const out = (why: string) => ({ is: 'out', why });
  const rows: [name: string, given: Account, expected: unknown, settings?: object, id?: string][] = [
    ['follows the metadata, not the label: open', { tickets: [ticket('3')] }, open],
    ['follows the metadata, not the label: closed', { tickets: [ticket('4')] }, closed],
    ['of a won deal is closed', { deals: [deal('won')] }, closed],
    ['of a lost deal is closed', { deals: [deal('lost')] }, closed],
    ['of a deal in a stage whose id was once closedwon is open', { deals: [deal('closedwon')] }, open],
    ['of an unknown stage is out', { tickets: [ticket('99')] }, out('HubSpot lists no stage 99 in its pipelines')],
    [
      'of a pipeline not asked for is out',
      { tickets: [ticket('4')] },
      out("pipeline 0 is not among this source's pipelines"),
      { pipelines: ['8'] },
    ],
    [
      'of a closed stage not asked for is out',
      { tickets: [ticket('4')] },
      out("stage 4 is not among this source's stages"),
      { stages: ['5'] },
    ],
    ['of an open stage is open, whatever stages are asked for', { tickets: [ticket('1')] }, open, { stages: ['5'] }],
    [
      'whose history lags behind is read again later',
      { tickets: [ticket('4', { history: [['1', closing]] })] },
      'error',
    ],
    ['of a record that is gone is not found', {}, 'not-found'],
    ['of an id that is none is not found', {}, 'not-found', {}, 'order-7'],
  ];
  test.each(rows)('%s', async (_, given, expected, settings, id = given.deals ? 'deal-7' : 'ticket-7') => {
    const { states } = await reading(given, [id], settings);
    expect(states).toEqual([expected]);
  });

  test('of a stage added since the pipelines were read is known after one more look', async () => {
    let added = false;
    const known = account({ tickets: [ticket('4'), { ...ticket('6'), id: '8', history: [['6', closing]] }] });
    const clock = { ms: now.getTime() };
    const handler: Handler = (call, response) => {
      const reply = known(call, response);
      if (!added || !call.path.includes('/pipelines/')) return reply;
      return { body: { results: [{ id: '0', stages: [{ id: '6', metadata: { isClosed: 'true' } }] }] } };
    };
    await against(
      handler,
      async ({ source, calls }) => {
        await source.read(['ticket-7']);
        added = true;
        const looks = () => calls.filter(({ path }) => path.includes('/pipelines/')).length;
        expect((await source.read(['ticket-8']))[0]).toMatchObject({ record: { state: { is: 'out' } } });
        clock.ms += 9_000;
        expect((await source.read(['ticket-8']))[0]).toMatchObject({ record: { state: { is: 'out' } } });
        expect(looks()).toBe(1); // looked just now
        clock.ms += 2_000;
        expect((await source.read(['ticket-8']))[0]).toMatchObject({ record: { state: { is: 'closed' } } });
        await source.read(['ticket-8']);
        expect(looks()).toBe(2);
      },
      {},
      () => new Date(clock.ms),
    );
  });
});

describe('a record merged away', () => {
  const merged = { '1': '9', '2': '9' };
  test('is read by its new id, also when the new one and another old one are asked for', async () => {
    const { results } = await reading({ tickets: [closedTicket('9'), closedTicket('3')], merged }, [
      'ticket-1',
      'ticket-3',
      'ticket-9',
      'ticket-2',
    ]);
    expect(
      results.map((result) => result.ok && [result.record.id, result.record.currentId, result.record.state.is]),
    ).toEqual([
      ['ticket-1', 'ticket-9', 'closed'],
      ['ticket-3', 'ticket-3', 'closed'],
      ['ticket-9', 'ticket-9', 'closed'],
      ['ticket-2', 'ticket-9', 'closed'],
    ]);
  });

  test('costs no call more where HubSpot lists what a record was merged from', async () => {
    const { properties = {} } = closedTicket('9');
    const nine = closedTicket('9', { properties: { ...properties, hs_merged_object_ids: '1;2' } });
    const { results, calls } = await reading({ tickets: [nine, closedTicket('3')], merged }, [
      'ticket-1',
      'ticket-2',
      'ticket-3',
    ]);
    expect(results.map((result) => result.ok && result.record.currentId)).toEqual(['ticket-9', 'ticket-9', 'ticket-3']);
    expect(called(calls).filter((call) => call.includes('batch/read') && call.includes('/objects/tickets'))).toEqual([
      'POST /crm/objects/tickets/batch/read 3',
    ]);
  });
});
