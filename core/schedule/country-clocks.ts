import { Temporal } from 'temporal-polyfill';
import { zonesIn } from './countries.ts';
import { regionZones } from './region-zones.ts';

/** The zones of a country, or of one of its regions, that may be a customer's zone. */
export interface Clocks {
  /** The zone of nearly everybody there; undefined where people live in several zones. */
  zone: string | undefined;
  /** One zone for each clock that differs from the others. */
  zones: readonly [string, ...string[]];
}

const ofPlaces = new Map<string, Clocks | undefined>();

/** @param country as `countryCode` returns it @param region as `regionCode` returns it */
export function clocksOf(country: string, region?: string): Clocks | undefined {
  const key = `${country}-${region ?? ''}`;
  if (!ofPlaces.has(key)) ofPlaces.set(key, findClocks(country, region));
  return ofPlaces.get(key);
}

function findClocks(country: string, region: string | undefined): Clocks | undefined {
  const ofRegion = region === undefined ? undefined : regionZones(country, region);
  const [first, ...others] = differing(ofRegion ?? zonesIn(country));
  if (first === undefined) return undefined;
  // The first zone of a region is the zone of nearly everybody there.
  return { zone: others.length === 0 || ofRegion ? first : undefined, zones: [first, ...others] };
}

/** The first of each group of zones whose clocks agree in these ten years: a new law about clocks changes zones, not borders. */
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
