import { describe, expect, test } from 'vitest';
import { nextSendTime, type RuleWindow } from '../../../../core/schedule/send-time.ts';
import { hour, inputOf, instant, type Row, saturday } from '../../../support/core/send-time-row.ts';

const at = (row: Row) => nextSendTime(inputOf(row)).at;

function table(title: string, rows: [name: string, row: Row, expected: string][]): void {
  describe(title, () => {
    for (const [name, row, expected] of rows) test(name, () => expect(at(row)).toEqual(instant(expected)));
  });
}

table('the delay', [
  ['is nothing where neither rule nor campaign has one', {}, saturday],
  ["is the rule's", { delayMs: 2 * hour, sendDelay: 30 }, '11-21T17:30'],
  ["is the campaign's where the rule has none", { sendDelay: 30 }, '11-21T16:00'],
  ["is none where the rule says so, whatever the campaign's", { delayMs: 0, sendDelay: 30 }, saturday],
  ['counts from the closing, not from now', { closedAt: '11-21T14:00', delayMs: 2 * hour }, '11-21T16:00'],
  ['is over already: now', { closedAt: '11-20T14:00', delayMs: 2 * hour }, saturday],
  ['keeps its milliseconds', { now: '2026-11-21T15:30:00.123Z', delayMs: 1 }, '2026-11-21T15:30:00.124Z'],
]);

const ofService = { sendDelay: 60, serviceAddsDelay: true };
table('with a service that adds its own delay, the request', [
  ["is made at once for the campaign's delay", ofService, saturday],
  ['waits what the rule asks beyond it', { delayMs: 3 * hour, ...ofService }, '11-21T17:30'],
  ['is made at once where the rule asks less', { delayMs: 60_000, ...ofService }, saturday],
  [
    "counts the service's delay from now",
    { closedAt: '11-21T10:00', campaign: '09:00-18:00', ...ofService },
    '11-22T06:00',
  ],
  [
    'is made for a message inside the windows',
    { now: '11-21T06:30', campaign: '09:00-20:00', ...ofService },
    '11-21T06:30',
  ],
  ['has no delay to count where the campaign has none', { delayMs: hour, serviceAddsDelay: true }, '11-21T16:30'],
]);

table("the campaign's window", [
  ['is open', { campaign: '09:00-20:00' }, saturday],
  ['opens later today', { now: '11-21T05:00', campaign: '09:00-20:00' }, '11-21T07:00'],
  ['opens tomorrow', { now: '11-21T18:30', campaign: '09:00-20:00' }, '11-22T07:00'],
  ['includes its first instant', { now: '11-21T07:00', campaign: '09:00-20:00' }, '11-21T07:00'],
  ['includes its last ms', { now: '2026-11-21T17:59:59.999Z', campaign: '09:00-20:00' }, '2026-11-21T17:59:59.999Z'],
  ['is kept to the second', { now: '2026-11-21T07:00:29Z', campaign: '09:00:30-20:00' }, '2026-11-21T07:00:30Z'],
  ['excludes its end', { now: '11-21T18:00', campaign: '09:00-20:00' }, '11-22T07:00'],
  ['is always open when it begins where it ends', { now: '11-21T01:00', campaign: '09:00-09:00' }, '11-21T01:00'],
  ['over midnight is open before midnight', { now: '11-21T21:00', campaign: '20:00-02:00' }, '11-21T21:00'],
  ['over midnight is open after midnight', { now: '11-21T23:59', campaign: '20:00-02:00' }, '11-21T23:59'],
  ['over midnight closes', { now: '11-22T00:00', campaign: '20:00-02:00' }, '11-22T18:00'],
  ['is looked at after the delay', { now: '11-21T17:00', delayMs: 2 * hour, campaign: '09:00-20:00' }, '11-22T07:00'],
]);

const weekdays: RuleWindow['days'] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const nightOf = (day: 'fri' | 'sun'): Row => ({ window: { from: '20:00', until: '02:00', days: [day] } });
table("a rule's window", [
  ['narrows the campaign', { campaign: '09:00-20:00', window: { from: '10:00', until: '17:00' } }, '11-22T08:00'],
  ['never widens it', { campaign: '09:00-17:00', window: { from: '08:00', until: '22:00' } }, '11-22T07:00'],
  ['without an end goes to midnight', { now: '11-21T22:00', window: { from: '10:00' } }, '11-22T08:00'],
  ['without a beginning starts at midnight', { window: { until: '10:00' } }, '11-21T22:00'],
  ['leaves out days', { campaign: '09:00-20:00', window: { days: weekdays } }, '11-23T07:00'],
  ['of days opens at midnight of the first', { window: { days: weekdays } }, '11-22T22:00'],
  ['on its day is open', { window: { days: ['sat'] } }, saturday],
  ['on one day waits for a week', { now: '11-21T22:00', window: { days: ['sat'] } }, '11-27T22:00'],
  [
    'over midnight goes on into Saturday if it opened on Friday',
    { now: '11-20T23:00', ...nightOf('fri') },
    '11-20T23:00',
  ],
  [
    'over midnight does not open on Friday morning for Friday',
    { now: '11-19T23:00', ...nightOf('fri') },
    '11-20T18:00',
  ],
  [
    'over midnight goes on into Monday if it opened on Sunday',
    { now: '11-22T23:00', ...nightOf('sun') },
    '11-22T23:00',
  ],
  ['that begins at its end is all day', { window: { from: '09:00', until: '09:00', days: ['sun'] } }, '11-21T22:00'],
]);

const newYork = { recipientZone: 'America/New_York' };
const fromNine: Row = { window: { from: '09:00', zone: 'recipient' } };
table("the recipient's zone", [
  ['moves the rule’s hours, not the campaign’s', { campaign: '09:00-20:00', ...fromNine, ...newYork }, saturday],
  ['is waited for', { now: '11-21T08:00', campaign: '09:00-20:00', ...fromNine, ...newYork }, '11-21T14:00'],
  ["falls back to the account's where it isn't known", { now: '11-21T05:00', ...fromNine }, '11-21T07:00'],
  [
    "falls back to the account's where it isn't a zone",
    { now: '11-21T05:00', ...fromNine, recipientZone: 'Eastern Time' },
    '11-21T07:00',
  ],
  [
    'is left alone unless the rule asks for it',
    { now: '11-21T05:00', window: { from: '09:00' }, ...newYork },
    '11-21T07:00',
  ],
  ['decides the day', { now: '11-23T02:00', window: { days: ['sun'], zone: 'recipient' }, ...newYork }, '11-23T02:00'],
]);

const day = '08:00-21:00';
const late: Row = { now: '11-21T20:00', sms: day };
table('a text message', [
  ['goes out by day', { sms: day }, saturday],
  ['waits for the morning', late, '11-22T06:00'],
  ["waits for the recipient's morning", { sms: day, phoneCountry: 'JP' }, '11-21T23:00'],
  ['waits in a wider window of the rule', { ...late, window: { from: '07:00', until: '23:00' } }, '11-22T06:00'],
  ["waits for a rule's later window", { ...late, window: { from: '11:00', zone: 'recipient' } }, '11-22T09:00'],
  ['counts from when the service sends it', { now: '11-21T18:30', sms: day, ...ofService }, '11-22T05:00'],
  [
    'to anywhere in the US goes out from 08:00 in Honolulu',
    { now: '11-21T15:30', sms: day, phoneCountry: 'US' },
    '11-21T18:00',
  ],
  ['… and until 21:00 in New York', { now: '11-22T02:00', sms: day, phoneCountry: 'US' }, '11-22T18:00'],
]);

// Tallinn: 03:00 becomes 04:00 on 29 March 2026 (01:00Z); 04:00 becomes 03:00 on 25 October 2026 (01:00Z).
table('a clock change', [
  ['that skips the opening opens at its first instant', { now: '03-29T00:00', campaign: '03:30-12:00' }, '03-29T01:00'],
  ['that skips the whole window leaves out that day', { now: '03-29T00:00', campaign: '03:15-03:45' }, '03-30T00:15'],
  [
    'that skips a weekly window skips the week',
    { now: '03-22T12:00', window: { from: '03:15', until: '03:45', days: ['sun'] } },
    '04-05T00:15',
  ],
  ['does not move an opening after it', { now: '03-29T00:00', campaign: '09:00-20:00' }, '03-29T06:00'],
  ['that repeats the opening opens the first time', { now: '10-24T23:00', campaign: '03:30-12:00' }, '10-25T00:30'],
  ['that repeats the opening closes until then', { now: '10-25T01:10', campaign: '03:30-12:00' }, '10-25T01:30'],
  ['that repeats the end opens again', { now: '10-25T00:45', campaign: '01:00-03:30' }, '10-25T01:00'],
  ['that repeats the end closes the second time', { now: '10-25T01:30', campaign: '01:00-03:30' }, '10-25T23:00'],
  ['at midnight moves none', { now: '04-23T22:10', campaign: '09:00-20:00', zone: 'Africa/Cairo' }, '04-24T06:00'],
  [
    'just before midnight opens what it skipped',
    { now: '03-28T23:30', campaign: '23:15-02:00', zone: 'America/Scoresbysund' },
    '03-29T01:00',
  ],
  ['at midnight opens the day', { now: '04-23T20:00', window: { days: ['fri'] }, zone: 'Africa/Cairo' }, '04-23T22:00'],
  [
    'at midnight opens no day before',
    { now: '04-23T22:10', window: { days: ['thu'] }, zone: 'Africa/Cairo' },
    '04-29T21:00',
  ],
  [
    'can be the last of its zone',
    { now: '2022-02-24T23:00:00Z', campaign: '09:00-20:00', zone: 'Asia/Amman' },
    '2022-02-25T06:00:00Z',
  ],
  ['of 30 minutes counts', { now: '10-03T15:15', campaign: '02:15-12:00', zone: 'Australia/Lord_Howe' }, '10-03T15:30'],
  ['lies in a delay without making it longer or shorter', { now: '03-28T22:00', delayMs: 12 * hour }, '03-29T10:00'],
]);

describe('the trace', () => {
  const why = (row: Row) => nextSendTime(inputOf(row)).why;

  test('says nothing where there is nothing to wait for', () => {
    expect(why({ campaign: '09:00-20:00' })).toStrictEqual([]);
  });

  test('names delay and windows, each in its own zone', () => {
    const window: RuleWindow = { from: '10:00', until: '16:30', days: weekdays, zone: 'recipient' };
    const row: Row = {
      now: '11-21T17:00',
      delayMs: 2 * hour,
      campaign: '09:00-20:00',
      window,
      recipientZone: 'Europe/London',
    };
    expect(why(row)).toStrictEqual([
      "the rule's delay of 2h ends Sat 21 Nov 21:00 Europe/Tallinn",
      'zone Europe/London, from the record',
      'campaign 12 sends 09:00–20:00 Europe/Tallinn; closed until Sun 22 Nov 09:00',
      'the rule sends 10:00–16:30 mon, tue, wed, thu, fri Europe/London; closed until Mon 23 Nov 10:00',
    ]);
  });

  test('says that a zone is not known, without quoting what the vendor called it', () => {
    expect(why({ window: { zone: 'recipient' }, recipientZone: 'Mordor' })).toStrictEqual([
      "the recipient's zone is not known: the account's, Europe/Tallinn",
    ]);
  });

  test('says of a text message whose clock counts', () => {
    const unknown = "the recipient's zone is not known: the account's, Europe/Tallinn";
    expect(why({ sms: day })).toStrictEqual([unknown]);
    expect(nextSendTime({ ...inputOf({ sms: day }), recipient: undefined }).why).toStrictEqual([unknown]);
  });

  test('names hours to the second where they are so, and a campaign without its id', () => {
    const input = inputOf({ now: '11-21T05:00', campaign: '09:00:30-20:00' });
    const { why } = nextSendTime({ ...input, campaign: { ...input.campaign, id: undefined } });
    expect(why).toStrictEqual(['campaign sends 09:00:30–20:00 Europe/Tallinn; closed until Sat 21 Nov 09:00:30']);
  });

  const allDay: NonNullable<Row['window']>[] = [
    { days: ['sun'] },
    { from: '09:00', until: '09:00', days: ['sun'] },
    { from: '00:00', until: '24:00', days: ['sun'] },
  ];
  test.each(allDay)('says that %o is all day', (window) => {
    expect(why({ window })).toStrictEqual([
      'the rule sends at any hour sun Europe/Tallinn; closed until Sun 22 Nov 00:00',
    ]);
  });

  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  test.each(months)('calls a month %s', (month) => {
    const now = new Date(`1 ${month} 2027 12:00 UTC`).toISOString();
    expect(why({ now, delayMs: hour, zone: 'UTC' })).toStrictEqual([
      expect.stringMatching(`^the rule's delay of 1h ends [A-Z][a-z]{2} 1 ${month} 13:00 UTC$`),
    ]);
  });

  test('says what the service waits itself', () => {
    expect(why(ofService)).toStrictEqual([
      "the campaign's delay of 1h ends Sat 21 Nov 18:30 Europe/Tallinn",
      'the service itself waits 1h after the request: message Sat 21 Nov 18:30 Europe/Tallinn',
    ]);
  });
});

describe('the end of the open time', () => {
  const until = (row: Row) => nextSendTime(inputOf(row)).until?.toISOString();
  const rows: [name: string, row: Row, expected: string | undefined][] = [
    ['is when the first of the windows closes', { campaign: '09:00-20:00', sms: day }, '2026-11-21T18:00:00.000Z'],
    ['is not known where nothing closes', {}, undefined],
    ['is earlier by what the service waits', { campaign: '09:00-20:00', ...ofService }, '2026-11-21T17:00:00.000Z'],
    ['is midnight where the next day is closed', { window: { days: ['sat'] } }, '2026-11-21T22:00:00.000Z'],
  ];
  test.each(rows)('%s', (_, row, expected) => expect(until(row)).toBe(expected));
});
