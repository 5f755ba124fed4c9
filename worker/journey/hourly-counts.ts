import type { Journey } from './journey.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** How long a day's counts are kept, from its last change. */
export const countsKeptMs = 400 * dayMs;
/** `responses`: how many of the customers who were asked in the hour have answered, whenever the answer came. */
export const counted = ['asked', 'answered', 'responses'] as const;

export type Counts = Record<(typeof counted)[number], number>;

interface CountChange {
  day: string;
  field: string;
  by: 1 | -1;
}

/**
 * The counts that a change of a journey changes: by campaign and by the hour, UTC, in which the customer was asked or answered. A
 * request that the service cancelled before sending asked nobody, nor does a test; an erasure leaves the counts as they are.
 */
export function countChanges(before: Journey, after: Journey): CountChange[] {
  if (after.erasedAt) return [];
  const [then, now] = [happenedTo(before), happenedTo(after)];
  return counted.flatMap((name) => {
    const [was, is] = [then[name], now[name]];
    if ((was === undefined) === (is === undefined)) return [];
    const at = is ?? was ?? after.updatedAt;
    const field = `${name}:${after.campaign ?? before.campaign ?? ''}:${hourOf(at)}`;
    return [{ day: dayOf(at), field, by: is ? (1 as const) : (-1 as const) }];
  });
}

function happenedTo({ state, askedAt: created, answer, test }: Journey): Record<keyof Counts, Date | undefined> {
  if (test) return { asked: undefined, answered: undefined, responses: undefined };
  const askedAt = state === 'cancelled' && !answer ? undefined : created;
  return { asked: askedAt, answered: answer?.seenAt, responses: answer && askedAt };
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function hourOf(at: Date): string {
  return at.toISOString().slice(11, 13);
}
