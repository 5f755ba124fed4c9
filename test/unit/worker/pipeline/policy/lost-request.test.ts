import { expect, test } from 'vitest';
import type { ContactRecord } from '../../../../../core/feedback/schemas.ts';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import type { LastAsked } from '../../../../../worker/journey/last-asked.ts';
import { lostRequest } from '../../../../../worker/pipeline/policy/lost-request.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);
const ref = 'desk/1.1';
const journey = (attempts?: number): Journey => ({
  id: '1.1',
  source: 'desk',
  recordId: '1',
  state: 'waiting',
  receivedAt: at('10:00:01'),
  updatedAt: at('10:00:01'),
  closing: 'one',
  closedAt: at('10:00:00'),
  ...(attempts !== undefined && { attempts }),
});
type Known = Pick<ContactRecord, 'num_appeals' | 'last_appeal'> | undefined;
const asked = (time: string): Known => ({ num_appeals: 1, last_appeal: at(time) });

const here = (time: string, journey = 'shop/9.1') => ({ at: at(time), journey });
type Row = [what: string, known: Known, lastHere: LastAsked | undefined, found: Date | undefined, waiting?: Journey];
const rows: Row[] = [
  ['nobody ever asked this contact', undefined, undefined, undefined],
  ['the service has not asked yet', { num_appeals: 0, last_appeal: null }, undefined, undefined],
  ['it was asked before the closing', asked('09:57:00'), undefined, undefined],
  ['it was asked since, and nobody here knows', asked('10:05:00'), undefined, at('10:05:00')],
  ['the two clocks differ', asked('09:58:00'), undefined, at('09:58:00')],
  ['another journey has asked since', asked('10:05:00'), here('10:05:00'), undefined],
  ['another journey has asked, but before that', asked('10:05:00'), here('10:02:00'), at('10:05:00')],
  [
    'the contact was noted as asked by this journey, which does not know',
    undefined,
    here('10:04:00', ref),
    at('10:04:00'),
  ],
  [
    'another journey has asked since, which had heard from the service of one before it',
    asked('10:05:00'),
    { ...here('10:05:00'), earlier: [here('10:02:00', 'elsewhere')] },
    at('10:02:00'),
  ],
  [
    'another journey has asked since the contact was noted as asked by this one',
    asked('10:05:00'),
    { ...here('10:05:00'), earlier: [here('10:02:00', ref)] },
    at('10:02:00'),
  ],
  ['an attempt of its own came to nothing', asked('10:05:00'), here('10:04:00', ref), undefined, journey(1)],
];
test.each(rows)('a request is looked for first, or not: %s', (_, known, lastHere, found, waiting = journey()) => {
  expect(lostRequest(waiting, ref, known, lastHere)?.at).toEqual(found);
});

test('only what the contact was noted with here is more than a suspicion (audit 10)', () => {
  const noted = { at: at('10:04:00'), journey: ref };
  expect(lostRequest(journey(), ref, asked('10:05:00'), undefined)).toMatchObject({ isSuspicion: true });
  expect(lostRequest(journey(), ref, asked('10:05:00'), noted)).toMatchObject({ isSuspicion: false });
});

const searched = {
  ...{ at: at('10:03:00'), contact: 'erika@acme.ee', numAppeals: 1, lastAppeal: at('09:00:00') },
  intent: {
    token: 't',
    at: at('10:02:00'),
    campaign: 12,
    numAppeals: 1,
    lastAppeal: null,
    searchAfter: at('10:02:30'),
  },
};
const sought: Journey = { ...journey(1), contact: { kind: 'email', value: 'erika@acme.ee' }, searched };
const counted = (num_appeals: number, last: string | null): Known => ({
  num_appeals,
  last_appeal: last === null ? null : at(last),
});
const same = counted(1, '09:00:00');
const noted = (time: string, more: object = {}): LastAsked => ({ at: at(time), journey: ref, ...more });

const unasked: Journey = { ...sought, searched: { ...searched, numAppeals: 0, lastAppeal: null } };
test.each<[what: string, journey: Journey, known: Known, lastHere: LastAsked | undefined, why: RegExp | undefined]>([
  ['nothing has moved', sought, same, undefined, undefined],
  ['it was noted since as asked by this journey', sought, same, noted('10:04:00'), /noted as asked by it once more/],
  ['it was noted so before the search', sought, same, noted('10:02:00'), undefined],
  ['it was noted so at that moment', sought, same, { ...noted('10:02:00'), at: searched.at }, undefined],
  ['the service has asked nobody', sought, { num_appeals: 0, last_appeal: null }, undefined, /have moved/],
  ['… and had not before', unasked, { num_appeals: 0, last_appeal: null }, undefined, undefined],
  ['another journey was noted', sought, same, { at: at('10:04:00'), journey: 'shop/9.1' }, undefined],
  ['the count has moved', sought, counted(2, '09:00:00'), undefined, /counters at the service have moved/],
  ['the last request is another', sought, counted(1, '10:05:00'), undefined, /counters at the service have moved/],
  ['the service knows nobody any more', sought, undefined, undefined, /counters at the service have moved/],
  [
    'it goes to another contact now',
    { ...sought, contact: { kind: 'email', value: 'b@acme.ee' } },
    undefined,
    undefined,
    undefined,
  ],
  ['it has no contact any more', { ...sought, contact: undefined }, undefined, undefined, undefined],
])('a request that was looked for is looked for again, or not: %s', (_, waiting, known, lastHere, why) => {
  const found = lostRequest(waiting, ref, known, lastHere);
  const expected = { at: searched.intent.at, isSuspicion: false, sought: searched.intent };
  expect(found).toEqual(why && { ...expected, why: expect.stringMatching(why) });
});

test('what an earlier search was unsure of stays a suspicion', () => {
  const unsure = { ...sought, searched: { ...searched, intent: { ...searched.intent, isSuspicion: true } } };
  expect(lostRequest(unsure, ref, counted(2, '09:00:00'), undefined)).toMatchObject({ isSuspicion: true });
  expect(lostRequest(unsure, ref, same, noted('10:04:00'))).toMatchObject({ isSuspicion: false });
});

test.each<[what: string, lastHere: LastAsked, found: Date | undefined]>([
  ['a note that was withdrawn', noted('10:04:00', { withdrawn: true }), undefined],
  ['… but one before it', noted('10:04:00', { withdrawn: true, earlier: [noted('10:01:00')] }), at('10:01:00')],
  ['a note of a removed journey of the same number', noted('09:57:00'), undefined],
  ['a note just before, as clocks differ', noted('09:58:00'), at('09:58:00')],
])('this journey has asked by %s, or not', (_, lastHere, found) => {
  const lost = lostRequest(journey(), ref, undefined, lastHere);
  expect(lost?.at).toEqual(found);
  if (lost) expect(lost.why).toBe('its contact was noted as asked by it, which the journey does not know');
});

test('of what the service alone knows it says so', () => {
  const why = 'the service asked this contact since the closing, and no journey knows of it';
  expect(lostRequest(journey(), ref, asked('10:05:00'), undefined)).toEqual({
    at: at('10:05:00'),
    why,
    isSuspicion: true,
  });
});
