import { z } from 'zod';
import type { SourceEvent } from '../../core/connector/contract.ts';
import type { RecordEvent } from '../../core/connector/events.ts';
import { messageOf } from '../../core/errors.ts';
import { slices } from '../../core/spread.ts';
import { noteDeliveries } from '../operations/delivery-counts.ts';
import { nameInEarnest, tagOf } from '../redis/keys.ts';
import { storedNames } from '../sources/stored-names.ts';
import type { EngineOptions } from './engine-options.ts';
import { noteRequested } from './erasure-guard.ts';
import { GroupCommit } from './group-commit.ts';
import { mostTogether } from './job-queue.ts';
import { EraseJob, PlanJob } from './jobs.ts';
import { addEvents, type IngestionQueues, jobIdOf, mayShareJob, openIngestionQueues } from './queues.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** Deliveries are counted in Redis this long after the first delivery that was not counted. */
const noteEveryMs = 1_000;
/** The least time between two checks whether any event of a source was given up. */
const lookEveryMs = 1_000;
/** The most events of a delivery that are stored in one write, each as a job of its own. */
const eventsAtOnce = 100;
/** The characters from which no further event joins a job. */
const mostCharacters = 64 * 1_024;

interface IngestedSource extends IngestionQueues {
  together: GroupCommit<StoredEvent>;
  /** Whether there were given-up events at `at`. */
  givenUp?: { at: number; any: Promise<boolean> };
}

/** Instants are numbers, milliseconds since 1970: writing numbers takes a quarter of the time of writing dates, and reading them is faster, too. */
type StoredEvent = Omit<RecordEvent, 'at'> & { at: number; receivedAt: number };

interface IngestionOptions {
  engine: EngineOptions;
  pipelines: ReadonlyMap<string, SourcePipeline>;
  onLost: (error: Error) => void;
}

/** Stores deliveries, through its own connections, which fail at once while Redis is down. */
export class Ingestion {
  readonly #options: IngestionOptions;
  readonly #sources = new Map<string, IngestedSource>();
  /** The sources by the name in the URL of a delivery, also by former names, which vendors use until a person runs "setup". */
  readonly routes = new Map<string, SourcePipeline>();
  /** For each source, the deliveries that are counted here and not in Redis yet. */
  readonly #uncounted = new Map<string, { count: number; at: Date; store: () => void }>();

  constructor(options: IngestionOptions) {
    this.#options = options;
  }

  /** Resolves when Redis answers: the HTTP server listens only then. */
  async open(): Promise<void> {
    const { engine, pipelines, onLost } = this.#options;
    await this.#openRoutes();
    for (const [name, { context }] of pipelines) {
      const queues = openIngestionQueues(context.storedAs, {
        connection: engine.intakeConnection(),
        seal: engine.seal,
        tracing: engine.tracing,
        onLost,
      });
      for (const { queue } of Object.values(queues)) await queue.waitUntilReady();
      this.#sources.set(name, { ...queues, together: this.#togetherOf(context, queues) });
      // Connects now, so that the first delivery need not wait.
      await engine.replicated(tagOf(context.storedAs))?.catch(() => undefined);
    }
  }

  /**
   * Stores a delivery's events. Events that may share a job are stored together with events of other deliveries that come at the same
   * time; the other events are stored a hundred per write, as thousands in one write would block the process for a second. Resolves when
   * Redis, and a replica if there is one, has all events.
   */
  async store(route: string, events: readonly SourceEvent[], receivedAt: Date): Promise<void> {
    const { engine, pipelines } = this.#options;
    const source = this.routes.get(route)?.context.name ?? route;
    const queues = this.#sources.get(source);
    const pipeline = pipelines.get(source);
    if (!queues || !pipeline) throw new Error(`source ${source} is not open: openIngestion comes first`);
    // A delivery is acknowledged only if every event can be processed.
    for (const event of events) {
      const { error } = (event.kind === 'erase' ? EraseJob : PlanJob).safeParse({ ...event, receivedAt });
      if (error) throw new Error(`its connector has made an event that is none: ${z.prettifyError(error)}`);
    }
    const [shared, alone]: [RecordEvent[], SourceEvent[]] = [[], []];
    for (const event of events) {
      if (mayShareJob(event)) shared.push(event);
      else alone.push(event);
    }
    for (const some of slices(shared, eventsAtOnce)) {
      await Promise.all(some.map((event) => queues.together.add(stored(event, receivedAt))));
    }
    if (alone.length > 0) await this.#storeAlone(pipeline.context, queues, alone, receivedAt);
    this.#countDelivery(pipeline.context);
    this.#retryGivenUp(queues, events, receivedAt).catch((error: unknown) =>
      engine.log.debug({ source, why: messageOf(error) }, 'whether events were given up could not be looked at'),
    );
  }

  /** Retries a given-up job whose event is delivered again, as BullMQ adds no job with the id of a given-up job. Few sources have given-up jobs. */
  async #retryGivenUp(queues: IngestedSource, events: readonly SourceEvent[], receivedAt: Date): Promise<void> {
    const at = receivedAt.getTime();
    if (queues.givenUp === undefined || at - queues.givenUp.at >= lookEveryMs)
      queues.givenUp = { at, any: queues.plan.keepsGivenUp() };
    if (!(await queues.givenUp.any)) return;
    for (const { key } of events) await queues.plan.replayIfGivenUp(jobIdOf(key, this.#options.engine.seal));
  }

  async #storeAlone(
    context: SourcePipeline['context'],
    queues: IngestionQueues,
    events: readonly SourceEvent[],
    receivedAt: Date,
  ): Promise<void> {
    const { engine } = this.#options;
    await noteRequested(events, receivedAt, context);
    for (const some of slices(events, eventsAtOnce)) {
      const due = some.map((event) => ({ event: { ...event, receivedAt } }));
      await addEvents(queues, due, (key) => jobIdOf(key, engine.seal));
    }
    await engine.replicated(tagOf(context.storedAs));
  }

  #togetherOf({ storedAs }: { storedAs: string }, { plan }: IngestionQueues): IngestedSource['together'] {
    const { replicated, tracing } = this.#options.engine;
    return new GroupCommit({
      // A trace is about one delivery.
      items: tracing ? 1 : mostTogether,
      size: mostCharacters,
      sizeOf: ({ key, what, recordId, closing = '' }) => key.length + what.length + recordId.length + closing.length,
      write: async (events) => {
        await plan.addTogether(events);
        await replicated(tagOf(storedAs));
      },
    });
  }

  /** Counts a delivery for `status` and the page: the first at once, further deliveries together once a second, which is cheap under load. */
  #countDelivery({ name: source, storedAs, clock }: SourcePipeline['context']): void {
    const { redis, log } = this.#options.engine;
    const waiting = this.#uncounted.get(source);
    const at = clock.now();
    if (waiting) {
      waiting.count += 1;
      waiting.at = at;
      return;
    }
    const counted = {
      ...{ count: 1, at },
      store: () => {
        const { count } = counted;
        counted.count = 0;
        if (count === 0) return;
        noteDeliveries(redis, storedAs, counted.at, count).catch((error: unknown) =>
          log.debug({ source, why: messageOf(error) }, 'deliveries could not be counted for status'),
        );
      },
    };
    counted.store();
    this.#uncounted.set(source, counted);
    setTimeout(() => {
      this.#uncounted.delete(source);
      counted.store();
    }, noteEveryMs).unref();
  }

  close(): void {
    for (const { store } of this.#uncounted.values()) store();
    for (const queues of this.#sources.values()) {
      for (const { queue } of [queues.plan, queues.erase]) void queue.close().catch(() => undefined);
    }
  }

  async #openRoutes(): Promise<void> {
    const { engine, pipelines } = this.#options;
    const former = await storedNames(engine.redis);
    for (const pipeline of pipelines.values()) {
      const storedAs = nameInEarnest(pipeline.context.storedAs);
      const names = [...former].flatMap(([name, its]) => (its === storedAs ? [name] : []));
      for (const name of [storedAs, ...names, nameInEarnest(pipeline.context.name)]) this.routes.set(name, pipeline);
    }
  }
}

function stored(event: RecordEvent, receivedAt: Date): StoredEvent {
  // A connector written without types may give the instant as a text.
  return { ...event, at: new Date(event.at).getTime(), receivedAt: receivedAt.getTime() };
}
