import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import type { HubSpotApi } from './api.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';

const keepMs = 5 * 60_000;
const againMs = 10_000;

const described = { id: z.coerce.string(), label: z.string().nullish(), archived: z.boolean().nullish() };
const ListedStage = z.object({ ...described, metadata: mapOf(z.coerce.string()).nullish() });
const Pipeline = z.object({ ...described, stages: listOf(ListedStage) });
export type Pipeline = z.output<typeof Pipeline>;
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
  /** By ids or labels, among those in use. @param pipeline left out: any */
  find(stage: string, pipeline?: string): { pipelineId: string; stage: Stage } | undefined;
}

/** Caches the pipelines for minutes. No event reports a change, so an unknown stage reloads them. */
export interface PipelineReader {
  /** @param stageIds Stages that the records at hand are in. */
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

/** By metadata only: labels, and even the default ids, get other meanings. A won or lost deal has probability 1 or 0. */
export function isClosed({ isClosed, ticketState, probability }: Record<string, string>): boolean {
  if (isClosed) return isClosed === 'true';
  if (ticketState) return ticketState === 'CLOSED';
  return probability ? [0, 1].includes(Number(probability)) : false;
}
