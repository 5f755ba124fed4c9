import { expect, test } from 'vitest';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { eventOf, useManual } from '../../../support/manual.ts';

const { unitContext } = useManual();

test("a backfill's closings keep to their pace, also where they have waited together for a worker", async () => {
  const { vendor, context, store } = unitContext();
  const paced = (id: string) => plan(eventOf(id, { key: id, via: 'backfill', everyMs: 3_600_000 }), context);
  for (const id of ['a', 'b', 'c']) vendor.close(id);
  expect(await paced('a')).toEqual({ do: 'done' });
  const [b, c] = [await paced('b'), await paced('c')];
  expect(b).toMatchObject({ do: 'wait', delayMs: expect.closeTo(3_600_000, -5) });
  expect(c).toMatchObject({ do: 'wait', delayMs: expect.closeTo(7_200_000, -5) });
  // A webhook of the same closing is not held up by it.
  await plan(eventOf('b'), context);
  expect(await Promise.all(['a.1', 'b.1', 'c.1'].map(async (id) => (await store.get(id))?.state))).toEqual([
    ...['waiting', 'waiting'],
    undefined,
  ]);
});
