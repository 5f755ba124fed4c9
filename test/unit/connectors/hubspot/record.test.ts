import { describe, expect, test } from 'vitest';
import { recordNames } from '../../../../connectors/hubspot/objects.ts';
import { localeOf, timeZoneOf } from '../../../../connectors/hubspot/record.ts';

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
    country: null,
    region: null,
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

describe('a record as people write it', () => {
  const both = recordNames(['ticket', 'deal']);
  const rows: [written: string, record: string | undefined][] = [
    ['deal-7', 'deal-7'],
    ['deal:7', 'deal-7'],
    ['Deal 7', 'deal-7'],
    ['deals/7', 'deal-7'],
    ['0-3/7', 'deal-7'],
    ['0-5-7', 'ticket-7'],
    ['https://app-eu1.hubspot.com/contacts/123/record/0-3/7?interaction=note', 'deal-7'],
    ['https://app.hubspot.com/contacts/123/ticket/541935488729/', 'ticket-541935488729'],
    ['7', undefined],
    ['contact-7', undefined],
    ['0-1/7', undefined],
    ['deal-', undefined],
    ['deal-7; drop', undefined],
  ];
  test.each(rows)('%s is %s (audit 37)', (written, record) => {
    expect(both.parse(written)).toBe(record);
  });

  test('the bare number is enough where the source has one kind of records (audit 37)', () => {
    expect(recordNames(['deal']).parse('7')).toBe('deal-7');
    expect(recordNames(['deal']).parse('ticket-7')).toBeUndefined();
    expect([recordNames(['deal']).like, both.like]).toEqual([
      'deal-7, or as its address in HubSpot',
      'ticket-7 or deal-7, or as its address in HubSpot',
    ]);
  });
});
