import { expect, test } from 'vitest';
import { Zone } from '../../../../standins/feedback/zone.ts';

const rows: [zone: string, at: string, timestamp: string][] = [
  ['America/St_Johns', '2010-11-07T02:30:59Z', '2010-11-07T00:00:59.000000-02:30'],
  ['America/St_Johns', '2010-11-07T02:31:00Z', '2010-11-06T23:01:00.000000-03:30'],
  ['Antarctica/Casey', '2022-10-01T16:00:59Z', '2022-10-02T00:00:59.000000+08:00'],
  ['Antarctica/Casey', '2022-10-01T16:01:00Z', '2022-10-02T03:01:00.000000+11:00'],
];
test('clocks that change a minute after a full hour are read right on both sides of the change', () => {
  for (const order of [rows, rows.toReversed()]) {
    const zones = new Map(order.map(([zone]) => [zone, new Zone(zone)]));
    for (const [zone, at, timestamp] of order) expect(zones.get(zone)?.timestamp(Date.parse(at))).toBe(timestamp);
  }
});
