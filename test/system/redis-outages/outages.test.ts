import { expect, test } from 'vitest';
import { goThrough, outages } from './outages.ts';

/** The longest that a vendor waits is 5 s (HubSpot); it is told to come again before that. */
const vendorWaitsMs = 5_000;

// A few seconds each; `npm run outages` has them last a minute.
test.concurrent.for(outages)(
  'Redis $name: nothing is lost, nobody asked twice, and it goes on by itself',
  async (outage, { annotate }) => {
    const report = await goThrough(
      outage,
      { lastsMs: 4_000, closings: 120, everyMs: 20 },
      (what) => void annotate(`waits for ${what}`),
    );
    expect(report).toMatchObject({ wronglyRefused: [], lost: [], askedTwice: [], fallen: [] });
    expect(report.said).toContainEqual(expect.stringMatching(outage.says));
    expect(report.slowestAnswerMs).toBeLessThan(vendorWaitsMs);
  },
);
