import { regionNames } from './region-zones.ts';

/** The country (ISO 3166, "EE") that a vendor wrote as a code or by its English name; undefined for anything else. */
export function countryCode(written: string): string | undefined {
  const text = written.trim();
  if (text === '') return undefined;
  const code = /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : names().get(text.toLowerCase());
  return code === undefined ? undefined : countryOfCode(code);
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

/** The country whose zone this is; undefined where it is no country's, or several's. */
export function countryOf(zone: string): string | undefined {
  return zoneCountries().get(new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone);
}

/** Names that people write, beside those that CLDR gives. */
const otherNames = { usa: 'US', 'u.s.a.': 'US', 'u.s.': 'US', 'u.k.': 'GB', 'great britain': 'GB', england: 'GB' };
const ofCodes = new Map<string, string | undefined>();

/** A code without a clock is no country: ZZ ("unknown region"), EU. Some countries have two codes, as GB and UK. */
function countryOfCode(code: string): string | undefined {
  if (!ofCodes.has(code)) {
    const { region } = new Intl.Locale(`und-${code}`);
    ofCodes.set(code, region !== undefined && zonesIn(region).length > 0 ? region : undefined);
  }
  return ofCodes.get(code);
}

export function zonesIn(country: string): readonly string[] {
  return new Intl.Locale(`und-${country}`).getTimeZones() ?? [];
}

/** Every pair of letters that may be the code of a country, without codes that stand for another code. */
function allCodes(): string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((one) => letters.map((two) => one + two));
  return codes.filter((code) => new Intl.Locale(`und-${code}`).region === code);
}

let byName: Map<string, string> | undefined;

/** English names, in small letters → code, which need not be that of a country: to ask for the zones of all codes takes 150 ms. */
function names(): ReadonlyMap<string, string> {
  if (byName) return byName;
  byName = new Map(Object.entries(otherNames));
  const codes = allCodes();
  for (const style of ['long', 'short'] as const) {
    const shown = new Intl.DisplayNames('en', { type: 'region', style, fallback: 'none' });
    for (const code of codes) {
      const name = shown.of(code)?.toLowerCase();
      if (name !== undefined) byName.set(name, code);
    }
  }
  return byName;
}

let owners: Map<string, string | undefined> | undefined;

function zoneCountries(): ReadonlyMap<string, string | undefined> {
  if (owners) return owners;
  owners = new Map();
  for (const country of allCodes()) {
    for (const zone of zonesIn(country)) owners.set(zone, owners.has(zone) ? undefined : country);
  }
  return owners;
}
