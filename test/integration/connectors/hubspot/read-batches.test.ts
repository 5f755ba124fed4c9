import { describe, expect, test } from 'vitest';
import { chunks } from '../../../../core/connector/batches.ts';
import { account, against, type Handler, now, type Row } from '../../../support/connectors/hubspot/fake-hubspot.ts';
import { closedTicket, closing, contact, owners, reading } from '../../../support/connectors/hubspot/reading.ts';

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

test('a thousand closings arriving together take 34 calls to plan, 32 to decide again and 10 to write back', async () => {
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
      const all = tickets.map(({ id }) => `ticket-${id}`);
      const batches = chunks(all, source.batchSize);
      const count = async (work: Promise<unknown[][]>) => {
        const before = calls.length;
        const done = (await work).flat();
        return [done.length, calls.length - before];
      };
      expect(await count(Promise.all(batches.map((ids) => source.read(ids))))).toEqual([1000, 34]);
      expect(await count(Promise.all(batches.map((ids) => source.read(ids))))).toEqual([1000, 32]);
      const answers = (ids: string[]) =>
        ids.map((recordId) => ({
          recordId,
          marker: recordId,
          grade: 5,
          status: 'answered' as const,
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
  [undefined, [50, 50, 20]],
  [30, [30, 30, 30, 30]],
] as const)('with historyPerCall %s it reads 120 tickets in calls of %j', async (historyPerCall, sizes) => {
  const tickets = Array.from({ length: 120 }, (_, i) => closedTicket(String(i + 1)));
  const ids = tickets.map(({ id }) => `ticket-${id}`);
  const { calls } = await reading({ tickets }, ids, historyPerCall === undefined ? {} : { historyPerCall });
  const reads = calls.filter(({ path }) => path.includes('/objects/') && path.includes('/tickets/batch/read'));
  expect(reads.map(({ body }) => body.inputs.length)).toEqual(sizes);
});

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
    const { results } = await reading(odd, ['ticket-7', 'ticket-8', 'ticket-9']);
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
