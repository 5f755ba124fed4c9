import { afterEach, beforeEach, expect } from 'vitest';
import type { z } from 'zod';
import type { Connector } from '../../core/connector/contract.ts';
import { type FeedbackStandin, startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { livePorts } from '../../worker/cli/live-ports.ts';
import { loadConfig } from '../../worker/config/config.ts';
import { withContactLists } from '../../worker/config/contact-lists.ts';
import type { Intent, Journey } from '../../worker/journey/journey.ts';
import { step } from '../../worker/journey/transitions.ts';
import { ask } from '../../worker/pipeline/ask/ask.ts';
import { type Clock, liveClock } from '../../worker/pipeline/clock.ts';
import { collect } from '../../worker/pipeline/collect/collect.ts';
import { Engine } from '../../worker/pipeline/engine.ts';
import type { JobQueue } from '../../worker/pipeline/job-queue.ts';
import type { AskedToErase, ExternalGradeJob, RecordJob } from '../../worker/pipeline/jobs.ts';
import { plan } from '../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../worker/pipeline/source-pipeline.ts';
import type { RedisClient } from '../../worker/redis/client.ts';
import { nameIn } from '../../worker/redis/keys.ts';
import type { Seal } from '../../worker/redis/seal.ts';
import { asDryRun } from '../../worker/sources/dry-run.ts';
import { atAnyHour } from './any-hour.ts';
import { memoryLog } from './loop.ts';
import { useRedis } from './redis.ts';
import { sealOf } from './seal.ts';
import { ToyVendor } from './toy-connector.ts';

export const hour = 3_600_000;
export const anyone = { customer: { email: 'erika@example.com' } };
export type UnitContext = ReturnType<ReturnType<typeof useManual>['unitContext']>;

/**
 * An empty Redis and a fresh stand-in of the service for each test of a file. `unitContext` opens a source whose queues nobody
 * works on: each step is taken by hand, so that anything can happen between two.
 */
export function useManual() {
  const redis = useRedis();
  let service: Awaited<ReturnType<typeof startFeedbackStandin>>;
  let seal: Seal;
  const opened: Engine[] = [];
  beforeEach(async () => {
    await redis.handle.client.flushall();
    seal = await sealOf(redis.handle.client);
    service = await startFeedbackStandin({ seed: true });
  });
  afterEach(async () => {
    for (const engine of opened.splice(0)) await engine.close(0);
    await service.close();
  });
  /**
   * `source`: left out, `calm`. `storedAs`: it was called so before. `others`: further sources on the same vendor, with the same rules. `general`: more of the
   * configuration. `now`: of calls. `feedback`: another service than the test's. `settings`: of the sources, with their connector, of
   * another vendor than the toy. `file`: the configuration's, beside which lists of contacts are.
   */
  const unitContext = (
    options: {
      rule?: string;
      /** Of each source. */
      answers?: string;
      vendor?: ToyVendor;
      settings?: string;
      connectors?: readonly Connector[];
      file?: string;
      operations?: object;
      source?: string;
      storedAs?: string;
      client?: RedisClient;
      others?: readonly string[];
      general?: string;
      now?: () => Date;
      clock?: Clock;
      dryRun?: boolean;
      feedback?: { url: string };
    } = {},
  ) => {
    const {
      vendor = new ToyVendor(),
      settings = 'connector: toy, secret: good',
      connectors = [vendor.connector],
      file = 'closeloop.yaml',
      source = 'calm',
      rule = '{ name: all, campaign: 12, contact: customer.email }',
      dryRun = false,
      feedback = service,
    } = options;
    const operations = options.operations === undefined ? '' : `, operations: ${JSON.stringify(options.operations)}`;
    const sources = [source, ...(options.others ?? [])];
    const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn${operations} }
lookup: { after: 0ms }
${options.general ?? ''}
sources: { ${sources.map((name) => `${name}: { ${settings}, rules: [${rule}]${options.answers === undefined ? '' : `, answers: ${options.answers}`} }`).join(', ')} }
`;
    const { log, told } = memoryLog();
    const written = withContactLists(loadConfig(text, { env: {}, connectors }), file);
    const renamed = written.sources.map((one) =>
      one.name === source ? { ...one, storedAs: options.storedAs ?? source } : one,
    );
    const config = { ...written, sources: renamed };
    const read = dryRun ? asDryRun(config) : config;
    const engine = new Engine({
      config: atAnyHour(read, text),
      redis: options.client ?? redis.handle.client,
      seal,
      connection: redis.handle.bull(),
      intakeConnection: redis.handle.bullIntake,
      replicated: redis.handle.replicated,
      batchWindowMs: 10,
      clock: options.clock ?? liveClock,
      ports: { ...livePorts, ...(options.now && { now: options.now }) },
      log,
    });
    opened.push(engine);
    const pipeline = engine.pipelines.get(nameIn(source, { dryRun })) ?? expect.fail('no pipeline');
    const { context } = pipeline;
    /** Which events, as queued, wait for planning. */
    const events = async () => await jobsOf(pipeline.jobs.plan);
    const trace = async (id: string) => (await context.store.trace(id)).map(({ text }) => text).join('\n');
    return { engine, pipeline, context, store: context.store, vendor, told, events, trace };
  };
  return {
    redis,
    unitContext,
    get standin(): FeedbackStandin {
      return service.standin;
    },
    get feedback() {
      return service;
    },
  };
}

/** What its jobs hold. */
export async function jobsOf<Data extends z.ZodType>(jobs: JobQueue<Data>): Promise<z.output<Data>[]> {
  return (await jobs.queue.getJobs()).flatMap(({ data }) => jobs.dataIn(data) ?? expect.fail('unreadable'));
}

let events = 0;
export const eventOf = (recordId: string, more: Partial<RecordJob> = {}): RecordJob => ({
  kind: 'closed',
  recordId,
  at: new Date(),
  key: `event ${++events}`,
  what: 'toy closed',
  certain: false,
  via: 'webhook',
  receivedAt: new Date(),
  ...more,
});
/** A request to erase, from now. */
export const eraseOf = (who: Partial<AskedToErase>): AskedToErase => ({
  kind: 'erase',
  at: new Date(),
  key: 'erase',
  what: 'toy erase',
  receivedAt: new Date(),
  personIds: [],
  recordIds: [],
  contacts: [],
  everybody: false,
  ...who,
});
/** A grade that was given elsewhere, without a comment. */
export const gradedElsewhere = (recordId: string, at: number, grade: number): ExternalGradeJob => ({
  kind: 'external-grade',
  recordId,
  grade,
  comment: null,
  at: new Date(at),
  key: `graded ${at}`,
  what: 'graded',
  receivedAt: new Date(),
});
export const open = { state: { is: 'open' } } as const;
export const closedAs = (closing: string, closedAt = new Date()) =>
  ({ state: { is: 'closed', closing, closedAt } }) as const;

/** The journey of a closing, asked or on its way. */
export async function asking({ context, store, vendor }: UnitContext, id: string): Promise<Journey> {
  vendor.close(id, anyone);
  await plan(eventOf(id), context);
  await ask({ journeyId: `${id}.1` }, context);
  return (await store.get(`${id}.1`)) ?? expect.fail('no journey');
}

/** A record `t` whose customer was asked about two closings of it, at a vendor that takes `no-answer`. */
export async function askedTwice(unitContext: ReturnType<typeof useManual>['unitContext']): Promise<UnitContext> {
  const vendor = new ToyVendor();
  vendor.writesNoAnswer = true;
  const unit = unitContext({
    vendor,
    rule: '{ name: all, campaign: 12, contact: customer.email, again: each closing }',
  });
  await asking(unit, 't');
  vendor.close('t', { ...anyone, ...closedAs('two') });
  await plan(eventOf('t'), unit.context);
  await ask({ journeyId: 't.2' }, unit.context);
  expect(await unit.store.get('t.2')).toMatchObject({ state: 'asked' });
  return unit;
}

/** A customer's answer is seen. */
export const answered = (
  { store }: Pick<UnitContext, 'store'>,
  id: string,
  grade: number,
  more: Partial<NonNullable<Journey['answer']>> = {},
) =>
  store.update(id, (now) => ({
    journey: step(now, 'answered', new Date(), {
      answer: { grade, comment: null, seenAt: new Date(), version: 1, ...more },
    }),
    trace: [],
  }));
export const minutesAgo = (minutes: number) => ({ seenAt: new Date(Date.now() - (minutes * hour) / 60) });

/** Works off what is queued, whenever it is due. */
export async function drain({ pipeline }: UnitContext, name: 'writeBack' | 'erase' = 'writeBack'): Promise<void> {
  const { queue } = pipeline.jobs[name];
  for (let jobs = await queue.getJobs(); jobs.length > 0; jobs = await queue.getJobs()) {
    for (const job of jobs) {
      while ((await pipeline.stages[name].run(job.data)).do === 'wait');
      await job.remove();
      await queue.removeDeduplicationKey(job.deduplicationId ?? '');
    }
  }
}

/** The object, with some of its methods replaced. */
export function overriding<T extends object>(whole: T, methods: Partial<T>): T {
  return new Proxy(whole, {
    get(target, name) {
      const own = Reflect.get(name in methods ? methods : target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

/** A context in which this happens when a record has been read, and is not yet worked with. */
export const afterReading = (context: SourceContext, happen: () => Promise<unknown>): SourceContext => ({
  ...context,
  read: async (...args) => {
    const found = await context.read(...args);
    await happen();
    return found;
  },
});

/** What another worker notes before it asks; not to be looked for within the hour. */
export const intentNow = (): Intent => ({
  token: 'another worker',
  at: new Date(),
  campaign: 12,
  numAppeals: 0,
  lastAppeal: null,
  searchAfter: new Date(Date.now() + hour),
});
/** Another worker begins to ask. */
export async function goesAhead({ store }: Pick<SourceContext, 'store'>, id: string): Promise<void> {
  await store.update(id, (now) => ({
    journey: step(now, 'creating', new Date(), { intent: intentNow(), attempts: 1 }),
    trace: ['creating'],
  }));
}
/** … and has asked. */
export async function hasAsked({ store }: Pick<SourceContext, 'store'>, id: string, requestId: string): Promise<void> {
  await store.update(id, ({ intent: _, ...now }) => ({
    journey: step(now, 'asked', new Date(), { requestId, askedAt: new Date() }),
    trace: ['asked'],
  }));
}
/** The service keeps the request as `Scheduled`. */
export const later = {
  rule: '{ name: all, campaign: 112, contact: customer.email }',
  operations: { create: { body: { scheduled: null } } },
};
export const slowCampaign = (standin: FeedbackStandin) =>
  standin.addCampaign({ account: 'acme', id: 112, name: 'Later', type: 'mixed', sendDelay: 60 });

/** A collecting pass over campaign 12, for one source. It reads the whole export unless `options` say otherwise. */
export async function passOf(
  redis: RedisClient,
  source: SourceContext,
  options: Partial<Parameters<typeof collect>[1]> = {},
): Promise<void> {
  const { feedback, clock, log, alert } = source;
  const sources = async () => [source];
  const lastErrors = new Map();
  await collect(
    { campaign: 12 },
    { redis, feedback, sources, clock, log, alert, lastErrors, fullEveryMs: 0, ...options },
  );
}
