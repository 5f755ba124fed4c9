import { FollowUpLists } from '../../../worker/journey/follow-up-lists.ts';
import type { FollowUp } from '../../../worker/journey/journey.ts';
import type { Loop } from '../loop.ts';
import type { TestRedis } from '../redis.ts';

const hourMs = 3_600_000;

/** Unhappy customers of these records, whose follow-ups are due so many hours from now. */
export async function openFollowUps(
  { store, vendor, post, journey }: Loop,
  redis: TestRedis,
  due: Record<string, number>,
) {
  const lists = new FollowUpLists(redis.handle.client, store.source);
  for (const id of Object.keys(due)) await post(vendor.close(id).delivery);
  for (const [id, hours] of Object.entries(due)) {
    await journey(`${id}.1`, 'asked');
    const dueAt = new Date(Date.now() + hours * hourMs + 30_000);
    const followUp: FollowUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: new Date(), dueAt };
    const answer = { grade: 2, comment: 'much too late', seenAt: new Date(), version: 1 };
    await store.update(`${id}.1`, (now) => ({ journey: { ...now, maxGrade: 5, answer, followUp }, trace: [] }));
    await lists.put('open', `${id}.1`, dueAt);
  }
  return lists;
}
