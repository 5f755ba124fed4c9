import { describe, expect, test } from 'vitest';
import { publicHolidays, regionOf } from '../../../../core/schedule/public-holidays.ts';
import { type PlaceHints, recipientPlace } from '../../../../core/schedule/recipient-place.ts';
import { checkWindows, type MessageHours, nextSendTime } from '../../../../core/schedule/send-time.ts';

const calendar = publicHolidays();

describe('a public holiday', () => {
  const rows: [
    what: string,
    date: string,
    country: string,
    region: string | undefined,
    expected: string | undefined,
  ][] = [
    ['has its English name', '2026-02-24', 'EE', undefined, 'Independence Day'],
    ['is none on the day after', '2026-02-25', 'EE', undefined, undefined],
    ['moves with Easter', '2027-03-26', 'EE', undefined, 'Good Friday'],
    ['is no observance', '2026-03-14', 'EE', undefined, undefined],
    ['is no day on which only banks are closed', '2026-12-24', 'SE', undefined, undefined],
    ['is that of a region in it only', '2026-06-04', 'DE', 'BY', 'Corpus Christi'],
    ['… and not elsewhere in the country', '2026-06-04', 'DE', 'BE', undefined],
    ['… nor where the region is not known', '2026-06-04', 'DE', 'Atlantis', undefined],
    ['of the country is one in a region, too', '2026-10-03', 'DE', 'de-by', 'National Holiday'],
    ['is kept on a weekday instead', '2026-07-03', 'US', 'California', 'Independence Day (substitute day)'],
    ['is the whole day where it begins at noon', '2026-05-01', 'CH', 'SO', 'Labour Day'],
    ['is no evening', '2026-12-24', 'AU', 'QLD', undefined],
    ['does not hold on the evening on which a Muslim one begins', '2026-03-19', 'AE', undefined, undefined],
    ['may take three days', '2026-03-22', 'AE', undefined, 'End of Ramadan (Eid al-Fitr)'],
    ['ends', '2026-03-23', 'AE', undefined, undefined],
    ['begins a year', '2027-01-01', 'EE', undefined, "New Year's Day"],
  ];
  for (const [what, date, country, region, expected] of rows) {
    test(`${what}: ${date} in ${country}`, () => expect(calendar.of(country, region)?.on(date)).toBe(expected));
  }

  test('is not known of some countries', () => expect(calendar.of('KP', undefined)).toBe(undefined));

  test.each([
    ['DE', 'by', 'BY'],
    ['DE', 'DE-BY', 'BY'],
    ['DE', ' Bayern ', 'BY'],
    ['ES', 'Catalonia', 'CT'],
    ['ES', 'Cataluña', 'CT'],
    ['DE', '', undefined],
    ['EE', 'Harjumaa', undefined],
    ['US', 'constructor', undefined],
  ])('finds the region of %s that is written %j', (country, written, expected) => {
    expect(regionOf(country, written)).toBe(expected);
  });
});

describe('nobody is asked on a public holiday', () => {
  const hours: MessageHours = {
    campaign: { id: 12, sendFrom: '09:00:00', sendUntil: '20:00:00', sendDelayMinutes: null },
    accountZone: 'Europe/Tallinn',
    holidays: { calendar, country: 'EE' },
  };
  const asked = (at: string, hints: PlaceHints = {}, more: Partial<MessageHours> = {}) => {
    const now = new Date(at);
    const all = { ...hours, ...more, now, closedAt: now, delayMs: 0 };
    return nextSendTime({ ...all, recipient: recipientPlace(hints, 'Europe/Tallinn') });
  };

  test('and the trace says which, and for how long', () => {
    const { at, why } = asked('2026-02-24T10:00:00Z');
    expect(at.toISOString()).toBe('2026-02-25T07:00:00.000Z');
    expect(why).toEqual([
      "the recipient's zone is not known: the account's, Europe/Tallinn",
      'public holiday in EE: Independence Day; closed until Wed 25 Feb 00:00 Europe/Tallinn',
      'campaign 12 sends 09:00–20:00 Europe/Tallinn; closed until Wed 25 Feb 09:00',
    ]);
  });

  test('of the country of the address, before all else', () => {
    expect(asked('2026-02-24T10:00:00Z', { country: 'Latvia', phoneCountry: 'EE' }).at.toISOString()).toBe(
      '2026-02-24T10:00:00.000Z',
    );
    expect(asked('2026-11-18T10:00:00Z', { country: 'Latvia', phoneCountry: 'EE' }).why.join()).toMatch(
      'public holiday in LV: Republic Day',
    );
  });

  test('… and of its region', () => {
    const where = { country: 'DE', region: 'Bayern', timeZone: 'Europe/Berlin' };
    expect(asked('2026-06-04T10:00:00Z', where).why.join()).toMatch('public holiday in DE-BY: Corpus Christi');
  });

  test('of the phone number’s country, else of the recipient’s own zone', () => {
    expect(asked('2026-11-18T10:00:00Z', { phoneCountry: 'LV' }).why.join()).toMatch('public holiday in LV');
    expect(asked('2026-11-18T10:00:00Z', { timeZone: 'Europe/Riga' }).why.join()).toMatch('public holiday in LV');
  });

  test('of the country that the settings name where nothing tells the recipient’s', () => {
    const inBavaria = { holidays: { calendar, country: 'DE', region: 'BY' } };
    expect(asked('2026-06-04T10:00:00Z', {}, inBavaria).why.join()).toMatch('public holiday in DE-BY');
    expect(asked('2026-06-04T10:00:00Z', { country: 'DE' }, inBavaria).why.join()).not.toMatch('public holiday');
  });

  test('while it is one on any clock that may be the recipient’s', () => {
    // In Honolulu Christmas ends at 10:00 UTC.
    const { at } = asked(
      '2026-12-25T06:00:00Z',
      { phoneCountry: 'US' },
      { campaign: { ...hours.campaign, sendFrom: '00:00:00', sendUntil: '00:00:00' } },
    );
    expect(at.toISOString()).toBe('2026-12-26T10:00:00.000Z');
  });

  test('but in a country whose holidays are not known any day is taken, and the trace says so', () => {
    const { at, why } = asked('2026-02-24T10:00:00Z', { country: 'North Korea', timeZone: 'Asia/Pyongyang' });
    expect(at.toISOString()).toBe('2026-02-24T10:00:00.000Z');
    expect(why).toEqual([
      'zone Asia/Pyongyang, from the record',
      'public holidays of KP are not known: asks on any day',
    ]);
  });

  test('also where a weekly window loses several openings in a row', () => {
    const fridays = { window: { days: ['fri' as const], zone: 'account' as const } };
    const { at } = asked('2026-12-19T10:00:00Z', {}, fridays);
    expect(at.toISOString()).toBe('2027-01-08T07:00:00.000Z');
  });

  test('and a window is never called closed for good because of one', () => {
    expect(checkWindows({ ...hours, window: { days: ['tue'], zone: 'account' } })).toEqual([]);
  });
});
