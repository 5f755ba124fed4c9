import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Log } from '../../core/ports.ts';
import { type FeedbackStandin, startFeedbackStandin } from '../../standins/feedback/standin.ts';
import type { StandinServer } from '../../standins/kit/server.ts';
import { type App, run } from '../../worker/cli/app.ts';
import { loadConfig } from '../../worker/config/config.ts';
import type { Erasures } from '../../worker/journey/erasures.ts';
import type { Journey, JourneyState } from '../../worker/journey/journey.ts';
import type { JourneyStore } from '../../worker/journey/store.ts';
import type { Tracing } from '../../worker/operations/tracing.ts';
import { type Clock, liveClock } from '../../worker/pipeline/clock.ts';
import type { Engine } from '../../worker/pipeline/engine.ts';
import { accountKey, knownSourcesKey, nameIn, seenKey } from '../../worker/redis/keys.ts';
import { asDryRun } from '../../worker/sources/dry-run.ts';
import { atAnyHour } from './any-hour.ts';
import type { TestRedis } from './redis.ts';
import { type ToyRecord, ToyVendor } from './toy-connector.ts';

/** Log lines, for tests that look at what was told. */
export interface Told {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

export function memoryLog(): { log: Log; told: Told[] } {
  const told: Told[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    told.push({ level, fields: { ...fields }, message });
  };
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, told };
}

/** Looks until `find` gives something. The test's own time-out ends a search in vain. */
export async function until<T>(find: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await sleep(20);
  }
}

/** The machine's clock, which a test puts forward: nobody waits for what is hours away. */
export function movableClock() {
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const clock: Clock = { ...liveClock, now, until: (at) => Math.max(0, at.getTime() - now().getTime()) };
  return {
    clock,
    /** So much time passes at once, when `engine` has nothing to do: the asking that waits for it is due then. */
    async pass(engine: Engine, ms: number) {
      await until(async () => (await engine.busy()) === 0);
      aheadMs += ms;
      for (const { jobs } of engine.pipelines.values()) await jobs.ask.queue.promoteJobs();
    },
  };
}

export interface Loop {
  vendor: ToyVendor;
  feedback: StandinServer & { standin: FeedbackStandin };
  app: App;
  told: Told[];
  store: JourneyStore;
  erasures: Erasures;
  /** The configuration's text. */
  text: string;
  post(body: string, headers?: Record<string, string>, source?: string): Promise<Response>;
  /** The journey once it is in this state; waiting or asked, once the job that brought it there has ended as well. */
  journey(id: string, state: JourneyState): Promise<Journey>;
  /** Closes a record, and waits until its customer was asked. */
  asked(id: string, more?: Partial<ToyRecord>): Promise<Journey>;
  /** Closes these records, and tells of them a hundred at a time. @throws when a delivery is not taken */
  closeAll(ids: readonly string[], more?: Partial<ToyRecord>): Promise<void>;
  /** So many hours pass at once. */
  hoursPass(hours: number): Promise<void>;
  close(): Promise<void>;
}

/** Which service the last loop on each Redis had. */
const lastService = new WeakMap<TestRedis, Loop['feedback']>();

interface LoopOptions {
  source: string;
  rule?: string;
  general?: string;
  vendor?: ToyVendor;
  feedback?: Loop['feedback'];
  operations?: object;
  /** After a create of unknown outcome. Default 50ms. */
  searchAfter?: string;
  /** Further sources on the same vendor, with the same rule. */
  others?: readonly string[];
  tracing?: Tracing | undefined;
  /** As `start --dry-run` does. */
  dryRun?: boolean;
  /** The source's earlier name. */
  was?: string;
  /** Sweeps try stopped stages. Default: 200 ms. */
  sweepEveryMs?: number;
}

/** As `openLoop`, for one test: it ends with the test, also with one that fails, as it would go on beside the next one. */
export async function startLoop(redis: TestRedis, options: LoopOptions): Promise<Loop> {
  const loop = await openLoop(redis, options);
  onTestFinished(() => loop.close());
  return loop;
}

/** The loop in this process, with a toy vendor, the stand-in of the service and a real Redis, over real sockets. */
export async function openLoop(redis: TestRedis, options: LoopOptions): Promise<Loop> {
  const vendor = options.vendor ?? Object.assign(new ToyVendor(), { account: options.source });
  const feedback = options.feedback ?? (await startFeedbackStandin({ seed: true }));
  const { dryRun = false } = options;
  const operations = options.operations === undefined ? '' : `, operations: ${JSON.stringify(options.operations)}`;
  const rule = options.rule ?? '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
  const sources = [options.source, ...(options.others ?? [])].map(
    (name) => `
  ${name}:${
    options.was !== undefined && name === options.source
      ? `
    was: ${options.was}`
      : ''
  }
    connector: toy
    secret: good
    rules:
      - ${rule}`,
  );
  const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn${operations} }
http: { port: 0 }
lookup: { after: ${options.searchAfter ?? '50ms'} }
collect: { every: 200ms }
${options.general ?? ''}
sources:${sources.join('')}
`;
  const written = loadConfig(text, { env: {}, connectors: [vendor.connector] });
  const config = atAnyHour(dryRun ? asDryRun(written) : written, text);
  const { log, told } = memoryLog();
  const { handle } = redis;
  // Another service, whose requests have the same ids: what earlier tests had from theirs says nothing about it.
  if (lastService.get(redis) !== feedback) await handle.client.del(seenKey(12), knownSourcesKey, accountKey);
  lastService.set(redis, feedback);
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const { clock, pass } = movableClock();
  const app = await run(runtime, {
    role: 'all',
    clock,
    log,
    batchWindowMs: 10,
    sweepEveryMs: options.sweepEveryMs ?? 200,
    tracing: options.tracing,
  });
  const { context, jobs } = app.engine.pipelines.get(nameIn(options.source, { dryRun })) ?? missing(options.source);
  const { store, erasures } = context;
  const isAsking = async () => (await jobs.plan.queue.getActiveCount()) + (await jobs.ask.queue.getActiveCount()) > 0;
  const isIn = async (id: string, state: JourneyState) => (await store.get(id))?.state === state;
  const post: Loop['post'] = (body, headers = {}, source = options.source) =>
    fetch(`${app.url}/hooks/${source}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-toy-secret': 'good', ...headers },
    });
  const journey: Loop['journey'] = (id, state) =>
    until(async () => {
      if (!(await isIn(id, state))) return undefined;
      // The job that plans passes through `waiting`, and stores the job that asks after it; the one that has asked holds
      // the lock on the contact for a moment still.
      if ((state === 'waiting' || state === 'asked') && (await isAsking())) return undefined;
      const found = await store.get(id);
      return found?.state === state ? found : undefined;
    });
  let closed: Promise<void> | undefined;
  const close = async () => {
    await app.close();
    if (!options.feedback) await feedback.close();
  };
  return {
    vendor,
    feedback,
    app,
    told,
    store,
    erasures,
    text,
    post,
    async closeAll(ids, more) {
      const events = ids.map((id) => ({ kind: 'closed' as const, id, at: vendor.close(id, more).at }));
      for (let from = 0; from < events.length; from += 100) {
        const { status } = await post(vendor.delivery(events.slice(from, from + 100)));
        if (status !== 202) throw new Error(`the delivery was answered with ${status}`);
      }
    },
    journey,
    async asked(id, more) {
      await post(vendor.close(id, more).delivery);
      return await journey(`${id}.1`, 'asked');
    },
    hoursPass: (hours) => pass(app.engine, hours * 3_600_000),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function missing(source: string): never {
  throw new Error(`the loop has no source ${source}`);
}
