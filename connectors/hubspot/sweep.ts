import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { type ObjectType, objectTypes } from './objects.ts';

/** The most that one search gives. */
export const pageSize = 200;

/** Search shows a change only after a while, no bound given: every sweep looks again at what the last one saw latest. */
const overlapMs = 10 * 60_000;

/** Later than this after it closed, a record found by a sweep is one that was only touched, not one that was missed. */
const staleMs = 3 * 24 * 3_600_000;

const Ms = z.int().nonnegative();

/** How far a sweep of one object type has come. Instants are epoch ms, by `hs_lastmodifieddate`. */
const Place = z.object({
  /** Everything changed before this is seen. */
  from: Ms,
  /** Where this sweep began. */
  begun: Ms,
  /** Set while more records than one page have the very same instant: the last id seen of those. */
  tie: z.string().regex(/^\d+$/).optional(),
  /** Nothing more in this sweep. */
  done: z.boolean().optional(),
});
export type Place = z.output<typeof Place>;

/** `since`: the instant the first sweep was asked to begin at; what closed before never counts. */
const Cursor = z.object({ since: Ms, ticket: Place.optional(), deal: Place.optional() });
export type Cursor = z.output<typeof Cursor>;

/** @throws CloseloopError config for a cursor that isn't ours */
export function cursorFrom(from: { cursor: string } | { since: Date }): Cursor {
  if ('since' in from) return { since: from.since.getTime() };
  try {
    return Cursor.parse(JSON.parse(from.cursor));
  } catch (cause) {
    throw new CloseloopError(
      'HubSpot: the stored cursor of the poll is not readable: remove it, and run backfill for the time since the last poll',
      { kind: 'config' },
      { outcome: 'never-sent', cause },
    );
  }
}

/** Where a type stands when a call of `poll` begins: the sweep goes on, or the next one begins. */
export function placeIn(cursor: Cursor, type: ObjectType, newSweep: boolean): Place {
  const others = [cursor.ticket, cursor.deal].flatMap((place) => place?.begun ?? []);
  const start = Math.max(cursor.since, ...others); // a type that joins later begins where the others are
  const { from, begun, tie, done } = cursor[type] ?? { from: start, begun: start };
  if (newSweep) return { from, begun: from };
  return { from, begun, ...(tie !== undefined && { tie }), ...(done && { done }) };
}

/**
 * The next search. Each begins at the last instant seen, not at a count of results: a record that changes meanwhile moves
 * to the end and would shift those behind it out of sight. No search goes past its first page, so none meets HubSpot's
 * limit of 10,000 results, however many records one import has given the same instant.
 */
export function searchFor(type: ObjectType, { from, tie }: Place): object {
  const { stage, pipeline, closedDate } = objectTypes[type];
  const at = (operator: string) => ({ propertyName: modified, operator, value: String(from) });
  const filters =
    tie === undefined ? [at('GTE')] : [at('EQ'), { propertyName: 'hs_object_id', operator: 'GT', value: tie }];
  return {
    filterGroups: [{ filters }],
    sorts: [{ propertyName: tie === undefined ? modified : 'hs_object_id', direction: 'ASCENDING' }],
    properties: [stage, pipeline, modified, entered, closedDate],
    limit: pageSize,
    after: '',
  };
}

export const modified = 'hs_lastmodifieddate';
/** When the record came into the stage it is in. Not in every account's documentation: it may be missing. */
export const entered = 'hs_v2_date_entered_current_stage';

/** Where the page leads: to the last instant on it; when all of it is one instant, through that one's records by id. */
export function afterPage(place: Place, page: readonly { id: string; at: number }[], since: number, now: Date): Place {
  const { from, begun, tie } = place;
  const last = page.at(-1);
  if (last !== undefined && page.length >= pageSize) {
    if (tie !== undefined) return { from, begun, tie: last.id };
    return last.at > from ? { from: last.at, begun } : { from, begun, tie: '0' };
  }
  if (tie !== undefined) return { from: from + 1, begun };
  return { from: Math.max(since, begun, now.getTime() - overlapMs), begun, done: true };
}

/** Before this a closing isn't one that this sweep could have missed. */
export const tooEarly = ({ begun }: Place, since: number) => Math.max(since, begun - staleMs);
