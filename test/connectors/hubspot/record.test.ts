import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lastClosing, localeOf } from '../../../connectors/hubspot/record.ts';

const closedStages = new Set(['4', '5']);
const isClosed = (stage: string) => closedStages.has(stage);
const at = (hour: number) => new Date(Date.UTC(2026, 10, 21, hour));
/** Newest first, as HubSpot lists it. */
const history = (...stages: [stage: string, hour: number][]) =>
  stages.map(([value, hour]) => ({ value, at: at(hour) })).reverse();

describe('the closing', () => {
  const rows: [name: string, changes: ReturnType<typeof history>, expected: Date | undefined][] = [
    ['is the move from open to closed', history(['1', 1], ['4', 2]), at(2)],
    ['stays when a closed record moves to another closed stage', history(['1', 1], ['4', 2], ['5', 3]), at(2)],
    ['is a new one after reopening', history(['1', 1], ['4', 2], ['1', 3], ['5', 4]), at(4)],
    ['is the creation of a record born closed', history(['4', 1]), at(1)],
    ['is none while the record is open', history(['1', 1], ['4', 2], ['1', 3]), undefined],
    ['is none without history', [], undefined],
    ['comes after an opening of the same instant', history(['4', 1], ['1', 2], ['4', 2]), at(2)],
    ['counts a deleted stage as open', history(['999', 1], ['4', 2]), at(2)],
  ];
  test.each(rows)('%s', (_, changes, expected) => expect(lastClosing(changes, isClosed)).toEqual(expected));

  test('does not depend on the order of the list, nor on moves between closed stages', () => {
    const changes = fc.uniqueArray(fc.record({ value: fc.constantFrom('1', '2', '4', '5'), hour: fc.nat(10_000) }), {
      selector: ({ hour }) => hour,
      minLength: 1,
    });
    fc.assert(
      fc.property(changes, fc.nat(), (some, seed) => {
        const list = some.map(({ value, hour }) => ({ value, at: at(hour) }));
        const turned = [...list.slice(seed % list.length), ...list.slice(0, seed % list.length)];
        const merged = list.map(({ value, at }) => ({ value: isClosed(value) ? '4' : '1', at }));
        const expected = lastClosing(list, isClosed);
        expect(lastClosing(turned, isClosed)).toEqual(expected);
        expect(lastClosing(merged, isClosed)).toEqual(expected);
      }),
    );
  });
});

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
    properties: {},
  };
  expect(localeOf({ ...contact, language })).toBe(expected);
});
