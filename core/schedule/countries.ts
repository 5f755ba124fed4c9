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
  const text = written?.trim().toLowerCase() ?? '';
  return regionNames(country).get(text.replace(new RegExp(`^${country.toLowerCase()}-`), ''));
}

/** The country with this zone; undefined where no country or several countries have it. */
export function countryOf(zone: string): string | undefined {
  return zoneCountries().get(new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone);
}

/** Names that people write and CLDR does not have. */
const otherNames = { usa: 'US', 'u.s.a.': 'US', 'u.s.': 'US', 'u.k.': 'GB', 'great britain': 'GB', england: 'GB' };
const ofCodes = new Map<string, string | undefined>();

/** The country of a code. A code without a time zone is no country: ZZ ("unknown region"), EU. Some countries have two codes, like GB and UK. */
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

/** Codes by English name in small letters. Some codes may be of no country, as looking up the zones of all codes would take 150 ms. */
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
