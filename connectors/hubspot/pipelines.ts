import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import type { HubSpotApi } from './api.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

const keepMs = 5 * 60_000;
const againMs = 10_000;

const described = { id: z.coerce.string(), label: z.string().nullish(), archived: z.boolean().nullish() };
const ListedStage = z.object({ ...described, metadata: mapOf(z.coerce.string()).nullish() });
const Pipeline = z.object({ ...described, stages: listOf(ListedStage) });
type Pipeline = z.output<typeof Pipeline>;
export const PipelineList = z.object({ results: listOf(Pipeline) });

export interface Stage {
  id: string;
  label: string;
  closed: boolean;
}

/** The pipelines of one object type. Stage ids are looked up in the record's own pipeline first. */
export interface Pipelines {
  label(pipelineId: string): string;
  stage(pipelineId: string, stageId: string): Stage | undefined;
  /** Finds a stage in use by its id or label. @param pipeline id or label of the pipeline; left out: any pipeline */
  find(stage: string, pipeline?: string): { pipelineId: string; stage: Stage } | undefined;
}

/** Caches the pipelines for minutes. No event reports a change, so an unknown stage reloads them. */
export interface PipelineReader {
  /** @param stages the stages of the records at hand, with their pipelines */
  read(stages: readonly { pipelineId: string; stageId: string }[]): Promise<Pipelines>;
}

export function pipelineReader(type: ObjectType, api: HubSpotApi, now: () => Date): PipelineReader {
  const current = cached(() => readPipelines(type, api), keepMs, now);
  return {
    async read(stages) {
      const known = await current();
      if (stages.every(({ pipelineId, stageId }) => known.stage(pipelineId, stageId))) return known;
      return current(new Date(now().getTime() - againMs));
    },
  };
}

export const readPipelines = async (type: ObjectType, api: HubSpotApi): Promise<Pipelines> =>
  pipelinesFrom(await api.call('GET', paths.pipelines(objectTypes[type].plural), PipelineList));

export function pipelinesFrom({ results }: z.output<typeof PipelineList>): Pipelines {
  const labels = new Map(results.map(({ id, label }) => [id, label ?? '']));
  const all = results.flatMap((pipeline) =>
    pipeline.stages.map(({ id, label, archived, metadata }) => ({
      pipelineId: pipeline.id,
      isUsed: !pipeline.archived && !archived,
      stage: { id, label: label ?? '', closed: isClosed(metadata ?? {}) },
    })),
  );
  const inPipeline = new Map(all.map(({ pipelineId, stage }) => [`${pipelineId} ${stage.id}`, stage]));
  const anywhere = new Map(all.map(({ stage }) => [stage.id, stage]));
  const isNamed = (id: string, name: string) => id === name || labels.get(id) === name;
  return {
    find(name, pipeline) {
      const among = all.filter(
        ({ pipelineId, isUsed }) => isUsed && (pipeline === undefined || isNamed(pipelineId, pipeline)),
      );
      return among.find(({ stage }) => stage.id === name) ?? among.find(({ stage }) => stage.label === name);
    },
    label: (pipelineId) => labels.get(pipelineId) ?? '',
    stage: (pipelineId, stageId) => inPipeline.get(`${pipelineId} ${stageId}`) ?? anywhere.get(stageId),
  };
}

/** Decides by metadata only: people change the meaning of labels, and even of the default ids. A won or lost deal has probability 1 or 0. */
export function isClosed({ isClosed, ticketState, probability }: Record<string, string>): boolean {
  if (isClosed) return isClosed === 'true';
  if (ticketState) return ticketState === 'CLOSED';
  return probability ? [0, 1].includes(Number(probability)) : false;
}

/* The findings of `check` about pipelines. */

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

/** A configured stage must be a stage of closed records by its metadata, whatever its label is. */
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

/** A lost deal counts as closed, like a won deal. A configuration that wants to ask about both names both stages in `stages`. */
function lostDeals(checked: readonly Owned[], reads: PreflightContext['reads']): Finding[] {
  if (reads.some(({ path }) => path[0] === 'deal' && path.some((name) => tellsWonFromLost.test(name)))) return [];
  const closed = checked.filter(({ type }) => type === 'deal').flatMap(closedStages);
  const [lost, won] = [0, 1].map((chance) => closed.filter(({ metadata }) => Number(metadata?.probability) === chance));
  if (!lost?.length || !won?.length) return [];
  const problem = `lost deals ask for feedback just like won ones: ${choice(lost)}`;
  const remedy = `Name the stages that shall ask (won: ${choice(won)}), or tell them apart in a rule's \`when\` by deal.stage.id`;
  return [warningAt('stages', problem, remedy)];
}
