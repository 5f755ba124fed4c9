import { Temporal } from 'temporal-polyfill';
import { regionNames, regionZones } from './region-zones.ts';

/** The country (ISO 3166, "EE") that a vendor wrote as a code or by its English name; undefined for anything else. */
export function countryCode(written: string | undefined): string | undefined {
  const text = written?.trim() ?? '';
  return /^[a-z]{2}$/i.test(text) ? countryOfCode(text.toUpperCase()) : names().get(text.toLowerCase());
}

/** The region ("CA" of the US), where this country's regions are known; undefined for anything else. */
export function regionCode(country: string, written: string | undefined): string | undefined {
  const text =
    written
      ?.trim()
      .toLowerCase()
      .replace(new RegExp(`^${country.toLowerCase()}-`), '') ?? '';
  return regionNames(country).get(text);
}

/** Zones of a country, or of one of its regions, that tell a customer's clock. */
export interface Clocks {
  /** The zone of nearly everybody there; undefined where people live by several. */
  zone: string | undefined;
  /** One zone for each clock that differs from the others. */
  zones: readonly [string, ...string[]];
}

const ofPlaces = new Map<string, Clocks | undefined>();

/** @param country as `countryCode` gives it; @param region as `regionCode` does */
export function clocksOf(country: string, region?: string): Clocks | undefined {
  const key = `${country}-${region ?? ''}`;
  if (!ofPlaces.has(key)) ofPlaces.set(key, findClocks(country, region));
  return ofPlaces.get(key);
}

function findClocks(country: string, region: string | undefined): Clocks | undefined {
  const ofRegion = region === undefined ? undefined : regionZones(country, region);
  const [first, ...others] = differing(ofRegion ?? zonesIn(country));
  if (first === undefined) return undefined;
  // A region's zones begin with the one of nearly everybody.
  return { zone: others.length === 0 || ofRegion ? first : undefined, zones: [first, ...others] };
}

/** The country whose zone this is; undefined where it is no country's, or several's. */
export function countryOf(zone: string): string | undefined {
  return zoneCountries().get(new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone);
}

/** Of zones whose clocks agree, the first. Agreement in these ten years: a new law about clocks changes zones, not borders. */
function differing(zones: readonly string[]): string[] {
  const byClock = new Map<string, string>();
  for (const zone of zones) {
    const readings = instants.map((at) => at.toZonedDateTimeISO(zone).offsetNanoseconds / 1e9).join();
    if (!byClock.has(readings)) byClock.set(readings, zone);
  }
  return [...byClock.values()];
}

const instants = Array.from({ length: 120 }, (_, i) =>
  Temporal.Instant.fromEpochMilliseconds(Date.UTC(2026, i, 1 + 14 * (i % 2))),
);

/** Names that people write, beside those that CLDR gives. */
const otherNames = { usa: 'US', 'u.s.a.': 'US', 'u.s.': 'US', 'u.k.': 'GB', 'great britain': 'GB', england: 'GB' };

const ofCodes = new Map<string, string | undefined>();

/** What has no clock is no country: ZZ ("unknown region"), EU. Some have two codes, as GB and UK. */
function countryOfCode(code: string): string | undefined {
  if (!ofCodes.has(code)) {
    const { region } = new Intl.Locale(`und-${code}`);
    ofCodes.set(code, region !== undefined && zonesIn(region).length > 0 ? region : undefined);
  }
  return ofCodes.get(code);
}

function zonesIn(country: string): readonly string[] {
  return new Intl.Locale(`und-${country}`).getTimeZones() ?? [];
}

function allCountries(): string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((one) => letters.map((two) => one + two));
  return codes.filter((code) => countryOfCode(code) === code);
}

let byName: Map<string, string> | undefined;

/** English names, in small letters → code. */
function names(): ReadonlyMap<string, string> {
  if (byName) return byName;
  byName = new Map(Object.entries(otherNames));
  for (const style of ['long', 'short'] as const) {
    const shown = new Intl.DisplayNames('en', { type: 'region', style });
    for (const code of allCountries()) byName.set(shown.of(code)?.toLowerCase() ?? code, code);
  }
  return byName;
}

let owners: Map<string, string | undefined> | undefined;

function zoneCountries(): ReadonlyMap<string, string | undefined> {
  if (owners) return owners;
  owners = new Map();
  for (const country of allCountries()) {
    for (const zone of zonesIn(country)) owners.set(zone, owners.has(zone) ? undefined : country);
  }
  return owners;
}
