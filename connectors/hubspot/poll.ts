import { z } from 'zod';
import { instantOf } from '../../core/connector/answer.ts';
import type { ConnectorPorts, PollPage, RecordEvent } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { Texts } from './batch.ts';
import { stageOf, stateOf } from './closing.ts';
import { type ObjectType, objectTypes, type Properties, paths, recordId } from './objects.ts';
import type { PipelineReader, Pipelines } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

const Found = z.object({
  results: listOf(
    z.object({ id: z.coerce.string(), properties: Texts }).transform(({ id, properties }, context) => {
      const at = instantOf(properties[modified]);
      if (at === undefined) context.addIssue({ code: 'custom', path: ['properties', modified] });
      return { id, at: at ?? Number.NaN, properties };
    }),
  ),
});

/**
 * Reads changed tickets and deals by HubSpot's search, in closed stages and in others. One call per object type; the search hides
 * deleted and merged records.
 */
export function poller(
  settings: HubSpotSettings,
  api: HubSpotApi,
  { now }: Pick<ConnectorPorts, 'now'>,
  pipelines: Record<ObjectType, PipelineReader>,
) {
  return async (from: { cursor: string } | { since: Date }): Promise<PollPage> => {
    const cursor = cursorFrom(from);
    const { since } = cursor;
    const newSweep = settings.objects.every((type) => cursor[type]?.done ?? false);
    const swept = await Promise.all(
      settings.objects.map(async (type) => {
        const place = placeIn(cursor, type, newSweep);
        return { type, ...(place.done ? { place, events: [] } : await searchOnce(type, place, since)) };
      }),
    );
    const places = Object.fromEntries(swept.map(({ type, place }) => [type, place]));
    const done = swept.every(({ place }) => place.done ?? false);
    return {
      events: swept.flatMap(({ events }) => events),
      cursor: JSON.stringify({ ...cursor, ...places }),
      done,
      reached: done ? now() : new Date(Math.min(...swept.map(({ place }) => place.from))),
    };
  };

  async function searchOnce(type: ObjectType, place: Place, since: number) {
    const startedAt = now();
    const path = paths.search(objectTypes[type].plural);
    const body = searchFor(type, place);
    const { results } = await api.call('POST', path, Found, { body, urgency: 'background' });
    if (results.length === 0) return { place: afterPage(place, results, since, startedAt), events: [] };
    const stages = await pipelines[type].read(results.map((record) => stageOf(type, record)));
    const from = tooEarly(place, since);
    return {
      place: afterPage(place, results, since, startedAt),
      events: results.flatMap((record) => eventOf(type, record, stages, settings, from) ?? []),
    };
  }
}

/**
 * The event for one record. A record that came into its stage before `from` was only edited since, for example by a write-back. The key
 * names the stay in the stage, so that the next sweeps repeat it.
 */
export function eventOf(
  type: ObjectType,
  { id, at, properties }: { id: string; at: number; properties: Properties },
  stages: Pipelines,
  settings: Pick<HubSpotSettings, 'pipelines' | 'stages'>,
  from: number,
): RecordEvent | undefined {
  const since = instantOf(properties[entered]);
  const closedDate = instantOf(properties[objectTypes[type].closedDate]);
  const cameAt = since ?? (type === 'ticket' ? closedDate : undefined);
  if (cameAt !== undefined && cameAt < from) return undefined;
  const { stageId } = stageOf(type, { properties });
  const record = recordId(type, id);
  const closed = stateOf(type, { id, properties }, stages, settings, new Date(at)).is === 'closed';
  return {
    kind: closed ? 'closed' : 'changed',
    recordId: record,
    at: new Date(cameAt ?? at),
    key: ['poll', record, stageId, since ?? '', closedDate ?? '', cameAt === undefined ? at : ''].join('|'),
    what: `found in ${closed ? 'closed ' : ''}stage ${/^[\w-]{1,64}$/.test(stageId) ? stageId : '(unknown)'}`,
    // Only where HubSpot's two dates agree. If no closing has this name, planning reads the record.
    ...(closed && since !== undefined && since === closedDate && { closing: new Date(since).toISOString() }),
  };
}

/** The most that one search gives. */
const pageSize = 200;

/** The search index lags without a documented bound: every sweep overlaps the last one. */
const overlapMs = 10 * 60_000;

/** A record that closed longer before its change was only edited. */
const staleMs = 3 * 24 * 3_600_000;

const Ms = z.int().nonnegative();

/** The progress of a sweep of one object type. Instants are epoch ms, by `hs_lastmodifieddate`. */
const Place = z.object({
  /** All changes before this have been read. */
  from: Ms,
  /** Where this sweep began. */
  begun: Ms,
  /** Set while more records than one page have the very same instant: the last id seen of those. */
  tie: z.string().regex(/^\d+$/).optional(),
  /** Nothing more in this sweep. */
  done: z.boolean().optional(),
});
type Place = z.output<typeof Place>;

/** `since`: the begin of the first sweep; earlier closings never count. */
const Cursor = z.object({ since: Ms, ticket: Place.optional(), deal: Place.optional() });
type Cursor = z.output<typeof Cursor>;

/** @throws CloseloopError config for an unreadable cursor */
function cursorFrom(from: { cursor: string } | { since: Date }): Cursor {
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

/** The progress of an object type at the begin of `poll`: of the present sweep, or of a new one. */
function placeIn(cursor: Cursor, type: ObjectType, newSweep: boolean): Place {
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
function searchFor(type: ObjectType, { from, tie }: Place): object {
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

const modified = 'hs_lastmodifieddate';
/** When the record came into its present stage. Not documented for every account: it may be missing. */
const entered = 'hs_v2_date_entered_current_stage';

/** Where the page leads: to the last instant on it; when all of it is one instant, through that one's records by id. */
function afterPage(place: Place, page: readonly { id: string; at: number }[], since: number, now: Date): Place {
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
const tooEarly = ({ begun }: Place, since: number) => Math.max(since, begun - staleMs);
