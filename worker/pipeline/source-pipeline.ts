import { cached } from '../../core/connector/cached.ts';
import { messageOf } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { Journey } from '../journey/journey.ts';
import type { AlertOfSource, Alerts } from '../operations/alerts.ts';
import { Holds } from '../operations/holds.ts';
import { unobserved } from '../operations/observer.ts';
import type { Outage } from '../operations/outage.ts';
import { Pauses, probeTurnMs } from '../operations/pauses.ts';
import { isDryRun, tagOf } from '../redis/keys.ts';
import { drySpanOf } from '../sources/known-sources.ts';
import type { CollectedSource } from './collect/answers.ts';
import { type EngineOptions, sweepIntervalOf } from './engine-options.ts';
import type { Service } from './open-service.ts';
import { type Named, namedOf } from './open-source.ts';
import { poll } from './plan/poll.ts';
import { countMissed } from './plan/poll-state.ts';
import { policyOf } from './policy/source-policy.ts';
import { createQueues, type JobQueues, openQueues, type Queues } from './queues.ts';
import type { Sending } from './sending.ts';
import type { StepsContext } from './source-stage.ts';
import { storedOf } from './source-store.ts';
import { createStages, type Stages } from './stages.ts';
import { openVendor } from './vendor.ts';

/** How long the period of a dry run is cached. Real time. */
const spanKeepMs = 60_000;

/** One source of a process: everything that its steps need. */
export type SourceContext = {
  /**
   * Every source that Redis knows: the configured sources, this source included, and absent sources (absent-sources.ts), which are not
   * configured in this process: their data can be read and changed, but their vendor can't be reached.
   */
  sources(): Promise<SourceContext[]>;
} & StepsContext &
  CollectedSource &
  Queues;

/** One source with its stages. */
export interface SourcePipeline {
  context: SourceContext;
  jobs: JobQueues;
  stages: Stages;
  pauses: Pauses;
  holds: Holds;
  /** Whether the source's vendor answers. */
  vendor: Outage;
  /** Polls the vendor for closings that its webhooks missed, if a poll is due. */
  poll(): Promise<void>;
}

/** The parts that all sources of a process share. */
interface SharedParts extends Service, Pick<SourceContext, 'sources'> {
  options: EngineOptions;
  onLost: (error: Error) => void;
  /** Whether the Feedback service answers. */
  service: Outage;
  alerts: Alerts;
  /** Sends the events of journeys to receivers. */
  sending: Pick<Sending, 'wake'>;
}

export function createSourcePipeline(configured: ConfiguredSource, shared: SharedParts): SourcePipeline {
  const { options, onLost, service, alerts, sending, ...calls } = shared;
  const { redis, connection, clock, ports, log, seal, tracing } = options;
  const named = namedOf(configured);
  const { name, storedAs } = named;
  const alert = alerts.of(name);
  const jobs = openQueues(storedAs, { redis, connection, seal, tracing, onLost });
  const { pauses, holds } = stopsOf(named, alert, jobs, options);
  const journeys = journeysOf(named, shared);
  const { outage: vendor, ...vendorCalls } = openVendor(configured, jobs, journeys, options);
  const context: SourceContext = {
    ...named,
    ...calls,
    ...journeys,
    ...vendorCalls,
    ...createQueues(storedAs, jobs, { redis, seal, clock }),
    ...policyOf(configured, options.config),
    log,
    holds,
    alert,
    missed: async (ref, at) => {
      if (!vendorCalls.source.isPolled) await reportMissed(ref, at, { storedAs, alert, options });
    },
    revoke: (why) => stopAccess(why, jobs, pauses),
    isCollectPaused: () => pauses.isPausedByPerson('collect'),
    clock,
    ports,
  };
  const stages = createStages(jobs, { context, pauses, vendor, service, engine: options });
  // While the vendor does not answer, a poll begins only when it is time to probe the vendor.
  const isHeldUp = async () =>
    (await pauses.isPausedByPerson('plan')) || ((await vendor.down({ now: true }))?.untilProbeMs ?? 0) > 0;
  const { every: everyMs, headStart: headStartMs } = options.config.poll;
  const polling = { redis, pauses, jobs, everyMs, headStartMs, isHeldUp };
  return { context, jobs, stages, pauses, holds, vendor, poll: () => poll(context, polling) };
}

function journeysOf({ name, storedAs, account }: Named, { options, sources, sending }: SharedParts) {
  const { redis, clock, log, replicated, observer = unobserved, tracing } = options;
  const onStep = (before: Journey, after: Journey) => observer.journey(name, before, after);
  // The event is stored already, and the next sweep has it sent.
  const onOutgoing = async (target: string, source: string, recordId: string) =>
    await sending
      .wake(target, source, recordId)
      .catch((error: unknown) => log.debug({ source: name, target, why: messageOf(error) }, 'it is sent later'));
  return {
    ...storedOf(
      { storedAs, account },
      { ...options, now: clock.now, onStep, onOutgoing, traceContext: () => tracing?.current() },
    ),
    replicated: () => replicated(tagOf(storedAs)),
    // The period of the dry run ends before this process begins, or just after.
    ranDry: isDryRun(name)
      ? async () => undefined
      : cached(
          () => drySpanOf(redis, storedAs),
          spanKeepMs,
          () => new Date(),
        ),
    areOwned: async (requestIds: readonly string[]) => {
      const owners = await Promise.all((await sources()).map(({ store }) => store.requests.journeyIdsOf(requestIds)));
      return requestIds.map((_, i) => owners.some((ids) => ids[i] !== undefined));
    },
  };
}

/** The parts that wait for a person: stopped stages, and held campaigns, rules and operations. */
function stopsOf(
  { name, storedAs }: Named,
  alert: AlertOfSource,
  jobs: JobQueues,
  engine: EngineOptions,
): { pauses: Pauses; holds: Holds } {
  const { redis, log } = engine;
  const tag = tagOf(storedAs);
  const probeEveryMs = probeTurnMs(sweepIntervalOf(engine));
  const remedy = 'nothing is lost; mend it, and it goes on within a minute or at the next start';
  const onStop = (stage: string, why: string) => alert('paused', `stage ${stage}: ${why}`, remedy);
  const pauses = new Pauses(redis, tag, name, log, onStop, probeEveryMs);
  const holds = new Holds({
    redis,
    tag,
    source: name,
    log,
    onNews: ({ stage, only, why }) =>
      alert(
        'paused',
        `stage ${stage}, ${only}: ${why}`,
        'no data is lost, and other jobs continue; fix the cause, and processing resumes automatically',
      ),
    queues: () => Object.values(jobs).map(({ queue }) => queue),
    probeEveryMs,
  });
  return { pauses, holds };
}

async function reportMissed(
  ref: string,
  at: Date,
  { storedAs, alert, options }: { storedAs: string; alert: AlertOfSource; options: EngineOptions },
): Promise<void> {
  await countMissed(options.redis, storedAs);
  const why = 'closings that no webhook had reported were found by the poll';
  await alert('missed', why, 'they are asked about all the same; see why webhooks are lost ("closeloop check")', [ref]);
  options.log.warn({ journey: ref, at }, 'a closing that no webhook had reported');
}

/** Stops all stages but the erasures: an erasure does everything that needs no vendor. */
async function stopAccess(why: string, { plan, ask, writeBack, act }: JobQueues, pauses: Pauses): Promise<void> {
  for (const { queue } of [plan, ask, writeBack, act]) {
    await pauses.set(queue.name, why);
    await queue.pause();
  }
}
