import { expect, test } from 'vitest';
import { Erasures, type Subject } from '../../../../worker/journey/erasures.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { mostInATurn } from '../../../support/turns.ts';

const redis = useRedis();
const at = new Date('2026-05-04T09:00:00Z');

test('an erasure of everybody in a large shop is stored, read and counted a few at a time (audit loop)', async () => {
  const { counted, count } = mostInATurn();
  const seal: typeof testSeal = {
    ...testSeal,
    seal: (text, about) => {
      count();
      return testSeal.seal(text, about);
    },
    open: (sealed, about) => {
      count();
      return testSeal.open(sealed, about);
    },
  };
  const erasures = new Erasures(redis.handle.client, 'large', seal);
  const subjects = Array.from({ length: 5_000 }, (_, i): Subject => ({ kind: 'person', source: 'large', id: `p${i}` }));
  const asked = { key: 'all', what: 'the shop is to be forgotten', receivedAt: at, everybody: true };
  const id = await erasures.begin(asked, []);
  await erasures.change(id, subjects);
  const found = await erasures.subjects(id);
  // In any order. As sets, vitest would compare each with each.
  const inOrder = (some: readonly Subject[]) => some.map((one) => JSON.stringify(one)).toSorted();
  expect(inOrder(found)).toEqual(inOrder(subjects));
  expect(counted.most).toBeLessThanOrEqual(1_000);
});

test('as many may have been forgotten as a shop has customers (audit loop)', async () => {
  const erasures = new Erasures(redis.handle.client, 'huge', testSeal);
  const who = Array.from({ length: 130_000 }, (_, i) => `contact:+37255${100_000 + i}`);
  const id = await erasures.begin({ key: 'all', what: 'all', receivedAt: at, everybody: true }, []);
  await erasures.forgotten.note(who, at, 60_000);
  await erasures.countJourneys(id, who);
  expect(await erasures.journeys(id)).toBe(who.length);
  expect(await erasures.forgotten.since(at, who)).toHaveLength(who.length);
  expect(await erasures.forgotten.since(new Date(at.getTime() + 1), who)).toEqual([]);
});
