import { describe, expect, test } from 'vitest';
import { countryCode, countryOf, regionCode } from '../../../../core/schedule/countries.ts';
import { clocksOf } from '../../../../core/schedule/country-clocks.ts';
import { type PlaceHints, recipientPlace } from '../../../../core/schedule/recipient-place.ts';
import { regionNames, regionZones } from '../../../../core/schedule/region-zones.ts';

describe("the recipient's zone", () => {
  const ofAddress = "from the address's country";
  const german = `Europe/Berlin, ${ofAddress} (DE)`;
  test.each<[hints: PlaceHints, why: string]>([
    [{ timeZone: 'Asia/Tokyo', country: 'DE', phoneCountry: 'EE' }, 'Asia/Tokyo, from the record'],
    [{ country: 'Germany', phoneCountry: 'EE' }, german],
    [{ country: 'US', region: 'California', phoneCountry: 'EE' }, `America/Los_Angeles, ${ofAddress} (US, CA)`],
    // Where nearly everybody lives in a region of two.
    [{ country: 'usa', region: 'US-TX' }, `America/Chicago, ${ofAddress} (US, TX)`],
    // The country of the address has several clocks, that of the phone one.
    [{ country: 'US', phoneCountry: 'EE' }, "Europe/Tallinn, from the phone's country (EE)"],
    // Written so, a zone names no place.
    ...['+02:00', '-0530', 'Z', '2026-01-01T00:00+02:00[Asia/Tokyo]'].map((timeZone): [PlaceHints, string] => [
      { timeZone, country: 'DE' },
      german,
    ]),
  ])('of %j is %s', (hints, why) => {
    const [zone] = why.split(',');
    expect(recipientPlace(hints, 'Europe/Riga')).toMatchObject({ zone, why: `zone ${why}` });
  });

  test.each<[hints: PlaceHints, why: string]>([
    [{ phoneCountry: 'US' }, ", as the phone's country (US) has 8"],
    [{ timeZone: 'Mordor', country: 'Middle-earth' }, ''],
  ])("of %j is the account's", (hints, why) => {
    const told = `the recipient's zone is not known${why}: the account's, Europe/Riga`;
    expect(recipientPlace(hints, 'Europe/Riga')).toMatchObject({ zone: 'Europe/Riga', why: told });
  });

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
