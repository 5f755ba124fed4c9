import { expect, test } from 'vitest';
import { spanNow } from '../../../../worker/sources/dry-run.ts';
import type { DrySpan } from '../../../../worker/sources/known-sources.ts';

const at = (time: string) => new Date(`2026-11-${time}:00Z`);
const span = (from: string, until: string): DrySpan => ({ from: at(from), until: at(until) });

/** `times`: when the dry run began, when a process last ran in earnest, and now. */
type Span = readonly [from: string, until: string] | undefined;
const early = ['16T09:00', '18T09:00'] as const;
const rows: [what: string, before: Span, times: string, after: Span][] = [
  ['begins with the dry run', undefined, '16T09:00 - 16T09:00', ['16T09:00', '16T09:00']],
  ['goes on', early, '16T09:00 - 18T09:01', ['16T09:00', '18T09:01']],
  ['goes on after a pause', early, '20T09:00 - 20T09:00', ['16T09:00', '20T09:00']],
  ['stays while a process runs in earnest', early, '16T09:00 23T09:00 23T09:01', early],
  ['is none beside a process in earnest', undefined, '16T09:00 23T09:00 23T09:01', undefined],
  ['is none during a short outage in earnest', undefined, '16T09:00 23T09:00 23T09:59', undefined],
  ['begins anew where those in earnest have gone', undefined, '16T09:00 23T09:00 23T10:00', ['23T09:00', '23T10:00']],
  ['begins no earlier than the dry run', undefined, '23T12:00 20T09:00 23T12:01', ['23T12:00', '23T12:01']],
  ['replaces one of before', early, '16T09:00 23T09:00 23T10:00', ['23T09:00', '23T10:00']],
  ['goes on where nobody came back', ['23T09:00', '23T10:00'], '16T09:00 23T09:00 23T10:01', ['23T09:00', '23T10:01']],
];

test.each(rows)('the time in which a source ran only dry %s', (_, before, times, after) => {
  const [startedAt = '', inEarnestAt = '', now = ''] = times.split(' ');
  const about = {
    now: at(now),
    startedAt: at(startedAt),
    inEarnestAt: inEarnestAt === '-' ? undefined : at(inEarnestAt),
  };
  expect(spanNow(before && span(...before), about)).toEqual(after && span(...after));
});
