import { z } from 'zod';
import { instantOf } from '../../core/connector/answer.ts';
import type { RecordEvent, Source } from '../../core/connector/contract.ts';
import { type ChangeSearch, pollSearches } from '../../core/connector/desk/poll-searches.ts';
import { listOf } from '../../core/entries.ts';
import { type ObjectType, objectTypes, type Properties, paths, recordId } from './objects.ts';
import type { Pipelines } from './pipelines.ts';
import type { Context } from './read.ts';
import { stageOf, stateOf } from './record.ts';
import { Texts } from './records.ts';

const modified = 'hs_lastmodifieddate';
/** The property with the time at which the record came into its present stage. It is not documented for every account, so it may be missing. */
const entered = 'hs_v2_date_entered_current_stage';

/** The most records that one search returns. */
const pageSize = 200;

/** A found record; `at`: the instant of its last change, in epoch ms. */
interface Row {
  id: string;
  at: number;
  properties: Properties;
}

const SearchPage = z.object({
  results: listOf(
    z.object({ id: z.coerce.string(), properties: Texts }).transform(({ id, properties }, context): Row => {
      const at = instantOf(properties[modified]);
      if (at === undefined) context.addIssue({ code: 'custom', path: ['properties', modified] });
      return { id, at: at ?? Number.NaN, properties };
    }),
  ),
});

/**
 * Reads changed tickets and deals, in closed and in other stages, by HubSpot's search. One call per object type; the search leaves out deleted
 * and merged records, and its index lags without a documented limit.
 */
export function poller(context: Context): NonNullable<Source['poll']> {
  const { settings, now } = context;
  const kinds = settings.objects.map((type) => [type, searchOf(type, context)] as const);
  const times = { overlapMs: 10 * 60_000, staleMs: 3 * 24 * 3_600_000 };
  return pollSearches(Object.fromEntries(kinds), { vendor: 'HubSpot', now, ...times });
}

function searchOf(type: ObjectType, { settings, api, pipelines }: Context): ChangeSearch<Row> {
  const { plural, stage, pipeline, closedDate } = objectTypes[type];
  const properties = [stage, pipeline, modified, entered, closedDate];
  return {
    size: pageSize,
    async search(from, above) {
      const at = { propertyName: modified, operator: above === undefined ? 'GTE' : 'EQ', value: String(from) };
      const ids = { propertyName: 'hs_object_id', operator: 'GT', value: above };
      const filters = above === undefined ? [at] : [at, ids];
      const sorts = [{ propertyName: filters.at(-1)?.propertyName, direction: 'ASCENDING' }];
      const body = { filterGroups: [{ filters }], sorts, properties, limit: pageSize, after: '' };
      return (await api.call('POST', paths.objects(plural, 'search'), SearchPage, { body, urgency: 'background' }))
        .results;
    },
    async events(rows, early) {
      const stages = await pipelines[type](rows.map((row) => stageOf(type, row)));
      return rows.flatMap((row) => eventOf(type, row, stages, settings, early) ?? []);
    },
  };
}

/**
 * The event for one record. A record that came into its stage too early was only edited since, for example by a write-back. The key names the
 * stay in the stage, so the next sweeps give the same key.
 */
function eventOf(
  type: ObjectType,
  { id, at, properties }: Row,
  stages: Pipelines,
  settings: Context['settings'],
  early: number,
): RecordEvent | undefined {
  const since = instantOf(properties[entered]);
  const closedDate = instantOf(properties[objectTypes[type].closedDate]);
  const cameAt = since ?? (type === 'ticket' ? closedDate : undefined);
  if (cameAt !== undefined && cameAt < early) return undefined;
  const { stageId } = stageOf(type, { properties });
  const record = recordId(type, id);
  const closed = stateOf(type, { id, properties }, stages, settings, new Date(at)).is === 'closed';
  const stay = [stageId, since ?? '', closedDate ?? '', cameAt === undefined ? at : ''];
  return {
    ...{ kind: closed ? 'closed' : 'changed', recordId: record, at: new Date(cameAt ?? at) },
    key: ['poll', record, ...stay].join('|'),
    what: `found in ${closed ? 'closed ' : ''}stage ${/^[\w-]{1,64}$/.test(stageId) ? stageId : '(unknown)'}`,
    // The closing is named only if HubSpot's two dates are the same. If no known closing has this name, planning reads the record.
    ...(closed && since !== undefined && since === closedDate && { closing: new Date(since).toISOString() }),
  };
}
