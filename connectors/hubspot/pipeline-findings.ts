import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import type { ObjectType } from './objects.ts';
import { isClosed, type Pipeline } from './pipelines.ts';
import type { HubSpotSettings } from './settings.ts';

/** A pipeline and its object type. */
type Owned = Pipeline & { type: ObjectType };

type Choice = Pick<HubSpotSettings, 'pipelines' | 'stages'>;

export function pipelineFindings(
  { pipelines, stages }: Choice,
  all: readonly Owned[],
  reads: PreflightContext['reads'],
): Finding[] {
  const checked = all.filter(({ id, archived }) => !archived && (pipelines?.includes(id) ?? true));
  return [
    ...(pipelines ?? []).flatMap((id) => missingPipeline(id, all)),
    ...(stages ?? []).flatMap((id) => stageFindings(id, all, checked)),
    ...checked.filter((one) => closedStages(one).length === 0).map((one) => neverCloses(one, pipelines !== undefined)),
    ...(stages === undefined ? lostDeals(checked, reads) : []),
  ];
}

type Labelled = Pick<Pipeline, 'id' | 'label' | 'archived'>;

const choice = (all: readonly Labelled[]) => {
  const used = all.filter(({ archived }) => !archived);
  return used.map(({ id, label }) => `${id} (${label ?? ''})`).join(', ') || 'there is none';
};

function missingPipeline(id: string, all: readonly Owned[]): Finding[] {
  const found = all.filter((pipeline) => pipeline.id === id);
  if (found.some(({ archived }) => !archived)) return [];
  const archived = `pipeline ${id} (${found[0]?.label ?? ''}) is archived: nothing closes in it any more`;
  const problem = found.length === 0 ? `HubSpot has no pipeline ${id}` : archived;
  return [errorAt('pipelines', problem, `Take it out, or name another: ${choice(all)}`)];
}

/** A configured stage must be one in which records are closed: by its metadata, whatever it is called. */
function stageFindings(id: string, all: readonly Owned[], checked: readonly Owned[]): Finding[] {
  const inAny = (pipelines: readonly Owned[]) =>
    pipelines.flatMap(({ stages }) => stages).filter((one) => one.id === id);
  const here = inAny(checked);
  const named = `stage ${id} (${inAny(all)[0]?.label ?? ''})`;
  const finding = (problem: string): Finding[] => [
    errorAt('stages', problem, `Name closed stages: ${choice(checked.flatMap(closedStages))}`),
  ];
  if (inAny(all).length === 0) return finding(`HubSpot has no stage ${id}`);
  if (here.length === 0) return finding(`${named} is in a pipeline that this source leaves out`);
  if (here.every(({ archived }) => archived)) return finding(`${named} is archived`);
  if (here.some(({ metadata }) => isClosed(metadata ?? {}))) return [];
  return finding(`${named} is not a closed one: a record in it counts as open and never asks`);
}

const closedStages = ({ stages }: Owned) =>
  stages.filter(({ archived, metadata }) => !archived && isClosed(metadata ?? {}));

function neverCloses({ type, id, label }: Owned, isChosen: boolean): Finding {
  const problem = `${type} pipeline ${id} (${label ?? ''}) has no closed stage: nothing in it ever asks`;
  const remedy =
    type === 'ticket'
      ? 'Give one of its stages the status "Closed" (HubSpot: Settings > Objects > Tickets > Pipelines)'
      : 'Give one of its stages the probability Won or Lost (HubSpot: Settings > Objects > Deals > Pipelines)';
  return (isChosen ? errorAt : warningAt)('pipelines', problem, remedy);
}

const tellsWonFromLost = /^(stage|dealstage|hs_deal_stage_probability|hs_is_closed(_won|_lost)?)$/;

/** A lost deal is as closed as a won one. A configuration that asks for both names both stages in `stages`. */
function lostDeals(checked: readonly Owned[], reads: PreflightContext['reads']): Finding[] {
  if (reads.some(({ path }) => path[0] === 'deal' && path.some((name) => tellsWonFromLost.test(name)))) return [];
  const closed = checked.filter(({ type }) => type === 'deal').flatMap(closedStages);
  const [lost, won] = [0, 1].map((chance) => closed.filter(({ metadata }) => Number(metadata?.probability) === chance));
  if (!lost?.length || !won?.length) return [];
  const problem = `lost deals ask for feedback just like won ones: ${choice(lost)}`;
  const remedy = `Name the stages that shall ask (won: ${choice(won)}), or tell them apart in a rule's \`when\` by deal.stage.id`;
  return [warningAt('stages', problem, remedy)];
}
