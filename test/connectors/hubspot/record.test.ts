import { expect, test } from 'vitest';
import { localeOf, timeZoneOf } from '../../../connectors/hubspot/record.ts';

test.each([
  ['pt-br', 'pt-BR'],
  ['en_us', 'en-US'],
  ['et', 'et'],
  ['not a language', undefined],
  [null, undefined],
])('the locale of %j is %j', (language, expected) => {
  const contact = {
    id: '1',
    email: null,
    phone: null,
    mobilePhone: null,
    firstName: null,
    lastName: null,
    timeZone: null,
    properties: {},
  };
  expect(localeOf({ ...contact, language })).toBe(expected);
});

test.each([
  ['us_slash_eastern', 'America/New_York'],
  ['europe_slash_tallinn', 'Europe/Tallinn'],
  ['Europe/Tallinn', 'Europe/Tallinn'],
  ['utc', 'UTC'],
  ['mars_slash_olympus', undefined],
  ['', undefined],
  [null, undefined],
])('the zone of %j is %j', (code, expected) => expect(timeZoneOf(code)).toBe(expected));
