import { expect, test } from 'vitest';
import { closedAt, evidence, journey, unasked } from '../../support/chaos/evidence.ts';
import { audit, isClean, offenceNames } from '../../system/chaos/auditor.ts';

test('the auditor tells what, why and what happened, with the trace of the journey', () => {
  const trace = [{ at: new Date(closedAt + 400), text: 'rule "once", campaign 41' }];
  const { findings } = audit(evidence({ ...unasked, journeys: [{ ...journey, state: 'skipped', trace }] }));
  expect(findings).toEqual([
    expect.stringMatching(
      /^desk:7 \(once\), lost .*\n.*Tartu.*\n.*close 0\.0 s\n.*none\n.*skipped\n.*0\.4 s rule "once", campaign 41$/,
    ),
  ]);
  const parked = evidence({ ...unasked, journeys: [{ ...journey, state: 'parked', why: 'two of them' }] });
  expect(audit(parked).parkedReasons).toEqual(['support/7.1: two of them']);
});

test('a verdict passes one parked journey in a thousand, and nothing else', () => {
  const verdict = { ...audit(evidence()), acknowledged: 2_000 };
  expect([0, 2, 3].map((parked) => isClean({ ...verdict, parked }))).toEqual([true, true, false]);
  for (const count of [...offenceNames, 'undecidable']) expect(isClean({ ...verdict, [count]: 1 })).toBe(false);
});
