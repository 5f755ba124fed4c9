import { randomUUID } from 'node:crypto';
import { adviceOf, CloseloopError, messageOf } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import type { Alerts } from '../operations/alerts.ts';
import { globalTag } from '../redis/keys.ts';
import { probe } from '../redis/unavailable.ts';
import { Claims } from './claims.ts';
import type { EngineOptions } from './engine-options.ts';
import { JobQueue } from './job-queue.ts';
import { SendJob } from './jobs.ts';
import { receiverOf, webhookOf } from './send/receivers.ts';
import { giveUpSend, type Prepare, type SendSource, send } from './send/send.ts';
import { Stage } from './stage.ts';
import { type AnyTarget, anyTargetsOf } from './targets.ts';

interface SendingOptions {
  engine: EngineOptions;
  alerts: Alerts;
  sources: () => Promise<SendSource[]>;
  onLost: (error: Error) => void;
}

/** The name in logs and metrics, in place of a source's name. */
export const outgoing = 'outgoing';
/** An event that a target has not taken for this long is given up. Real time. */
const retryForMs = 3 * 86_400_000;
/** Records of a webhook that are worked on at once. For chats it is one record, as they take one message a second. */
const webhookAtOnce = 25;
/** A sweep spends at most this long on one target and source. The next sweep goes on from there. Real time. */
const longestMs = 2_000;

interface Opened {
  stage: Stage<typeof SendJob>;
  close(): Promise<void>;
}

/**
 * Sends events of journeys to each webhook and to each receiver that an answer rule names. Each has a queue of its own, so that one that is
 * down delays no other. Due events are stored with the journeys (journey/outgoing.ts): a lost job loses no event.
 */
export class Sending {
  readonly #options: SendingOptions;
  readonly #opened: ReadonlyMap<string, Opened>;
  /** The place that the sweep of a target and a source has reached. */
  readonly #places = new Map<string, AsyncGenerator<string[]>>();

  constructor(options: SendingOptions) {
    this.#options = options;
    const { config } = options.engine;
    // A dry run tells nobody.
    const targets = config.dryRun ? [] : anyTargetsOf(config);
    this.#opened = new Map(targets.map((one) => [one.target.key, this.#open(one)]));
  }

  #open(one: AnyTarget): Opened {
    const { engine, alerts, sources, onLost } = this.#options;
    const { redis, connection, ports, log, observer, tracing } = engine;
    const { target } = one;
    const name = target.key;
    const { prepare, close } = one.is === 'webhook' ? webhookOf(one.webhook, engine) : receiverOf(one, engine);
    const context = { target, prepare: neverStopping(prepare), sources };
    const people = one.is === 'webhook' ? `webhook ${target.by.name}` : `receiver ${target.by.name}`;
    const stage = new Stage({
      jobs: new JobQueue({
        ...{ name, prefix: globalTag, connection, data: SendJob, telemetry: tracing?.telemetry, onLost },
        together: {
          keyOf: ({ source, recordId }) => `${source} ${recordId}`,
          // A new id each time: BullMQ would not add a job with the id of a job that is about to end.
          idOf: () => `send-${randomUUID()}`,
          claims: new Claims(redis, { prefix: globalTag, name }),
          most: 1,
        },
      }),
      source: outgoing,
      concurrency: one.is === 'webhook' ? webhookAtOnce : 1,
      process: (job) => send(job, context),
      giveUp: async (job, why) => {
        const { source = people, journeys } = await aboutOf(job, name, sources);
        await alerts.of(source)('given-up', `${people} took no events: ${why}`, remedyOf(one), journeys);
        await giveUpSend(job, context);
      },
      ...{ retryForMs, alert: alerts.of(people), ports, log, observer },
      onConfigError: async () => undefined,
      probe: () => probe(redis, globalTag),
    });
    return { stage, close };
  }

  /** Queues the sending of the events about this record that are due to the target. */
  async wake(target: string, source: string, recordId: string): Promise<void> {
    await this.#opened.get(target)?.stage.jobs.addWanted([{ source, recordId }]);
  }

  start(): void {
    for (const { stage } of this.#opened.values()) stage.start();
  }

  get stages(): Stage<typeof SendJob>[] {
    return [...this.#opened.values()].map(({ stage }) => stage);
  }

  /** Adds missing jobs for due events: a process was killed, a command stored the event, or a person replays it. */
  async sweep({ storedAs, store }: Pick<SendSource, 'storedAs' | 'store'>): Promise<void> {
    for (const [target, { stage }] of this.#opened) {
      await store.outgoing.forgetOld(target);
      const end = performance.now() + longestMs;
      const place = `${target} ${storedAs}`;
      // Goes on from the place that the last sweep has reached.
      const pages = this.#places.get(place) ?? store.outgoing.records(target, 'due');
      this.#places.set(place, pages);
      for (let isLast = false; !isLast && performance.now() < end; ) {
        const page = await pages.next().catch((error: unknown) => {
          this.#places.delete(place);
          throw error;
        });
        isLast = page.done === true;
        if (page.done) this.#places.delete(place);
        else await stage.jobs.addWanted(page.value.map((recordId) => ({ source: storedAs, recordId })));
      }
    }
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all(
      [...this.#opened.values()].map(async ({ stage, close }) => {
        await stage.close(graceMs);
        await close();
      }),
    );
  }
}

/** A mistake in the configuration stops no queue: the event is tried again until it is given up, like after a transient error. */
function neverStopping(prepare: Prepare): Prepare {
  return async (...about) => {
    const attempt = await prepare(...about).catch(asTransient);
    return attempt && (async () => await attempt().catch(asTransient));
  };
}

function asTransient(error: unknown): never {
  if (adviceOf(error).kind !== 'config') throw error;
  throw new CloseloopError(messageOf(error), { kind: 'transient' }, { cause: error });
}

function remedyOf({ is, target }: AnyTarget): string {
  return is === 'webhook'
    ? `mend the receiver, then "closeloop webhooks replay ${target.by.name}"`
    : 'mend the receiver, and see to these journeys yourself: nobody is told of them again';
}

/** The source and the journey of the event that was not taken. */
async function aboutOf(job: SendJob, target: string, sources: SendingOptions['sources']) {
  const of = (await sources()).find(({ storedAs }) => storedAs === job.source);
  // An event that can't be read is given up as well.
  const event = await of?.store.outgoing.first(target, job.recordId).catch(() => undefined);
  return { source: of?.name, journeys: of && event ? [refOf(of.name, event.journeyId)] : [] };
}
