import { describe, expect, test } from 'vitest';
import { countryCode, countryOf, regionCode } from '../../../../core/schedule/countries.ts';
import { clocksOf } from '../../../../core/schedule/country-clocks.ts';
import { type PlaceHints, recipientPlace } from '../../../../core/schedule/recipient-place.ts';
import { regionNames, regionZones } from '../../../../core/schedule/region-zones.ts';

describe("the recipient's zone", () => {
  const rows: [name: string, hints: PlaceHints, zone: string, why: string][] = [
    [
      "is the record's own, whatever else is known",
      { timeZone: 'Asia/Tokyo', country: 'DE', phoneCountry: 'EE' },
      'Asia/Tokyo',
      'zone Asia/Tokyo, from the record',
    ],
    [
      "is else the address's country's",
      { country: 'Germany', phoneCountry: 'EE' },
      'Europe/Berlin',
      "zone Europe/Berlin, from the address's country (DE)",
    ],
    [
      "is that of the address's region",
      { country: 'US', region: 'California', phoneCountry: 'EE' },
      'America/Los_Angeles',
      "zone America/Los_Angeles, from the address's country (US, CA)",
    ],
    [
      'is where nearly everybody lives in a region of two',
      { country: 'usa', region: 'US-TX' },
      'America/Chicago',
      "zone America/Chicago, from the address's country (US, TX)",
    ],
    [
      "is else the phone's country's, where that has one clock",
      { country: 'US', phoneCountry: 'EE' },
      'Europe/Tallinn',
      "zone Europe/Tallinn, from the phone's country (EE)",
    ],
    [
      "is else the account's",
      { phoneCountry: 'US' },
      'Europe/Riga',
      "the recipient's zone is not known, as the phone's country (US) has 8: the account's, Europe/Riga",
    ],
    ...['+02:00', '-0530', 'Z', '2026-01-01T00:00+02:00[Asia/Tokyo]'].map(
      (timeZone): [string, PlaceHints, string, string] => [
        `is not the record's where that names no place: ${timeZone}`,
        { timeZone, country: 'DE' },
        'Europe/Berlin',
        "zone Europe/Berlin, from the address's country (DE)",
      ],
    ),
    [
      "is the account's where nothing is known",
      { timeZone: 'Mordor', country: 'Middle-earth' },
      'Europe/Riga',
      "the recipient's zone is not known: the account's, Europe/Riga",
    ],
  ];
  for (const [name, hints, zone, why] of rows) {
    test(name, () => expect(recipientPlace(hints, 'Europe/Riga')).toMatchObject({ zone, why }));
  }

  test('may be any of its country, so far as night goes', () => {
    expect(recipientPlace({ phoneCountry: 'ES' }, 'Europe/Riga').zones).toHaveLength(2);
    expect(recipientPlace({ country: 'US', region: 'FL' }, 'Europe/Riga').zones).toStrictEqual([
      'America/New_York',
      'America/Chicago',
    ]);
    expect(recipientPlace({}, 'Europe/Riga').zones).toStrictEqual(['Europe/Riga']);
  });
});

describe('a country', () => {
  test.each([
    ['EE', 'EE'],
    ['ee ', 'EE'],
    ['Estonia', 'EE'],
    ['UK', 'GB'],
    ['United States', 'US'],
    ['EU', undefined],
    ['ZZ', undefined],
    ['', undefined],
    ['Atlantis', undefined],
  ])('written %j is %s', (written, code) => expect(countryCode(written)).toBe(code));

  test('whose zones agree has one clock', () => {
    expect(clocksOf('DE')).toStrictEqual({ zone: 'Europe/Berlin', zones: ['Europe/Berlin'] });
    expect(clocksOf('CN')?.zones).toHaveLength(2);
    expect(clocksOf('XX')).toBeUndefined();
  });

  test.each([
    ['Europe/Tallinn', 'EE'],
    ['Asia/Kolkata', 'IN'],
    ['UTC', undefined],
  ])('of zone %s is %s', (zone, country) => expect(countryOf(zone)).toBe(country));
});

describe('a region', () => {
  test('has zones of its country alone, the first of which is its own', () => {
    for (const country of ['US', 'CA', 'AU']) {
      const territories = country === 'US' ? ['US', 'AS', 'GU', 'MP', 'PR', 'VI'] : [country];
      const offered = new Set(territories.flatMap((one) => new Intl.Locale(`und-${one}`).getTimeZones() ?? []));
      const canonical = (zone: string) => new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
      const codes = new Set(regionNames(country).values());
      expect(codes.size).toBeGreaterThan(7);
      for (const code of codes) {
        const zones = regionZones(country, code) ?? [];
        expect(zones.length).toBeGreaterThan(0);
        // Atikokan and Blanc-Sablon have had the clocks of Panama and Puerto Rico, and their names since.
        const foreign = zones.map(canonical).filter((zone) => !offered.has(zone));
        expect(foreign).toStrictEqual([]);
      }
    }
  });

  test('is known by code and name, and in these countries alone', () => {
    expect(regionCode('US', 'us-ny')).toBe('NY');
    expect(regionCode('CA', 'Quebec')).toBe('QC');
    expect(regionCode('US', 'Bavaria')).toBeUndefined();
    expect(regionCode('DE', 'BY')).toBeUndefined();
  });
});
