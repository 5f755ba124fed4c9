import { expect, test } from 'vitest';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { followUpReport } from '../../../../worker/reports/follow-ups.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh } = useStores();
const day = (n: number) => new Date(Date.UTC(2026, 4, n, 9));
const contact = { kind: 'email', value: 'carl@example.com' } as const;
const period = { since: '2026-05-11', until: '2026-05-20' };
const clock = { timeZone: 'Europe/Tallinn', now: day(26) };

/** A source whose journeys are closed and answered on these days. */
function sourceWithAnswers() {
  const { store } = fresh();
  const followUps = new FollowUpLists(redis.handle.client, store.source);
  return {
    store,
    followUps,
    async answered(record: string, on: number, grade: number, more: Partial<Journey> = {}) {
      const made = await store.getOrCreate({ ...claimOf(record, 'c', `e ${record}`), closedAt: day(on) }, []);
      const { id } = made.journey;
      for (const to of ['waiting', 'creating', 'asked', 'answered'] as const)
        await store.update(id, (now) => ({ journey: step(now, to, day(on), { contact, ...more }), trace: [] }));
      const answer = { grade, comment: null, seenAt: day(on), version: 1 };
      await store.update(id, (now) => ({ journey: { ...now, maxGrade: 5, answer, ...more }, trace: [] }));
      const after = await store.get(id);
      if (after?.followUp) await followUps.relist(id, store);
      return id;
    },
  };
}
const opened = (on: number, more: Partial<NonNullable<Journey['followUp']>> = {}): Partial<Journey> => ({
  followUp: { state: 'open', rule: 'unhappy', to: 'agent', openedAt: day(on), dueAt: day(on + 1), ...more },
});
const doneOn = (on: number) => ({ state: 'done', doneBy: 'Maria', doneAt: day(on) }) as const;

test('each period has what was opened in it, with the next grade of the same person in any source', async () => {
  const [support, shop] = [sourceWithAnswers(), sourceWithAnswers()];
  await support.answered('before', 8, 1, opened(8, doneOn(10)));
  await support.answered('open', 12, 2, opened(12));
  await support.answered('done', 13, 2, opened(13, doneOn(14)));
  await support.answered('tested', 13, 2, { ...opened(13), test: { contact } });
  const gone = await support.answered('erased', 13, 2, opened(13));
  await support.store.update(gone, (now) => ({ journey: erased(now, day(14)), trace: [] }));
  // Of the same name as a journey of the other source.
  await shop.answered('done', 16, 5);
  await support.answered('later', 25, 1, opened(25));
  const figures = await followUpReport([support, shop], period, clock);
  expect(figures).toMatchObject({
    now: { opened: 2, done: 1, withinDue: 1, overdue: 1, firstActionMs: 86_400_000, gradedAgain: 2, recovered: 1 },
    before: { opened: 1, done: 1, withinDue: 0, overdue: 0, gradedAgain: 1, recovered: 0 },
    isCut: false,
  });
  const some = await followUpReport([support], period, { ...clock, fits: ({ recordId }) => recordId === 'open' });
  // Without the shop, the next grade of the person opened a follow-up itself.
  expect(some.now).toMatchObject({ opened: 1, gradedAgain: 1, recovered: 0 });
  expect(some.before.opened).toBe(0);
  expect((await followUpReport([support, shop], period, { ...clock, most: 1 })).isCut).toBe(true);
});

test('of very many people each has the next grade of their own', async () => {
  const support = sourceWithAnswers();
  const people = Array.from({ length: 120 }, (_, n) => ({
    contact: { kind: 'email', value: `customer-${n}@example.com` } as const,
    personId: `7${n}`,
    n,
  }));
  for (const { n, ...who } of people) {
    await support.answered(`a${n}`, 12, 3, { ...who, ...opened(12) });
    // Every third grades no more, every fourth no better.
    if (n % 3 > 0) await support.answered(`b${n}`, 14, n % 4 === 0 ? 2 : 4, who);
  }
  const { now } = await followUpReport([support], period, clock);
  const again = people.filter(({ n }) => n % 3 > 0);
  const recovered = again.filter(({ n }) => n % 4 > 0);
  expect(now).toMatchObject({ opened: 120, gradedAgain: again.length, recovered: recovered.length });
});

test('a person of another address is known by the vendor’s id, in that source alone', async () => {
  const [support, shop] = [sourceWithAnswers(), sourceWithAnswers()];
  const other = { contact: { kind: 'email', value: 'other@example.com' }, personId: '7' } as const;
  // Its own grade was changed after the follow-up was opened.
  await support.answered('open', 12, 2, { ...opened(11), personId: '7' });
  await shop.answered('shop', 13, 5, other);
  expect((await followUpReport([support, shop], period, clock)).now).toMatchObject({ gradedAgain: 0 });
  await support.answered('later', 14, 5, other);
  expect((await followUpReport([support, shop], period, clock)).now).toMatchObject({ gradedAgain: 1, recovered: 1 });
});
