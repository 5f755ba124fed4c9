import { describe, expect, test } from 'vitest';
import {
  type Account,
  account,
  against,
  type Call,
  type Handler,
  now,
  type Row,
} from '../../../support/connectors/hubspot/fake-hubspot.ts';

const contact: Row = {
  id: '106651134132',
  properties: {
    email: 'jane@example.com',
    mobilephone: '+372 5555 5555',
    firstname: 'Jane',
    lastname: 'Doe',
    hs_language: 'pt-br',
    hs_timezone: 'us_slash_eastern',
    country: 'United States',
    hs_country_region_code: 'US',
    state: 'New York',
  },
};
const closedTicket = (id: string, more: Partial<Row> = {}): Row => ({
  id,
  properties: {
    hs_pipeline: '0',
    hs_pipeline_stage: '4',
    subject: 'Broken',
    hubspot_owner_id: '11',
    createdate: '2026-11-20T08:00:00Z',
    store: 'Tartu',
  },
  history: [
    ['4', '2026-11-21T09:00:00.123Z'],
    ['1', '2026-11-20T08:00:00Z'],
  ],
  contacts: [[contact.id]],
  ...more,
});
const owners = {
  false: [
    { id: '11', email: 'ann@example.com', firstName: 'Ann', lastName: 'Lee' },
    { id: '12', firstName: '', lastName: '' },
    { id: '13', firstName: 'Cy' },
  ],
  true: [{ id: '14', firstName: 'Gone', lastName: 'Away' }],
};
const closing = '2026-11-21T09:00:00.123Z';

/** Reads against this account; gives the results in short and the calls' paths. */
const reading = (given: Account | Handler, ids: string[], purpose: 'plan' | 'ask' = 'plan', settings: object = {}) =>
  against(
    typeof given === 'function' ? given : account({ contacts: [contact], owners, ...given }),
    async ({ source, calls }) => {
      const results = await source.read(ids, purpose);
      return { results, states: results.map((result) => (result.ok ? result.record.state : result.why)), calls };
    },
    settings,
  );

const called = (calls: Call[]) =>
  calls.map(
    ({ method, path, body }) => `${method} ${path.replaceAll('/2026-09', '').split('?')[0]} ${body.inputs.length}`,
  );

describe('the bare id, as HubSpot shows it to people', () => {
  test('is the record of the one kind that the source has', async () => {
    const { results } = await reading({ tickets: [closedTicket('7')] }, ['7', 'ticket-7', '8']);
    expect(results).toMatchObject([
      { ok: true, record: { currentId: 'ticket-7', state: { is: 'closed' } } },
      { ok: true, record: { id: 'ticket-7' } },
      { ok: false, why: 'not-found' },
    ]);
  });

  test('is none where it may be of two kinds', async () => {
    const { states, calls } = await reading({ tickets: [closedTicket('7')] }, ['7'], 'plan', {
      objects: ['ticket', 'deal'],
    });
    expect([states, calls]).toEqual([['not-found'], []]);
  });
});

describe('a closed ticket', () => {
  test('is presented whole, with its contact and owner', async () => {
    const { results } = await reading({ tickets: [closedTicket('7')] }, ['ticket-7'], 'plan', {
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

  test('asked about once more before sending costs one call and shows its state only', async () => {
    const { results, calls } = await reading({ tickets: [closedTicket('7')] }, ['ticket-7'], 'ask');
    expect(results).toEqual([
      {
        ok: true,
        record: {
          id: 'ticket-7',
          currentId: 'ticket-7',
          state: { is: 'closed', closing: '', closedAt: now },
          shape: {},
        },
      },
    ]);
    expect(called(calls)).toEqual(['POST /crm/objects/tickets/batch/read 1', 'GET /crm/pipelines/tickets 0']);
    expect(calls[0]?.body.propertiesWithHistory).toEqual([]);
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
  const rows: [name: string, given: Account, id: string, expected: unknown, settings?: object][] = [
    ['follows the metadata, not the label: open', { tickets: [ticket('3')] }, 'ticket-7', { is: 'open' }],
    ['follows the metadata, not the label: closed', { tickets: [ticket('4')] }, 'ticket-7', closed],
    ['of a won deal is closed', { deals: [deal('won')] }, 'deal-7', closed],
    ['of a lost deal is closed', { deals: [deal('lost')] }, 'deal-7', closed],
    [
      'of a deal in a stage whose id was once closedwon is open',
      { deals: [deal('closedwon')] },
      'deal-7',
      { is: 'open' },
    ],
    [
      'of an unknown stage is out',
      { tickets: [ticket('99')] },
      'ticket-7',
      { is: 'out', why: 'HubSpot lists no stage 99 in its pipelines' },
    ],
    [
      'of a pipeline not asked for is out',
      { tickets: [ticket('4')] },
      'ticket-7',
      { is: 'out', why: "pipeline 0 is not among this source's pipelines" },
      { pipelines: ['8'] },
    ],
    [
      'of a closed stage not asked for is out',
      { tickets: [ticket('4')] },
      'ticket-7',
      { is: 'out', why: "stage 4 is not among this source's stages" },
      { stages: ['5'] },
    ],
    [
      'of an open stage is open, whatever stages are asked for',
      { tickets: [ticket('1')] },
      'ticket-7',
      { is: 'open' },
      { stages: ['5'] },
    ],
    [
      'whose history lags behind is read again later',
      { tickets: [ticket('4', { history: [['1', closing]] })] },
      'ticket-7',
      'error',
    ],
    ['of a record that is gone is not found', {}, 'ticket-7', 'not-found'],
    ['of an id that is none is not found', {}, 'order-7', 'not-found'],
  ];
  test.each(rows)('%s', async (_, given, id, expected, settings) => {
    const { states } = await reading(given, [id], 'plan', settings);
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
        await source.read(['ticket-7'], 'ask');
        added = true;
        const looks = () => calls.filter(({ path }) => path.includes('/pipelines/')).length;
        expect((await source.read(['ticket-8'], 'ask'))[0]).toMatchObject({ record: { state: { is: 'out' } } });
        clock.ms += 9_000;
        expect((await source.read(['ticket-8'], 'ask'))[0]).toMatchObject({ record: { state: { is: 'out' } } });
        expect(looks()).toBe(1); // looked just now
        clock.ms += 2_000;
        expect((await source.read(['ticket-8'], 'ask'))[0]).toMatchObject({ record: { state: { is: 'closed' } } });
        await source.read(['ticket-8'], 'ask');
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
    const { results, calls } = await reading(
      { tickets: [nine, closedTicket('3')], merged },
      ['ticket-1', 'ticket-2', 'ticket-3'],
      'ask',
    );
    expect(results.map((result) => result.ok && result.record.currentId)).toEqual(['ticket-9', 'ticket-9', 'ticket-3']);
    expect(called(calls)).toEqual(['POST /crm/objects/tickets/batch/read 3', 'GET /crm/pipelines/tickets 0']);
  });
});

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
      'plan',
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

test('one that HubSpot refuses fails alone, in its codes', async () => {
  const usual = account({ tickets: [closedTicket('7')], contacts: [contact], owners });
  const { results } = await reading(
    (call, response) =>
      call.path.includes('/tickets/batch/read') && call.path.includes('/objects/')
        ? {
            status: 207,
            body: {
              results: [{ id: '7', properties: { hs_pipeline_stage: '1' } }],
              numErrors: 1,
              errors: [{ category: 'NOT_ALLOWED', message: 'jane@example.com', context: { ids: ['8'] } }],
            },
          }
        : usual(call, response),
    ['ticket-7', 'ticket-8'],
  );
  expect(
    results.map((result) => (result.ok ? 'ok' : result.why === 'error' ? result.error.message : result.why)),
  ).toEqual(['ok', 'HubSpot: POST /crm/objects/2026-09/tickets/batch/read: NOT_ALLOWED']);
});

test('tickets and deals are read together, in order, repetitions too', async () => {
  const deal: Row = {
    id: '7',
    properties: { pipeline: 'default', dealstage: 'won', dealname: 'Big', amount: '1200.50' },
    history: [['won', closing]],
  };
  const { results } = await reading({ tickets: [closedTicket('7')], deals: [deal] }, [
    'deal-7',
    'ticket-404',
    'ticket-7',
    'deal-7',
  ]);
  expect(results.map((result) => (result.ok ? result.record.id : result.why))).toEqual([
    'deal-7',
    'not-found',
    'ticket-7',
    'deal-7',
  ]);
  expect(results[0]).toMatchObject({
    record: { shape: { deal: { name: 'Big', amount: 1200.5, stage: { id: 'won', label: 'Won' } } } },
  });
});

test('a thousand closings arriving together take 42 calls to plan, 10 to ask and 10 to write back', async () => {
  const people = Array.from(
    { length: 1000 },
    (_, n): Row => ({ id: String(5000 + n), properties: { email: `${n}@example.com` } }),
  );
  const tickets = Array.from({ length: 1000 }, (_, n) =>
    closedTicket(String(1000 + n), { contacts: [[String(5000 + n)]] }),
  );
  const usual = account({ tickets, contacts: people, owners: { false: owners.false.slice(0, 2) } });
  const handler: Handler = (call, response) =>
    call.path.endsWith('/batch/update') ? { body: { results: call.body.inputs } } : usual(call, response);
  await against(
    handler,
    async ({ source, calls, used }) => {
      const batches = Array.from({ length: 10 }, (_, n) =>
        tickets.slice(n * 100, n * 100 + 100).map(({ id }) => `ticket-${id}`),
      );
      const count = async (work: Promise<unknown[][]>) => {
        const before = calls.length;
        const done = (await work).flat();
        return [done.length, calls.length - before];
      };
      expect(await count(Promise.all(batches.map((ids) => source.read(ids, 'plan'))))).toEqual([1000, 42]);
      expect(await count(Promise.all(batches.map((ids) => source.read(ids, 'ask'))))).toEqual([1000, 10]);
      const answers = (ids: string[]) =>
        ids.map((recordId) => ({
          recordId,
          marker: recordId,
          grade: 5,
          outcome: 'answered' as const,
          comment: null,
          answeredAt: now,
          campaign: 'c',
        }));
      expect(await count(Promise.all(batches.map((ids) => source.writeBack(answers(ids)))))).toEqual([1000, 10]);
      expect(used.takes).toBe(calls.length);
    },
    { writeBack: { grade: 'feedback_grade' } },
  );
});

test.each([
  [undefined, 'plan', [50, 50, 20]],
  [30, 'plan', [30, 30, 30, 30]],
  [30, 'ask', [100, 20]],
] as const)(
  'with historyPerCall %s it reads 120 tickets to %s in calls of %j',
  async (historyPerCall, purpose, sizes) => {
    const tickets = Array.from({ length: 120 }, (_, i) => closedTicket(String(i + 1)));
    const ids = tickets.map(({ id }) => `ticket-${id}`);
    const { calls } = await reading({ tickets }, ids, purpose, historyPerCall === undefined ? {} : { historyPerCall });
    const reads = calls.filter(({ path }) => path.includes('/objects/') && path.includes('/tickets/batch/read'));
    expect(reads.map(({ body }) => body.inputs.length)).toEqual(sizes);
  },
);

describe('one record of another shape', () => {
  test('it fails alone: the others are read (audit 17)', async () => {
    const tickets = ['7', '8', '9'].map((id) => closedTicket(id));
    const whole = account({ contacts: [contact], owners, tickets });
    const odd: Handler = (call, index) => {
      const answer = whole(call, index);
      if (!call.path.includes('/tickets/batch/read')) return answer;
      const body = JSON.parse(JSON.stringify(answer?.body));
      for (const one of body.results) if (one.id === '8') one.properties = 'nothing';
      return { ...answer, body };
    };
    const { results } = await reading(odd, ['7', '8', '9']);
    expect(results.map((result) => (result.ok ? result.record.id : result.why))).toEqual([
      'ticket-7',
      'error',
      'ticket-9',
    ]);
    expect(results[1]).toMatchObject({
      error: { message: expect.stringContaining('another shape'), advice: { kind: 'permanent', doubtful: true } },
    });
  });
});
