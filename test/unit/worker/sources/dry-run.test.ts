import { expect, test } from 'vitest';
import { type DrySpan, spanNow } from '../../../../worker/sources/dry-run.ts';

const at = (time: string) => new Date(`2026-11-${time}:00Z`);
const span = (from: string, until: string): DrySpan => ({ from: at(from), until: at(until) });

const rows: [
  what: string,
  before: DrySpan | undefined,
  startedAt: string,
  inEarnestAt: string | undefined,
  now: string,
  after: DrySpan | undefined,
][] = [
  ['begins with the dry run', undefined, '16T09:00', undefined, '16T09:00', span('16T09:00', '16T09:00')],
  ['goes on', span('16T09:00', '18T09:00'), '16T09:00', undefined, '18T09:01', span('16T09:00', '18T09:01')],
  [
    'goes on after a pause',
    span('16T09:00', '18T09:00'),
    '20T09:00',
    undefined,
    '20T09:00',
    span('16T09:00', '20T09:00'),
  ],
  [
    'stays while a process runs in earnest',
    span('16T09:00', '18T09:00'),
    '16T09:00',
    '23T09:00',
    '23T09:01',
    span('16T09:00', '18T09:00'),
  ],
  ['is none beside a process in earnest', undefined, '16T09:00', '23T09:00', '23T09:01', undefined],
  ['is none during a short outage in earnest', undefined, '16T09:00', '23T09:00', '23T09:59', undefined],
  [
    'begins anew where the processes in earnest have gone',
    undefined,
    '16T09:00',
    '23T09:00',
    '23T10:00',
    span('23T09:00', '23T10:00'),
  ],
  ['begins no earlier than the dry run', undefined, '23T12:00', '20T09:00', '23T12:01', span('23T12:00', '23T12:01')],
  [
    'replaces one of before',
    span('16T09:00', '18T09:00'),
    '16T09:00',
    '23T09:00',
    '23T10:00',
    span('23T09:00', '23T10:00'),
  ],
  [
    'goes on where nobody came back',
    span('23T09:00', '23T10:00'),
    '16T09:00',
    '23T09:00',
    '23T10:01',
    span('23T09:00', '23T10:01'),
  ],
];

test.each(rows)('the time in which a source ran only dry %s', (_, before, startedAt, inEarnestAt, now, after) => {
  const about = {
    now: at(now),
    startedAt: at(startedAt),
    inEarnestAt: inEarnestAt === undefined ? undefined : at(inEarnestAt),
  };
  expect(spanNow(before, about)).toEqual(after);
});
