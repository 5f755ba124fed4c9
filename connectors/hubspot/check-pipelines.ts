import type { z } from 'zod';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import type { ObjectType } from './objects.ts';
import { isClosed, type PipelineList } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

type Pipeline = z.output<typeof PipelineList>['results'][number];

/** A pipeline and its object type. */
interface Owned extends Pipeline {
  type: ObjectType;
}

/** @param lists The pipelines of each object type; none where they couldn't be read. */
export function pipelineFindings(
  settings: Pick<HubSpotSettings, 'objects' | 'pipelines' | 'stages'>,
  lists: ReadonlyMap<ObjectType, readonly Pipeline[]>,
  reads: PreflightContext['reads'],
): Finding[] {
  const all: Owned[] = [...lists].flatMap(([type, list]) => list.map((pipeline) => ({ type, ...pipeline })));
  const complete = settings.objects.every((type) => lists.has(type));
  const checked = all.filter(({ id, archived }) => !archived && (settings.pipelines?.includes(id) ?? true));
  return [
    ...(complete ? missingPipelines(settings.pipelines ?? [], all) : []),
    ...(complete ? (settings.stages ?? []).flatMap((id) => stageFindings(id, all, checked)) : []),
    ...checked.filter((pipeline) => closedStages(pipeline).length === 0).map((one) => neverCloses(one, settings)),
    ...lostDeals(settings, checked, reads),
  ];
}

function missingPipelines(ids: readonly string[], all: readonly Owned[]): Finding[] {
  return ids.flatMap((id): Finding[] => {
    const found = all.filter((pipeline) => pipeline.id === id);
    if (found.some(({ archived }) => !archived)) return [];
    const problem =
      found.length === 0
        ? `HubSpot has no pipeline ${id}`
        : `pipeline ${id} (${found[0]?.label ?? ''}) is archived: nothing closes in it any more`;
    return [errorAt('pipelines', problem, `Take it out, or name another: ${choice(all)}`)];
  });
}

const choice = (
  all: readonly { id: string; label?: string | null | undefined; archived?: boolean | null | undefined }[],
) =>
  all
    .filter(({ archived }) => !archived)
    .map(({ id, label }) => `${id} (${label ?? ''})`)
    .join(', ') || 'there is none';

/** A configured stage must be one in which records are closed: by its metadata, whatever it is called. */
function stageFindings(id: string, all: readonly Owned[], checked: readonly Owned[]): Finding[] {
  const inAny = (pipelines: readonly Owned[]) =>
    pipelines.flatMap(({ stages }) => stages).filter((one) => one.id === id);
  const here = inAny(checked);
  const label = inAny(all)[0]?.label ?? '';
  const finding = (problem: string): Finding[] => [
    errorAt('stages', problem, `Name closed stages: ${choice(checked.flatMap(closedStages))}`),
  ];
  if (inAny(all).length === 0) return finding(`HubSpot has no stage ${id}`);
  if (here.length === 0) return finding(`stage ${id} (${label}) is in a pipeline that this source leaves out`);
  if (here.every(({ archived }) => archived)) return finding(`stage ${id} (${label}) is archived`);
  if (here.some(({ metadata }) => isClosed(metadata ?? {}))) return [];
  return finding(`stage ${id} (${label}) is not a closed one: a record in it counts as open and never asks`);
}

const closedStages = ({ stages }: Pipeline) =>
  stages.filter(({ archived, metadata }) => !archived && isClosed(metadata ?? {}));

function neverCloses({ type, id, label }: Owned, { pipelines }: Pick<HubSpotSettings, 'pipelines'>): Finding {
  const problem = `${type} pipeline ${id} (${label ?? ''}) has no closed stage: nothing in it ever asks`;
  const remedy =
    type === 'ticket'
      ? 'Give one of its stages the status "Closed" (HubSpot: Settings > Objects > Tickets > Pipelines)'
      : 'Give one of its stages the probability Won or Lost (HubSpot: Settings > Objects > Deals > Pipelines)';
  return (pipelines === undefined ? warningAt : errorAt)('pipelines', problem, remedy);
}

const tellsWonFromLost = /^(stage|dealstage|hs_deal_stage_probability|hs_is_closed(_won|_lost)?)$/;

/** A lost deal is as closed as a won one. A configuration that asks for both names both stages in `stages`. */
function lostDeals(
  { stages }: Pick<HubSpotSettings, 'stages'>,
  checked: readonly Owned[],
  reads: PreflightContext['reads'],
): Finding[] {
  const decided =
    stages !== undefined ||
    reads.some(({ path }) => path[0] === 'deal' && path.some((name) => tellsWonFromLost.test(name)));
  const closed = decided ? [] : checked.filter(({ type }) => type === 'deal').flatMap(closedStages);
  const [lost, won] = [0, 1].map((chance) => closed.filter(({ metadata }) => Number(metadata?.probability) === chance));
  if (!lost?.length || !won?.length) return [];
  const problem = `lost deals ask for feedback just like won ones: ${choice(lost)}`;
  const remedy = `Name the stages that shall ask (won: ${choice(won)}), or tell them apart in a rule's \`when\` by deal.stage.id`;
  return [warningAt('stages', problem, remedy)];
}
