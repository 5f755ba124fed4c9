import { expect, test } from 'vitest';
import type { FeedbackClient, NewRequest } from '../../../../core/feedback/client.ts';
import { phone } from '../../../support/core/feedback/samples.ts';
import { all, clientFor, failureOf, listen } from '../../../support/core/feedback/service.ts';

const never = new Date(Number.NaN);
const creating = (more: object) => (client: FeedbackClient) =>
  client.create({ campaign: 12, contact: phone, customFields: {}, ...more } as NewRequest);

const rows: [what: string, call: (client: FeedbackClient) => Promise<unknown>, says: string][] = [
  ['a field value NaN', creating({ customFields: { Store: 'x', Visits: Number.NaN } }), 'the value given for Visits'],
  ['an infinite field value', creating({ customFields: { Visits: -Infinity } }), 'the value given for Visits'],
  ['a field value null', creating({ customFields: { Store: null } }), 'the value given for Store'],
  ['a field value undefined', creating({ customFields: { Store: undefined } }), 'the value given for Store'],
  ['a field value that is a list', creating({ customFields: { Store: ['a'] } }), 'the value given for Store'],
  [
    'two field values that are none',
    creating({ customFields: { 'My store': {}, Visits: Number.NaN, ok: 1 } }),
    'the value given for My store, Visits',
  ],
  ['a campaign NaN', creating({ campaign: Number.NaN }), 'the id of a campaign must be a whole number'],
  ['a campaign 1.5', creating({ campaign: 1.5 }), 'the id of a campaign must be a whole number'],
  ['an infinite campaign', creating({ campaign: Infinity }), 'the id of a campaign must be a whole number'],
  ['an invalid scheduled date', creating({ scheduled: never }), 'scheduled must be a valid date and time'],
  [
    'an invalid deadline',
    (client) => client.create({ campaign: 12, contact: phone, customFields: {} }, { sendDeadline: never }),
    'sendDeadline must be a valid date and time',
  ],
  ['a grade NaN', (client) => client.grade('7', Number.NaN), 'the grade must be a number'],
  ['an infinite grade', (client) => client.grade('7', Infinity), 'the grade must be a number'],
  ['a list of campaign NaN', (client) => all(client.requests({ campaign: Number.NaN })), 'the id of a campaign'],
  ['page 1.5', (client) => all(client.requests({ page: 1.5 })), 'page must be a whole number from 1 on'],
  ['page 0', (client) => all(client.requestPages({ page: 0 })), 'page must be a whole number from 1 on'],
  ['page NaN', (client) => all(client.exportPages({ page: Number.NaN })), 'page must be a whole number from 1 on'],
  ['a day that is none', (client) => all(client.requests({ dateTo: '2026-02-30' })), 'dateTo must be a day'],
];
test.each(rows)('%s is refused by name, and nothing is sent', async (_what, call, says) => {
  const service = await listen(() => ({ status: 201, body: { id: 7 } }));
  const error = await failureOf(call(clientFor(service.url)));
  expect(error).toMatchObject({ outcome: 'never-sent', advice: { kind: 'permanent' } });
  expect(String(error)).toMatch(/Feedback service: nothing was sent: /);
  expect(String(error)).toContain(says);
  expect(service.received).toEqual([]);
});

test('values of each kind are sent as they are', async () => {
  const service = await listen(() => ({ status: 201, body: { id: 7 } }));
  const customFields = { Text: '', Number: -0.5, No: false };
  await creating({ customFields })(clientFor(service.url));
  expect(service.received.map(({ body }) => JSON.parse(body))).toMatchObject([{ custom_fields: customFields }]);
});
