import { expect, test } from 'vitest';
import type { z } from 'zod';
import {
  type EraseEvent,
  type ExternalGradeEvent,
  type RecordEvent,
  SourceEvent,
  type SurveyEvent,
} from '../../../../core/connector/events.ts';

/** Each schema says what its interface does, name by name: the compiler finds what differs. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : never;
const same: [
  Same<z.output<typeof SourceEvent>, SourceEvent>,
  Same<keyof z.output<typeof RecordEvent>, keyof RecordEvent>,
  Same<keyof z.output<typeof EraseEvent>, keyof EraseEvent>,
  Same<keyof z.output<typeof ExternalGradeEvent>, keyof ExternalGradeEvent>,
  Same<keyof z.output<typeof SurveyEvent>, keyof SurveyEvent>,
] = [true, true, true, true, true];
test('the types of events are those of their schemas', () => expect(same).not.toContain(false));

const happened = { at: new Date('2026-11-22T10:00:00Z'), key: 'k', what: 'closed' };
const events: SourceEvent[] = [
  { ...happened, kind: 'closed', recordId: '7', certain: true, closing: 'c', snapshot: { shape: { a: [1] } } },
  { ...happened, kind: 'changed', recordId: '7', mergedInto: '8' },
  { ...happened, kind: 'erase', personIds: ['p'], contacts: [], everybody: true },
  { ...happened, kind: 'external-grade', recordId: '7', grade: 4, comment: null },
  { ...happened, kind: 'survey', requestId: '9', answers: { q: ['a', 'b'], r: 1, s: true } },
  { ...happened, kind: 'revoked' },
];

test.each(events)('$kind comes back from a queue as it went in', (event) => {
  expect(SourceEvent.parse(JSON.parse(JSON.stringify(event)))).toStrictEqual(event);
});

test.each([
  ['another kind', { ...happened, kind: 'opened', recordId: '7' }],
  ['no record', { ...happened, kind: 'closed' }],
  ['no time', { ...happened, at: 'soon', kind: 'revoked' }],
  ['no key', { at: happened.at, what: '', kind: 'revoked' }],
  ['a grade in words', { ...happened, kind: 'external-grade', recordId: '7', grade: 'good', comment: null }],
  ['an answer that is an object', { ...happened, kind: 'survey', requestId: '9', answers: { q: {} } }],
])('what has %s is no event', (_what, event) => expect(SourceEvent.safeParse(event).success).toBe(false));
