import type { RecordState } from '../../core/connector/contract.ts';
import { type ObjectType, objectTypes, type Properties } from './objects.ts';
import type { Pipelines } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

/** One change of a property. */
export interface Change {
  value: string;
  at: Date;
}

/** A ticket or deal as read. `history` is the stage's; undefined where it wasn't asked for. */
export interface RawRecord {
  id: string;
  properties: Properties;
  history?: readonly Change[];
}

/** The stage's history didn't tell when the record closed, though it is closed now: read a moment too early. */
type Unclear = { is: 'unclear' };

export function stageOf(
  type: ObjectType,
  { properties }: Pick<RawRecord, 'properties'>,
): { pipelineId: string; stageId: string } {
  const { pipeline, stage } = objectTypes[type];
  return { pipelineId: properties[pipeline] ?? '', stageId: properties[stage] ?? '' };
}

/**
 * Which closing counts. Closed is what the stage's metadata says now: no label, no well-known id, no date that people
 * can edit (`closedate`) has a say. The closing is named by the instant of the last open→closed transition, so a move
 * from one closed stage to another is no new one, nor is a merge, whose record has the histories of all its parts; and
 * a record that was deleted and restored has the closing it had. Without history (`ask`) it is named '' and dated `now`:
 * then only `is` matters.
 */
export function stateOf(
  type: ObjectType,
  record: RawRecord,
  pipelines: Pipelines,
  { pipelines: onlyPipelines, stages: onlyStages }: Pick<HubSpotSettings, 'pipelines' | 'stages'>,
  now: Date,
): RecordState | Unclear {
  const { pipelineId, stageId } = stageOf(type, record);
  const stage = pipelines.stage(pipelineId, stageId);
  if (stage === undefined) return { is: 'out', why: `HubSpot lists no stage ${stageId || '(none)'} in its pipelines` };
  if (!stage.closed) return { is: 'open' };
  if (onlyPipelines && !onlyPipelines.includes(pipelineId)) {
    return { is: 'out', why: `pipeline ${pipelineId} is not among this source's pipelines` };
  }
  if (onlyStages && !onlyStages.includes(stageId)) {
    return { is: 'out', why: `stage ${stageId} is not among this source's stages` };
  }
  if (record.history === undefined) return { is: 'closed', closing: '', closedAt: now };
  const closedAt = lastClosing(record.history, (id) => pipelines.stage(pipelineId, id)?.closed ?? false, stageId);
  return closedAt === undefined ? { is: 'unclear' } : { is: 'closed', closing: closedAt.toISOString(), closedAt };
}

/**
 * When the record last went from open to closed and stayed closed. HubSpot promises no order, and a workflow can change a
 * stage twice in one millisecond: of such a pair, the stage that it has now is the later.
 */
export function lastClosing(
  history: readonly Change[],
  isClosed: (stageId: string) => boolean,
  current?: string,
): Date | undefined {
  const isCurrent = ({ value }: Change): number => Number(value === current);
  const oldestFirst = history
    .toReversed()
    .sort((a, b) => a.at.getTime() - b.at.getTime() || isCurrent(a) - isCurrent(b));
  let since: Date | undefined;
  for (const { value, at } of oldestFirst) since = isClosed(value) ? (since ?? at) : undefined;
  return since;
}
