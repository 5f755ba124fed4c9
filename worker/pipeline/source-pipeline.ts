import type { z } from 'zod';
import type { WriteBack } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { resolveOperations } from '../../core/feedback/operations.ts';
import type { Config } from '../config/config.ts';
import { RecordAliases } from '../journey/aliases.ts';
import { ContactMemory } from '../journey/contacts.ts';
import { Erasures } from '../journey/erasures.ts';
import { createToldStore } from '../journey/snapshots.ts';
import { JourneyStore } from '../journey/store.ts';
import type { Alerts } from '../operations/alerts.ts';
import { Holds } from '../operations/holds.ts';
import { Outage } from '../operations/outage.ts';
import { Pauses } from '../operations/pauses.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { askedInKey, seenKey, tagOf } from '../redis/keys.ts';
import { untilTurn } from '../redis/rate-limit.ts';
import type { Seal } from '../redis/seal.ts';
import type { SourceNames } from '../redis/source-names.ts';
import { probe } from '../redis/unavailable.ts';
import { ask, giveUpAsk } from './ask/ask.ts';
import { createBatcher } from './batch.ts';
import type { CampaignCache } from './campaigns.ts';
import type { SourceContext } from './context.ts';
import type { EngineOptions } from './engine-options.ts';
import { changeJobs } from './erase/change-jobs.ts';
import { EraseJob, erase, giveUpErase } from './erase/erase.ts';
import { AskJob, PlanJob, type RecordJob, type StageResult, WriteBackJob } from './jobs.ts';
import { openSource } from './open-source.ts';
import { giveUpPlan, plan } from './plan/plan.ts';
import { countMissed, poll } from './plan/poll.ts';
import { foreignRemedy, remedies } from './remedies.ts';
import { loadRule } from './rules.ts';
import { untilMended } from './set-aside.ts';
import { Stage, type StageOptions } from './stage.ts';
import { giveUpWriteBack, writeBack } from './write-back/write-back.ts';

/** Jobs of one stage at once: ten full vendor batches, so that a thousand records arriving together stay together. */
const concurrency = 1_000;
const defaultBatchWindowMs = 500;
/** Long enough for a journey to be marked as expired. Real time. */
const noAnswerDelayMs = 1_000;

const missedWebhooks = 'closings that no webhook had told of were found by the poll';

/** Its source is being renamed, or has another name now: the job waits, and is moved with it. Real time. */
const gatedResult: StageResult = { do: 'wait', delayMs: 2_000 };

/** One source with its stages. */
export interface SourcePipeline {
  context: SourceContext;
  stages: {
    plan: Stage<typeof PlanJob>;
    ask: Stage<typeof AskJob>;
    writeBack: Stage<typeof WriteBackJob>;
    erase: Stage<typeof EraseJob>;
  };
  pauses: Pauses;
  /** Is it being renamed, or has it another name now? Then it is not worked on. */
  isGated(): Promise<boolean>;
  holds: Holds;
  /** Whether the source's vendor answers. */
  vendor: Outage;
  /** Asks the vendor what its webhooks missed, if that is due. */
  poll(): Promise<void>;
}

export function createSourcePipeline(
  configured: Config['sources'][number],
  shared: {
    options: EngineOptions;
    campaigns: CampaignCache;
    limited: SourceContext['limited'];
    limitedLooks: SourceContext['limitedLooks'];
    sources: SourceContext['sources'];
    names: SourceNames;
    onLost: (error: Error) => void;
    feedback: FeedbackClient;
    /** Whether the Feedback service answers. */
    service: Outage;
    alerts: Alerts;
  },
): SourcePipeline {
  const { config, redis, seal, connection, replicated, clock, ports, log, quarantine, vendorTime } = shared.options;
  const { name } = configured;
  const told = createToldStore(redis, { tag: tagOf(name), keepMs: config.retention.journeys, seal });
  const aliases = new RecordAliases(redis, name, { keepMs: config.retention.journeys, seal });
  const vendor = new Outage(redis, { endpoint: `source ${name}`, key: `${tagOf(name)}:outage`, log });
  const opened = openSource(configured, {
    config,
    redis,
    ports,
    log,
    told,
    aliases,
    seal,
    ...(vendorTime && { vendorTime }),
  });
  const source = watchCalls(opened, vendor, false);
  const alert: SourceContext['alert'] = (kind, why, remedy) => shared.alerts.raise({ kind, source: name, why, remedy });
  const pauses = new Pauses(redis, tagOf(name), name, log, (stage, why) =>
    alert(
      'paused',
      `stage ${stage}: ${why}`,
      'nothing is lost; mend it, and it goes on within ten minutes or at the next start',
    ),
  );
  const holds = new Holds({
    redis,
    tag: tagOf(name),
    source: name,
    log,
    onNews: ({ stage, only, why }) =>
      alert(
        'paused',
        `stage ${stage}, ${only}: ${why}`,
        'nothing is lost, others pass; mend it, and it goes on by itself',
      ),
    queues: () => Object.values(stages).map(({ queue }) => queue),
  });
  const batch = { size: source.batchSize, windowMs: shared.options.batchWindowMs ?? defaultBatchWindowMs };
  const whole = { read: wholeCalls(), write: wholeCalls() };
  const reader = (purpose: 'plan' | 'ask') =>
    createBatcher({
      ...batch,
      keyOf: (id: string) => id,
      run: (ids: readonly string[]) => whole.read(source.read(ids, purpose), ids.length),
      mayGrow: () => stages[purpose].hasMore(),
    });
  const readers = { plan: reader('plan'), ask: reader('ask') };
  const account = configured.connector.account(configured.settings);
  const context: SourceContext = {
    name,
    account: account === undefined ? undefined : `${configured.connector.name}:${account}`,
    seal,
    aliases,
    source,
    rules: configured.rules.map(loadRule),
    holds,
    store: new JourneyStore(redis, name, { now: clock.now, log, seal }),
    erasures: new Erasures(redis, name, seal),
    told,
    contacts: new ContactMemory(redis, seal),
    replicated: () => replicated(tagOf(name)),
    feedback: shared.feedback,
    campaigns: shared.campaigns,
    clock,
    ports,
    log,
    keepMs: config.retention.journeys,
    timeZone: config.feedback.timeZone,
    defaultCountry: config.defaultCountry,
    lookAfterMs: config.lookup.after,
    retryForMs: config.retry.for,
    marker: config.marker,
    serviceAddsDelay: !resolveOperations(config.feedback.operations).create.body.scheduled,
    callMs: config.feedback.timeoutMs,
    limited: shared.limited,
    limitedLooks: shared.limitedLooks,
    areOwned: async (requestIds) => {
      const sources = await context.sources();
      const owners = await Promise.all(sources.map(({ store }) => store.idsOfRequests(requestIds)));
      return requestIds.map((_, i) => owners.some((ids) => ids[i] !== undefined));
    },
    alert,
    sources: shared.sources,
    placesOfSources: () => shared.names.places(),
    missed: async (ref, at) => {
      await countMissed(redis, name);
      await alert(
        'missed',
        missedWebhooks,
        'they are asked about all the same; see why webhooks are lost ("closeloop check")',
      );
      log.warn({ journey: ref, at }, 'a closing that no webhook had told of');
    },
    revoke: async (why) => {
      const { erase: _, ...needAccess } = stages;
      for (const { queue } of Object.values(needAccess)) {
        await pauses.set(queue.name, why);
        await queue.pause();
      }
    },
    askedIn: async (campaign, late) => {
      await redis.zadd(askedInKey, Date.now(), String(campaign));
      if (late) await redis.del(seenKey(campaign));
    },
    read: (recordId, purpose) => readers[purpose](recordId),
    write: createBatcher({
      ...batch,
      keyOf: ({ marker }: WriteBack) => marker,
      run: (items: readonly WriteBack[]) => whole.write(source.writeBack(items), items.length),
      mayGrow: () => stages.writeBack.hasMore(),
    }),
    untilTurn: (key, spacingMs) =>
      untilTurn(redis, `${tagOf(name)}:backfill`, seal.digest(key), { spacingMs, now: Date.now() }),
    queueEvent: async (event, delayMs = 0) => {
      // A backfill's may wait for days, and a webhook of the same closing must not be taken for its repetition.
      const id = `${event.kind === 'closed' && event.via === 'backfill' ? 'backfill-' : ''}${jobIdOf(event.key, seal)}`;
      await stages.plan.add([{ id, data: event, ...(delayMs > 0 && { delayMs }) }]);
    },
    changeEvents: (change) => changeJobs(stages.plan, PlanJob, change),
    queueErasure: async (id, delayMs) => {
      await stages.erase.add([{ id: `erasure-${id}`, data: { kind: 'go-on', erasure: id }, delayMs }]);
    },
    queueAsk: async (journeyId, dueAt) => {
      await stages.ask.add([{ id: `ask-${journeyId}`, data: { journeyId }, delayMs: clock.until(dueAt) }]);
    },
    queueNoAnswer: async (journeyId) => {
      const delayMs = noAnswerDelayMs;
      await stages.writeBack.add([{ id: `no-answer-${journeyId}`, data: { journeyId, noAnswer: true }, delayMs }]);
    },
    queueWriteBack: async (journeyIds) => {
      if (journeyIds.length === 0) return;
      // One at a time for a journey: two writes on their way to the vendor could overtake each other.
      await stages.writeBack.addAgain(
        journeyIds.map((journeyId) => ({ id: `write-${journeyId}`, data: { journeyId } })),
      );
    },
  };
  const { onLost, names } = shared;
  // An erasure goes over all sources, and must find everybody in their place.
  const isGated = async (stage: string) =>
    (await names.isGated(name)) || (stage === 'erase' && (await names.isAnyMoving()));
  // Told first: who is killed in between tells it twice, and equal alerts are one.
  const givenUp = async (why: string, remedy: string, settle: () => Promise<void>) => {
    await alert('given-up', why, `mend the cause, then ${remedy}`);
    await settle();
  };
  const common = {
    source: name,
    prefix: tagOf(name),
    connection,
    probe: () => probe(redis, tagOf(name)),
    onLost,
    ports,
    log,
    holds,
    retryForMs: config.retry.for,
    ...(quarantine && { quarantine }),
  };
  /** @throws CloseloopError config while it may be another source under a new name: newcomers.ts */
  const mayBegin = async (stage: string): Promise<void> => {
    const why = stage === 'plan' ? await names.newcomer(name) : undefined;
    if (why !== undefined) throw new CloseloopError(why, { kind: 'config' });
  };
  const stage = <Data extends z.ZodType>(
    name: string,
    data: Data,
    process: (data: z.output<Data>, context: SourceContext) => Promise<StageResult>,
    giveUp: (data: z.output<Data>, why: string, context: SourceContext) => Promise<void>,
    remedy: (data: z.output<Data>) => string,
    more: Pick<StageOptions<Data>, 'endpoints' | 'keepGivenUp' | 'seal'> & { atOnce?: number } = {},
  ) =>
    new Stage({
      endpoints: [vendor, shared.service],
      ...common,
      name,
      concurrency: more.atOnce ?? concurrency,
      data,
      ...more,
      process: async (job) => {
        if (await isGated(name)) return gatedResult;
        await mayBegin(name);
        return await untilMended(process(job, context), context);
      },
      giveUp: (job, why) => givenUp(why, remedy(job), () => giveUp(job, why, context)),
      onConfigError: (why) => pauses.set(name, why),
      onForeign: (why) => alert('to-do', `stage ${name}: ${why}`, foreignRemedy),
    });
  const stages: SourcePipeline['stages'] = {
    plan: stage('plan', PlanJob, plan, giveUpPlan, remedies.plan, {
      seal,
      keepGivenUp: { isKept: ({ kind }) => kind !== 'closed' && kind !== 'revoked', forMs: config.retention.journeys },
    }),
    ask: stage('ask', AskJob, ask, giveUpAsk, remedies.ask),
    writeBack: stage('write-back', WriteBackJob, writeBack, giveUpWriteBack, remedies.writeBack, {
      endpoints: [vendor],
    }),
    erase: stage('erase', EraseJob, erase, giveUpErase, remedies.erase, { atOnce: 1, seal }),
  };
  const polling = {
    redis,
    pauses,
    everyMs: config.poll.every,
    headStartMs: config.poll.headStart,
    isHeldUp: async () => (await names.newcomer(name)) !== undefined,
    queueEvents: async (found: readonly { event: RecordJob; delayMs: number }[]) =>
      await stages.plan.add(
        found.map(({ event, delayMs }) => ({
          id: `poll-${jobIdOf(event.key, seal)}`,
          data: event,
          ...(delayMs > 0 && { delayMs }),
        })),
      ),
  };
  const isClosed = () => names.isGated(name);
  return { context, stages, pauses, isGated: isClosed, holds, vendor, poll: () => poll(context, polling) };
}

/**
 * What a record is refused for stands in its own result. A call that fails whole for good says nothing about any of several
 * records: the source is stopped when it stays so. Of one alone that can't be told, unless several have failed since a call
 * went well.
 */
function wholeCalls() {
  let isSourceAtFault = false;
  return async <T>(call: Promise<T>, records: number): Promise<T> => {
    try {
      const results = await call;
      isSourceAtFault = false;
      return results;
    } catch (error) {
      if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
      isSourceAtFault ||= records > 1;
      const kind = isSourceAtFault ? 'config' : 'permanent';
      const { outcome, reference } = error;
      throw new CloseloopError(error.message, { kind, doubtful: true }, { outcome, reference, cause: error });
    }
  };
}

/** BullMQ forbids ':' and plain numbers in ids; events' keys may hold anything. */
export function jobIdOf(key: string, seal: Seal): string {
  return `event-${seal.digest(key)}`;
}
