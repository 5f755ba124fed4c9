import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allZones,
  anywhere,
  bothOf,
  type Case,
  casesAround,
  changes,
  changesOnQuarters,
  minuteMs,
  ofCore,
  openAt,
} from '../../../support/core/schedule-oracle.ts';

/** All zones: test/system/send-times, in `npm run test:long`. */
const some = allZones.filter((_, i) => i % 6 === 0);

const agrees = (one: Case) => {
  const { core, oracle } = bothOf(one);
  expect(core).toBe(oracle);
};

describe('nextSendTime', () => {
  test('gives the first open minute, with the hours of text messages, holidays and zones of recipients', () => {
    fc.assert(fc.property(casesAround(anywhere), agrees), { numRuns: 40 });
    fc.assert(fc.property(casesAround(anywhere, 15), agrees), { numRuns: 300 });
  });

  test('gives it around clock changes of ten years', () => {
    for (const zone of some) {
      expect(changesOnQuarters(zone)).toBe(true);
      const place = fc.constantFrom(...changes(zone)).map((around) => ({ zone, around }));
      fc.assert(fc.property(casesAround(place, 15), agrees), { numRuns: 8 });
    }
  });

  test('gives the same instant when asked again at that instant', () => {
    fc.assert(
      fc.property(casesAround(anywhere, 15), (one) => {
        const time = ofCore(one);
        fc.pre(time !== undefined);
        expect(time.at.getTime()).toBeGreaterThanOrEqual(one.now);
        expect(ofCore({ ...one, now: time.at.getTime() })?.at).toStrictEqual(time.at);
      }),
      { numRuns: 300 },
    );
  });

  test('says when that time ends: open until then, closed at it', () => {
    fc.assert(
      fc.property(casesAround(anywhere), (one) => {
        const time = ofCore(one);
        if (time?.until === undefined) return;
        const aheadMs = one.serviceAddsDelay ? 45 * minuteMs : 0;
        const isOpen = openAt(one);
        const [at, until] = [time.at.getTime() + aheadMs, time.until.getTime() + aheadMs];
        for (let minute = at; minute < Math.min(until, at + 1_440 * minuteMs); minute += 7 * minuteMs) {
          expect(isOpen(minute)).toBe(true);
        }
        expect(isOpen(until - 1)).toBe(true);
        expect(isOpen(until)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test('never lets a text message out of its hours, on any clock that may be the recipient’s, whatever the rest says', () => {
    const texts = casesAround(anywhere).filter(({ sms }) => sms !== undefined);
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 0, max: 3 * 86_400_000 }), { maxLength: 3 }), (one, late) => {
        // Each look at the time comes as late as it may, as after an outage, and asks only when it says now.
        let now = one.now;
        for (const lateMs of [...late, 0, 0]) {
          const time = ofCore({ ...one, now });
          if (time === undefined) return;
          if (time.at.getTime() > now) {
            now = time.at.getTime() + lateMs;
            continue;
          }
          const message = now + (one.serviceAddsDelay ? 45 * minuteMs : 0);
          expect(openAt({ ...one, rule: undefined, holidays: undefined, campaign: always })(message)).toBe(true);
          return;
        }
      }),
      { numRuns: 150 },
    );
  });
});

const always = { from: 0, until: 0, days: [0, 1, 2, 3, 4, 5, 6] };
