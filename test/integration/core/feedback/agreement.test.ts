import { expect, test } from 'vitest';
import type { FeedbackClient } from '../../../../core/feedback/client.ts';
import { all, clientFor, failureOf } from '../../../support/core/feedback/service.ts';
import { startService } from '../../../support/service.ts';

/* Client and stand-in were written apart, from the specification: here they meet, on every operation. */

async function open(): Promise<{ client: FeedbackClient; withKey: (apiKey: string) => FeedbackClient }> {
  const server = await startService();
  const { standin, url } = server;
  standin.fill({ campaign: 14, count: 1500 });
  const withKey = (apiKey: string): FeedbackClient => clientFor(`${url}/api`, { apiKey });
  return { client: withKey('demo-key'), withKey };
}

test('client and stand-in agree on every operation', async () => {
  const { client } = await open();
  const campaigns = await all(client.campaigns());
  expect(campaigns.map(({ id }) => id)).not.toContain(18);
  for (const { id, metric, stats } of campaigns) {
    expect((await client.campaign(id, { statsFrom: '2020-01-01', statsTo: '2020-01-31' })).stats.appeals_total).toBe(0);
    expect(['csat_index' in stats, 'nps_index' in stats]).toEqual([metric === 'csat', metric === 'nps']);
  }
  expect((await all(client.campaigns({ type: ['sms', 'widget'], metric: ['avg'] }))).map(({ type }) => type)).toEqual([
    'sms',
    'widget',
  ]);

  const pages = await all(client.requestPages({ campaign: 14 }));
  expect(pages.map(({ count, results }) => [count, results.length])).toEqual([
    [1500, 1000],
    [1500, 500],
  ]);

  const contact = { kind: 'email', value: 'Mari@example.com' } as const;
  expect(await client.contact(contact)).toBeUndefined();
  const created = await client.create({ campaign: 15, contact: { ...contact, kind: 'identifier' }, customFields: {} });
  expect(created).toMatchObject({ campaign: 15, grade: null, comment: null });
  await client.grade(created.id, 5);
  await client.comment(created.id, 'Thank you');
  expect(await client.request(created.id)).toMatchObject({ id: created.id, grade: 5, comment: 'Thank you' });

  const later = new Date(Date.now() + 86_400_000);
  const due = await client.create({
    campaign: 12,
    contact,
    scheduled: later,
    customFields: { Store: 'North', Ticket: 'T-7' },
  });
  expect(due).toMatchObject({ status: 'Scheduled', scheduled: later, customFields: { Store: 'North', Ticket: 'T-7' } });
  expect((await client.customFieldStatistics({ campaign: 12 })).map(({ name }) => name)).toEqual(['Store', 'Agent']);
  await client.cancel(due.id);
  expect(await failureOf(client.cancel(due.id))).toMatchObject({ status: 400, outcome: 'refused' });

  expect(await client.contact({ ...contact, value: 'MARI@EXAMPLE.COM' })).toMatchObject({ num_feedback: 1 });
  expect(await all(client.accessLog(contact))).toEqual([]);
  expect((await client.mask(contact)).masked.appeals).toBeGreaterThan(0);
  expect(await client.contact(contact)).toBeUndefined();

  const surveys = await all(client.surveys());
  expect(surveys.map(({ is_active }) => is_active)).toEqual([true, false]);
  expect(new Set((await client.survey(71)).questions.map(({ answer_type }) => answer_type)).size).toBe(8);
});

test('client and stand-in agree on refusals', async () => {
  const { client, withKey } = await open();
  const contact = { kind: 'email', value: 'mari@example.com' } as const;
  const rows: [call: () => Promise<unknown>, expected: object][] = [
    [
      () => client.create({ campaign: 13, contact, customFields: {} }),
      { fields: { Store: ['This field is required.'] } },
    ],
    [() => client.create({ campaign: 19, contact, customFields: {} }), { status: 403, advice: { kind: 'config' } }],
    [() => client.create({ campaign: 31, contact, customFields: {} }), { status: 403, advice: { kind: 'config' } }],
    [() => client.campaign(18), { status: 404, advice: { kind: 'permanent' } }],
    [() => client.customFieldStatistics({ campaign: 99 }), { detail: 'No Campaign matches the given query.' }],
    [() => client.request('999999'), { status: 404 }],
    [() => client.survey(99), { status: 404 }],
    [() => client.mask(contact), { status: 404 }],
    [() => withKey('nobody').campaign(12), { status: 401, detail: 'Invalid token.' }],
    [() => withKey('inactive-key').campaign(12), { status: 401, detail: 'Inactive API key.' }],
    [() => withKey('expired-key').campaign(12), { status: 401, detail: 'Expired API token.' }],
  ];
  for (const [call, expected] of rows) expect(await failureOf(call())).toMatchObject(expected);
});
