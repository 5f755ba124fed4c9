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

const label = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
const described = { id: z.coerce.string(), label, archived: z.boolean().nullish() };
const Stage = z
  .object({ ...described, metadata: mapOf(z.coerce.string()).nullish() })
  .transform(({ metadata, ...stage }) => ({
    ...{ ...stage, closed: isClosed(metadata ?? {}) },
    /** Of a deal: 1 in a stage of won deals, 0 in a stage of lost deals. */
    probability: Number(metadata?.probability),
  }));
const Pipeline = z.object({ ...described, stages: listOf(Stage) });
type Pipeline = z.output<typeof Pipeline>;

/** The pipelines of one object type. */
export const Pipelines = z.object({ results: listOf(Pipeline) }).transform(({ results: all }) => {
  const labels = new Map(all.map(({ id, label }) => [id, label]));
  const stages = all.flatMap((pipeline) => pipeline.stages.map((stage) => ({ pipeline, stage })));
  const inPipeline = new Map(stages.map(({ pipeline, stage }) => [`${pipeline.id} ${stage.id}`, stage]));
  const anywhere = new Map(stages.map(({ stage }) => [stage.id, stage]));
  const isNamed = ({ id, label }: Pick<Pipeline, 'id' | 'label'>, name: string) => id === name || label === name;
  return {
    all,
    label: (pipelineId: string) => labels.get(pipelineId) ?? '',
    /** Looks a stage up in the record's own pipeline first. */
    stage: (pipelineId: string, stageId: string) => inPipeline.get(`${pipelineId} ${stageId}`) ?? anywhere.get(stageId),
    /** Finds a stage in use by its id or label. @param of id or label of the pipeline; left out: any pipeline */
    find(name: string, of?: string) {
      const used = stages.filter(({ pipeline, stage }) => !pipeline.archived && !stage.archived);
      const among = used.filter(({ pipeline }) => of === undefined || isNamed(pipeline, of));
      return among.find(({ stage }) => stage.id === name) ?? among.find(({ stage }) => stage.label === name);
    },
  };
});
export type Pipelines = z.output<typeof Pipelines>;

export const readPipelines = (type: ObjectType, api: HubSpotApi): Promise<Pipelines> =>
  api.call('GET', paths.pipelines(objectTypes[type].plural), Pipelines);

/** Caches the pipelines for minutes. No event reports a change, so an unknown stage reloads them. */
export function pipelineReader(type: ObjectType, api: HubSpotApi, now: () => Date) {
  const current = cached(() => readPipelines(type, api), keepMs, now);
  /** @param stages the stages of the records at hand, with their pipelines */
  return async (stages: readonly { pipelineId: string; stageId: string }[]): Promise<Pipelines> => {
    const known = await current();
    if (stages.every(({ pipelineId, stageId }) => known.stage(pipelineId, stageId))) return known;
    return current(new Date(now().getTime() - againMs));
  };
}
export type PipelineReader = ReturnType<typeof pipelineReader>;

/** Decides by metadata only: people change the meaning of labels, and even of the default ids. A won or lost deal has probability 1 or 0. */
function isClosed({ isClosed, ticketState, probability }: Record<string, string>): boolean {
  if (isClosed) return isClosed === 'true';
  if (ticketState) return ticketState === 'CLOSED';
  return probability ? [0, 1].includes(Number(probability)) : false;
}

/* The findings of `check` about pipelines. */

/** A pipeline and its object type. */
type Owned = Pipeline & { type: ObjectType };

export async function pipelineFindings(
  { objects, pipelines, stages }: HubSpotSettings,
  api: HubSpotApi,
  { reads }: PreflightContext,
): Promise<Finding[]> {
  const all: Owned[] = [];
  for (const type of objects) all.push(...(await readPipelines(type, api)).all.map((one) => ({ type, ...one })));
  const checked = all.filter(({ id, archived }) => !archived && (pipelines?.includes(id) ?? true));
  return [
    ...(pipelines ?? []).flatMap((id) => missingPipeline(id, all)),
    ...(stages ?? []).flatMap((id) => stageFindings(id, all, checked)),
    ...checked.filter((one) => closedStages(one).length === 0).map((one) => neverCloses(one, pipelines !== undefined)),
    ...(stages === undefined ? lostDeals(checked, reads) : []),
  ];
}

const choice = (all: readonly Pick<Pipeline, 'id' | 'label' | 'archived'>[]) => {
  const used = all.filter(({ archived }) => !archived);
  return used.map(({ id, label }) => `${id} (${label})`).join(', ') || 'there is none';
};

function missingPipeline(id: string, all: readonly Owned[]): Finding[] {
  const found = all.filter((pipeline) => pipeline.id === id);
  if (found.some(({ archived }) => !archived)) return [];
  const archived = `pipeline ${id} (${found[0]?.label}) is archived: nothing closes in it any more`;
  const problem = found.length === 0 ? `HubSpot has no pipeline ${id}` : archived;
  return [errorAt('pipelines', problem, `Take it out, or name another: ${choice(all)}`)];
}

/** A configured stage must be a stage of closed records by its metadata, whatever its label is. */
function stageFindings(id: string, all: readonly Owned[], checked: readonly Owned[]): Finding[] {
  const inAny = (pipelines: readonly Owned[]) =>
    pipelines.flatMap(({ stages }) => stages).filter((one) => one.id === id);
  const here = inAny(checked);
  const named = `stage ${id} (${inAny(all)[0]?.label})`;
  const finding = (problem: string): Finding[] => [
    errorAt('stages', problem, `Name closed stages: ${choice(checked.flatMap(closedStages))}`),
  ];
  if (inAny(all).length === 0) return finding(`HubSpot has no stage ${id}`);
  if (here.length === 0) return finding(`${named} is in a pipeline that this source leaves out`);
  if (here.every(({ archived }) => archived)) return finding(`${named} is archived`);
  if (here.some(({ closed }) => closed)) return [];
  return finding(`${named} is not a closed one: a record in it counts as open and never asks`);
}

const closedStages = ({ stages }: Owned) => stages.filter(({ archived, closed }) => !archived && closed);

function neverCloses({ type, id, label }: Owned, isChosen: boolean): Finding {
  const problem = `${type} pipeline ${id} (${label}) has no closed stage: nothing in it ever asks`;
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
  const [lost, won] = [0, 1].map((chance) => closed.filter(({ probability }) => probability === chance));
  if (!lost?.length || !won?.length) return [];
  const problem = `lost deals ask for feedback just like won ones: ${choice(lost)}`;
  const remedy = `Name the stages that shall ask (won: ${choice(won)}), or tell them apart in a rule's \`when\` by deal.stage.id`;
  return [warningAt('stages', problem, remedy)];
}
