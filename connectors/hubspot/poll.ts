import { z } from 'zod';
import type { ConnectorPorts, PollPage, RecordEvent } from '../../core/connector/contract.ts';
import { instant } from './answer.ts';
import { Texts } from './batch.ts';
import type { HubSpotApi } from './client.ts';
import { stageOf, stateOf } from './closing.ts';
import { type ObjectType, objectTypes, type Properties, paths, recordId } from './objects.ts';
import type { PipelineReader, Pipelines } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';
import { afterPage, cursorFrom, entered, modified, type Place, placeIn, searchFor, tooEarly } from './sweep.ts';

const Found = z.object({
  results: z.array(
    z.object({ id: z.coerce.string(), properties: Texts }).transform(({ id, properties }, context) => {
      const at = instant(properties[modified]);
      if (at === undefined) context.addIssue({ code: 'custom', path: ['properties', modified] });
      return { id, at: at ?? Number.NaN, properties };
    }),
  ),
});

/**
 * What changed, by HubSpot's search: the tickets and deals that are in a closed stage, and those that are (again) in
 * another. One call of each object type; deleted and merged-away records are hidden from it.
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
        return { type, ...(place.done ? { place, events: [] } : await look(type, place, since)) };
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

  async function look(type: ObjectType, place: Place, since: number) {
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
 * What one record found says. A record that came into its stage before `from` was only touched since, by our own
 * write-back for one. The key names the stay in the stage, so that the next sweeps say the same again.
 */
export function eventOf(
  type: ObjectType,
  { id, at, properties }: { id: string; at: number; properties: Properties },
  stages: Pipelines,
  settings: Pick<HubSpotSettings, 'pipelines' | 'stages'>,
  from: number,
): RecordEvent | undefined {
  const since = instant(properties[entered]);
  const closedDate = instant(properties[objectTypes[type].closedDate]);
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
    // Only where two dates that HubSpot keeps apart agree. Should it be no closing's name after all, the record is read.
    ...(closed && since !== undefined && since === closedDate && { closing: new Date(since).toISOString() }),
  };
}
