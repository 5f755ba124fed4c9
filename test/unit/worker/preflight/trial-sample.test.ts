import { expect, test } from 'vitest';
import type { SourceEvent } from '../../../../core/connector/contract.ts';
import { sampleOf } from '../../../../worker/preflight/trial.ts';

const event = (recordId: string, minute: number, kind: 'closed' | 'changed' = 'closed'): SourceEvent => ({
  kind,
  recordId,
  at: new Date(Date.UTC(2026, 10, 21, 9, minute)),
  key: `${recordId} ${minute}`,
  what: 'poll',
});
const many = (kind: string, count: number, from: number) =>
  Array.from({ length: count }, (_, i) => event(`${kind}-${i}`, from + i));
const recordKind = (id: string) => id.split('-')[0];

test.each<[what: string, events: SourceEvent[], expected: Record<string, number>]>([
  [
    'both kinds, where one has many more and later closings',
    [...many('ticket', 60, 0), ...many('deal', 200, 90)],
    { deal: 25, ticket: 25 },
  ],
  [
    'all that one kind has, and of the other what is left',
    [...many('deal', 200, 0), ...many('ticket', 3, 0)],
    { deal: 47, ticket: 3 },
  ],
  ['one kind alone where there is no other', many('deal', 200, 0), { deal: 50 }],
  [
    'what there is, where that is little',
    [event('deal-1', 0), event('deal-1', 5), event('ticket-1', 3)],
    { deal: 1, ticket: 1 },
  ],
  ['no record that did not close', [event('deal-1', 0, 'changed')], {}],
])('the sample of closings holds %s', (_what, events, expected) => {
  const sample = sampleOf(events, { recordKind });
  const counts = Object.fromEntries([...Map.groupBy(sample, recordKind)].map(([kind, ids]) => [kind, ids.length]));
  expect(counts).toEqual(expected);
  expect(new Set(sample).size).toBe(sample.length);
});

test('the sample holds the latest closings, whatever the order in which they are listed', () => {
  const events = many('ticket', 60, 0);
  const latest = events.slice(-50).map((one) => ('recordId' in one ? one.recordId : ''));
  for (const listed of [events, events.toReversed()])
    expect(sampleOf(listed, {}).toSorted()).toEqual(latest.toSorted());
});
