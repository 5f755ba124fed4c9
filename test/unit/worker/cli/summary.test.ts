import { expect, test } from 'vitest';
import { sentenceOf } from '../../../../worker/cli/summary.ts';

const nothing = { closings: 0, outcomes: [], forReview: { count: 0, first: [] } };

test('the sentence sums over sources and rules, and says first how many would be asked', () => {
  const outcomes = [
    { source: 'desk', what: 'throttled', reason: 'throttled' as const, count: 90 },
    { source: 'desk', what: 'would be asked', rule: 'phone', campaign: 12, count: 80 },
    { source: 'shop', what: 'would be asked', rule: 'rest', campaign: 13, count: 100 },
  ];
  expect(sentenceOf({ ...nothing, closings: 282, outcomes, forReview: { count: 12, first: [] } })).toBe(
    '282 closings: 180 would be asked, 90 throttled, 12 that you should look at',
  );
  expect(sentenceOf(nothing)).toBe('0 closings: 0 would be asked');
  expect(sentenceOf({ ...nothing, closings: 1 })).toBe('1 closing: 0 would be asked');
});
