import Holidays, { type HolidaysTypes } from 'date-holidays';
import type { HolidayCalendar, PlaceHolidays } from './holidays.ts';
import { dateText, dayMs } from './wall-clock.ts';

/*
 * The only file that loads `date-holidays`, which is an optional package. Only holidays of its type "public" count: no observances, and
 * no days on which only banks, schools or some people are free. A day is a holiday where it is one at noon: half a day that
 * begins by then counts whole, an evening doesn't, nor does the one on which a Muslim or Jewish holiday begins.
 */

/** What the clock on the wall says, wherever that is, is read as UTC. */
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

/** Countries whose holidays are known: by ISO code, in English. */
export function countryNames(): Readonly<Record<string, string>> {
  return new Holidays().getCountries('en');
}

/** Regions of a country that have holidays of their own: by code, in `language` where there is a name in it. */
export function regionNames(country: string, language = 'en'): Readonly<Record<string, string>> {
  // None is undefined, whatever the package's types say.
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

/** Each day at whose noon it is a public holiday, with its name. */
function daysOf(holidays: readonly HolidaysTypes.Holiday[]): [string, string][] {
  return holidays.flatMap(({ start, end, type, name }) => {
    if (type !== 'public') return [];
    const [first, next] = [firstNoon(start), firstNoon(end)];
    return Array.from({ length: next - first }, (_, i): [string, string] => [dateText(first + i), name]);
  });
}

/** The first day (since 1 January 1970) whose noon is not before this. */
function firstNoon(at: Date): number {
  return Math.ceil(at.getTime() / dayMs - 0.5);
}
