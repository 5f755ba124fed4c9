import { messageOf } from '../../core/errors.ts';
import { sumOf } from '../journey/hourly-counts.ts';
import type { SourceFigures } from '../operations/alerts/message.ts';
import type { Alerts } from '../operations/alerts.ts';
import type { Outage } from '../operations/outage.ts';
import { isAbsent } from '../sources/known-sources.ts';
import type { AbsentSources } from './absent-sources.ts';
import type { Collecting } from './collect/schedule.ts';
import { type EngineOptions, sweepIntervalOf } from './engine-options.ts';
import { alertOutages, stoppedOf } from './outage-watch.ts';
import { Rounds, stepsOf } from './rounds.ts';
import type { Sending } from './sending.ts';
import type { SourcePipeline } from './source-pipeline.ts';
import { type SweepPlaces, sweep } from './sweep.ts';

/** How long this process still works on erasures of a source that another process has again; that process does the rest. Real time. */
const stopMs = 1_000;

interface SweepingOptions {
  engine: EngineOptions;
  pipelines: ReadonlyMap<string, SourcePipeline>;
  collecting: Collecting;
  sending: Sending;
  alerts: Alerts;
  /** Whether the Feedback service answers. */
  service: Outage;
  absent: AbsentSources;
  /** Called at the beginning of each round. */
  noteSources: () => Promise<void>;
}

type Step = ReturnType<typeof stepsOf>;

/** Sweeps every source that Redis knows, from time to time. */
export class Sweeping {
  readonly #options: SweepingOptions;
  readonly #rounds: Rounds;
  /** Alerts are sent beside the sweep, so that a slow receiver holds up nothing else. */
  readonly #alerting: Rounds;
  readonly #places = new Map<string, SweepPlaces>();

  constructor(options: SweepingOptions) {
    this.#options = options;
    const { log } = options.engine;
    this.#rounds = new Rounds(
      (isStopped) => this.#sweep(stepsOf(log, isStopped)),
      (error) => log.warn({ why: messageOf(error) }, 'sweep failed'),
    );
    this.#alerting = new Rounds(
      (isStopped) => this.#report(stepsOf(log, isStopped)),
      (error) => log.warn({ why: messageOf(error) }, 'alerts could not be sent'),
    );
  }

  start(): void {
    this.#rounds.start(sweepIntervalOf(this.#options.engine));
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#rounds, this.#alerting].map((rounds) => rounds.stop(graceMs)));
  }

  async #sweep(step: Step): Promise<void> {
    const { pipelines, collecting, alerts, service, noteSources } = this.#options;
    await step('all', 'note', noteSources);
    for (const pipeline of pipelines.values()) await this.#sweepSource(pipeline, step);
    await step('all', 'absent', () => this.#sweepAbsent(step));
    await step('collect', 'schedule', () => collecting.maintain());
    await step('collect', 'probe', () => collecting.probe());
    const vendors = [...pipelines].map(([name, { vendor }]): [string, Outage] => [name, vendor]);
    await step('outages', 'alert', () => alertOutages([...vendors, ['feedback', service]], alerts));
    this.#alerting.begin();
  }

  async #report(step: Step): Promise<void> {
    const { pipelines, alerts, engine } = this.#options;
    const { timeZone } = engine.config.feedback;
    await step('alerts', 'digest', () => alerts.digest(timeZone, (week) => figuresOf(pipelines, week)));
    await step('alerts', 'send', () => alerts.send());
  }

  async #sweepSource(pipeline: SourcePipeline, step: Step): Promise<void> {
    const { context, pauses, holds, jobs } = pipeline;
    const { name } = context;
    const queues = Object.values(jobs).map(({ queue }) => queue);
    // Probes come first: a large sweep takes long, and a stage whose cause was mended should go on within a minute.
    await step(name, 'probe', () => pauses.probe(queues));
    await step(name, 'holds', () => holds.probe());
    await step(name, 'sweep', () => sweep(context, this.#settings(), this.#placesOf(name)));
    await step(name, 'send', () => this.#options.sending.sweep(context));
  }

  async #sweepAbsent(step: Step): Promise<void> {
    for (const { pipeline, known } of await this.#options.absent.all()) {
      const isGone = isAbsent(known);
      const { context } = pipeline;
      const settings = { ...this.#settings(), isGone };
      await step(context.name, 'sweep', () => sweep(context, settings, this.#placesOf(context.name)));
      await step(context.name, 'send', () => this.#options.sending.sweep(context));
      // A dry run leaves erasures to a process in earnest.
      if (isGone || context.dryRun) await step(context.name, 'erase', () => this.#eraseForGone(pipeline));
      else await pipeline.stages.erase.stop(stopMs);
    }
  }

  /** Erases for a source that no process has: no other process runs its erasures, and the sender of each erasure was told that it is accepted. */
  async #eraseForGone({ pauses, stages: { erase } }: SourcePipeline): Promise<void> {
    erase.start();
    await pauses.probe([erase.jobs.queue]);
  }

  #settings() {
    const { config } = this.#options.engine;
    return { expireAfterMs: config.expireAfter, retentionMs: config.retention.journeys };
  }

  #placesOf(source: string): SweepPlaces {
    const places = this.#places.get(source) ?? new Map();
    this.#places.set(source, places);
    return places;
  }
}

/** Counts for each source how its closings of these days ended, and what waits for a person now. */
export async function figuresOf(
  pipelines: ReadonlyMap<string, SourcePipeline>,
  week: { from: Date; until: Date },
): Promise<SourceFigures[]> {
  return await Promise.all([...pipelines.values()].map((pipeline) => figuresOfSource(pipeline, week)));
}

async function figuresOfSource(pipeline: SourcePipeline, week: { from: Date; until: Date }): Promise<SourceFigures> {
  const { name, store } = pipeline.context;
  const { asked, answered, responses } = sumOf(await store.queries.countsBetween(week));
  const { parked } = await store.lists.counts();
  const stopped = (await stoppedOf(pipeline)).map(({ stage, why }) => `${stage}: ${why}`);
  return {
    source: name,
    asked,
    answered,
    rate: asked === 0 ? null : responses / asked,
    givenUp: await store.lists.countIn('failed', week),
    parked,
    stopped,
  };
}
