import { expect, test } from 'vitest';
import { type Comparison, compareValues } from '../../../../worker/pipeline/ask/find-request.ts';

const rows: [what: string, ours: Record<string, string | number | boolean>, shown: object, is: Comparison][] = [
  ['the same text', { Store: 'Tallinn' }, { Store: 'Tallinn' }, 'same'],
  ['a text in other letters and spaces', { Store: 'Tallinn  1' }, { Store: ' TALLINN 1' }, 'same'],
  ['another text', { Store: 'Tallinn' }, { Store: 'Riga' }, 'other'],
  ['one of two texts', { Store: 'Tallinn', Agent: 'Anna' }, { Store: 'Tallinn', Agent: 'Otto' }, 'other'],
  ['a field that is not shown', { Store: 'Tallinn' }, {}, 'nothing to compare'],
  ['a field of a name that every object has', { constructor: 'Tallinn', valueOf: 'x' }, {}, 'nothing to compare'],
  ['a field without a value', { Store: 'Tallinn' }, { Store: null }, 'nothing to compare'],
  ['one field of two', { Store: 'Tallinn', Agent: 'Anna' }, { Store: 'Tallinn' }, 'same'],
  ['a number in a text', { Visits: 3 }, { Visits: '3.0' }, 'same'],
  ['another number', { Visits: 3 }, { Visits: 4 }, 'other'],
  ['a number that is empty', { Visits: 0 }, { Visits: ' ' }, 'other'],
  ['Yes for true', { VIP: true }, { VIP: 'Yes' }, 'same'],
  ['1 for true', { VIP: true }, { VIP: 1 }, 'same'],
  ['No for true', { VIP: true }, { VIP: 'No' }, 'other'],
  ['false', { VIP: false }, { VIP: false }, 'same'],
  ['the same date', { Day: '2026-11-21' }, { Day: '2026-11-21' }, 'same'],
  ['a date in another form', { Day: '2026-11-21' }, { Day: '21.11.2026' }, 'nothing to compare'],
  ['a time in another form', { At: '09:30' }, { At: '9.30' }, 'nothing to compare'],
  ['a value of an unknown shape', { Store: 'Tallinn' }, { Store: { id: 4 } }, 'nothing to compare'],
];
test.each(rows)('values that the service shows are compared with ours: %s (audit 10)', (_, ours, shown, is) => {
  expect(compareValues(ours, { ...shown })).toBe(is);
});

test('a journey without values has nothing to compare (audit 10)', () => {
  expect(compareValues(undefined, { Store: 'Riga' })).toBe('nothing to compare');
});
