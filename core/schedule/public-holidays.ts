import Holidays, { type HolidaysTypes } from 'date-holidays';
import type { HolidayCalendar, PlaceHolidays } from './holidays.ts';
import { dateText, dayMs } from './wall-clock.ts';

/*
 * The only file that loads `date-holidays`, which is an optional package. Only holidays of its type "public" count: no observances, and
 * no days on which only banks, schools or some people are free. A day is a holiday if it is a holiday at noon: a half-day holiday that
 * begins by noon counts as a whole day; an evening does not count, also not the evening on which a Muslim or Jewish holiday begins.
 */

/** Holidays are calculated in wall-clock time, read as UTC. */
const asWritten = { timezone: 'UTC' };

export function publicHolidays(): HolidayCalendar {
  const countries = countryNames();
  const places = new Map<string, PlaceHolidays>();
  return {
    of(country, written) {
      if (countries[country] === undefined) return undefined;
      const region = regionOf(country, written);
      const place = region === undefined ? country : `${country}-${region}`;
      const found = places.get(place) ?? holidaysIn(place, country, region);
      places.set(place, found);
      return found;
    },
  };
}

/** The English names of the countries whose holidays are known, by ISO code. */
export function countryNames(): Readonly<Record<string, string>> {
  return new Holidays().getCountries('en');
}

/** The names of a country's regions that have holidays of their own, by code, in `language` where the region has a name in that language. */
export function regionNames(country: string, language = 'en'): Readonly<Record<string, string>> {
  // The package returns undefined where there are no regions, against its types.
  return new Holidays().getStates(country, language) ?? {};
}

const namesOf = new Map<string, readonly [code: string, name: string][]>();

/** Each region of a country with its name in the country's languages and in English: collected once, as that takes half a millisecond. */
function regionsOf(country: string): readonly [code: string, name: string][] {
  const known = namesOf.get(country);
  if (known) return known;
  const languages = [...new Holidays(country).getLanguages(), 'en'];
  const found = languages.flatMap((language) => Object.entries(regionNames(country, language)));
  namesOf.set(country, found);
  return found;
}

/** The code of a region that was written as its code ("BY", "DE-BY"), or by its name in a language of the country or in English. */
export function regionOf(country: string, written: string | undefined): string | undefined {
  const text = written?.trim().toLowerCase() ?? '';
  if (text === '') return undefined;
  const code = text.replace(new RegExp(`^${country.toLowerCase()}-`), '');
  return regionsOf(country).find(([known, name]) => known.toLowerCase() === code || name.toLowerCase() === text)?.[0];
}

function holidaysIn(place: string, country: string, region: string | undefined): PlaceHolidays {
  const rules = region === undefined ? new Holidays(country, asWritten) : new Holidays(country, region, asWritten);
  const years = new Map<number, Map<string, string>>();
  return {
    place,
    on(date) {
      const year = Number(date.slice(0, 4));
      const names = years.get(year) ?? new Map([year - 1, year].flatMap((one) => daysOf(rules.getHolidays(one, 'en'))));
      years.set(year, names);
      return names.get(date);
    },
  };
}

/** Each day that is a public holiday at noon, with the holiday's name. */
function daysOf(holidays: readonly HolidaysTypes.Holiday[]): [string, string][] {
  return holidays.flatMap(({ start, end, type, name }) => {
    if (type !== 'public') return [];
    const [first, next] = [firstNoon(start), firstNoon(end)];
    return Array.from({ length: next - first }, (_, i): [string, string] => [dateText(first + i), name]);
  });
}

/** The first day (since 1 January 1970) whose noon is not before this instant. */
function firstNoon(at: Date): number {
  return Math.ceil(at.getTime() / dayMs - 0.5);
}
