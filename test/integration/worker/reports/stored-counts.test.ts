import { expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { findAnswers } from '../../../../worker/reports/find-answers.ts';
import { byChannel, storedCounts } from '../../../../worker/reports/stored-counts.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { fresh } = useStores();
const timeZone = 'Europe/Tallinn';
const now = new Date('2026-05-10T12:00:00Z');
const period = { since: '2026-05-01', until: '2026-05-10' };

test('customers are counted by the hour in which they were asked, on the account’s clock, and their answers by when they came', async () => {
  const { store } = fresh();
  /** Asked at this instant in this campaign; answered at that one. */
  const asked = async (id: string, campaign: number, at: string, answeredAt?: string) => {
    const { journey } = await store.getOrCreate(claimOf(id, 'c', id), []);
    const askedAt = new Date(at);
    const answer = answeredAt && { grade: 4, comment: null, seenAt: new Date(answeredAt), version: 1 };
    await store.update(journey, (one) => ({ journey: step(one, 'waiting', askedAt, { campaign }), trace: [] }));
    await store.update(`${id}.1`, (one) => ({ journey: step(one, 'asked', askedAt, { askedAt }), trace: [] }));
    if (answer)
      await store.update(`${id}.1`, (one) => ({
        journey: step(one, 'answered', answer.seenAt, { answer }),
        trace: [],
      }));
  };
  await asked('a', 12, '2026-05-04T06:10:00Z', '2026-05-05T09:00:00Z');
  await asked('b', 12, '2026-05-06T06:50:00Z');
  await asked('c', 13, '2026-05-06T06:20:00Z', '2026-05-07T09:00:00Z');
  await asked('d', 12, '2026-05-06T20:59:59Z', '2026-05-06T21:30:00Z');
  // The evening before the period begins there.
  await asked('e', 12, '2026-04-30T20:30:00Z', '2026-05-01T09:00:00Z');
  const source = { name: store.source, storedAs: store.source, store, timeZone, defaultCountry: undefined };
  const { byCampaign, byHour, hours } = await storedCounts([source], period, { timeZone, now });
  expect(byHour).toEqual([
    { hour: 9, asked: 3, responses: 2 },
    { hour: 23, asked: 1, responses: 1 },
  ]);
  const [byEmail, byText] = [
    [
      { hour: 9, asked: 2, responses: 1 },
      { hour: 23, asked: 1, responses: 1 },
    ],
    [{ hour: 9, asked: 1, responses: 1 }],
  ];
  const sms = [13, 'sms'] as const;
  expect(byChannel(hours, new Map([[12, 'email'], sms]))).toEqual([
    { channel: 'email', hours: byEmail },
    { channel: 'sms', hours: byText },
  ]);
  expect(byChannel(hours, new Map([sms]))).toEqual([
    { channel: 'unknown', hours: byEmail },
    { channel: 'sms', hours: byText },
  ]);
  expect(byChannel(hours, new Map([[12, 'sms'], sms]))).toEqual([{ channel: 'sms', hours: byHour }]);
  expect(Object.fromEntries(byCampaign)).toEqual({
    12: { asked: 3, answered: 3, responses: 2 },
    13: { asked: 1, answered: 1, responses: 1 },
  });
  expect(await storedCounts([source], period, { timeZone, now, campaign: 13 })).toEqual({
    byCampaign,
    byHour: byText,
    hours: hours.filter(({ campaign }) => campaign === 13),
  });
  const found = async (filter: object) =>
    (await findAnswers([source], filter, { size: 10, most: 10 })).found.map(({ journey }) => journey.recordId);
  expect(await found({})).toEqual(['c', 'd', 'a', 'e']);
  expect(await found({ until: new Date('2026-05-06T21:30:00Z'), since: new Date('2026-05-01T09:00:00Z') })).toEqual([
    'a',
    'e',
  ]);
});
