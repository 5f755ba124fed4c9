import { describe, expect, test } from 'vitest';
import { type LastAsked, takenBack, withoutJourney } from '../../../../worker/journey/last-asked.ts';

const on = (day: number, journey: string) => ({ at: new Date(Date.UTC(2026, 10, day)), journey });
const note = (day: number, journey: string, ...earlier: ReturnType<typeof on>[]): LastAsked => ({
  ...on(day, journey),
  ...(earlier.length > 0 && { earlier }),
});

describe('a note without the requests of a journey', () => {
  const rows: [name: string, of: LastAsked, expected: LastAsked | undefined][] = [
    ['is the note before it', note(9, 'a', on(3, 'b'), on(1, 'c')), { ...on(3, 'b'), earlier: [on(1, 'c')] }],
    ['is none where it was the only one', note(9, 'a'), undefined],
    ['loses an earlier request', note(9, 'b', on(3, 'a'), on(1, 'c')), note(9, 'b', on(1, 'c'))],
  ];
  test.each(rows)('%s', (_, of, expected) => expect(withoutJourney(of, 'a')).toEqual(expected));

  test('is the same object where the journey has none', () => {
    const other = note(9, 'b', on(1, 'c'));
    expect(withoutJourney(other, 'a')).toBe(other);
  });
});

describe('a note that a journey takes back', () => {
  const before = note(3, 'b', on(1, 'c'));
  const own = note(9, 'a', on(3, 'b'), on(1, 'c'));
  const rows: [name: string, last: LastAsked, expected: LastAsked | undefined][] = [
    ['leaves the note before it', own, before],
    ['leaves what another journey has noted since', note(10, 'd', on(9, 'a'), on(3, 'b')), note(10, 'd', on(3, 'b'))],
    ['leaves a later note of the same journey', note(10, 'a', on(3, 'b')), note(10, 'a', on(3, 'b'))],
    [
      'leaves a request that was added to it',
      note(9, 'a', on(8, 'd'), on(3, 'b'), on(1, 'c')),
      note(8, 'd', on(3, 'b'), on(1, 'c')),
    ],
  ];
  test.each(rows)('%s', (_, last, expected) => expect(takenBack(last, own, before)).toEqual(expected));
});
