import type { Queue } from 'bullmq';
import type { Log } from '../../core/ports.ts';
import { Erasures } from '../journey/erasures.ts';
import { FollowUpLists } from '../journey/follow-up-lists.ts';
import { JourneyStore } from '../journey/store.ts';
import { Holds } from '../operations/holds.ts';
import { Outage, serviceEndpoint, vendorEndpoint } from '../operations/outage.ts';
import { Pauses } from '../operations/pauses.ts';
import { globalTag, isDryRun, nameIn, nameInEarnest, tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { knownSources } from '../sources/known-sources.ts';
import { sourceNamed, withStoredNames } from '../sources/stored-names.ts';
import type { StoredSource } from '../support/source-state.ts';
import {
  commandLog,
  dataKeyOf,
  named,
  openToRead,
  type Reading,
  type Runtime,
  type RuntimeOptions,
} from './runtime.ts';

export type { StoredSource } from '../support/source-state.ts';

export interface Stored {
  runtime: Runtime;
  /** The source of this name, or all of the configuration. @throws CloseloopError config for a name that isn't in it */
  sources(name?: string): StoredSource[];
  /** Opens a source by its names, also one that the configuration does not have. */
  source(names: Pick<StoredSource, 'name' | 'storedAs'>): StoredSource;
  /** The source that has, or had, this name; of those that Redis knows as well. */
  anySource(name: string): Promise<StoredSource | undefined>;
  /** Whether the Feedback service answers. */
  service: Outage;
  /** The pauses of collecting grades. */
  collecting: Pauses;
  seal: Seal;
  /** On standard error, from warnings up. */
  log: Log;
}

/**
 * Opens Redis for commands that read nothing else: they start several times as fast as commands that may call a vendor.
 * @param reading more of the configuration, for with-records.ts
 */
export async function withStored<T>(
  options: RuntimeOptions,
  work: (stored: Stored) => Promise<T>,
  reading: Reading = { uses: 'redis', sources: 'named' },
): Promise<T> {
  const runtime = await openToRead(options, reading);
  try {
    return await work(await storedIn(runtime));
  } finally {
    await runtime.close();
  }
}

/** Opens a queue for some work on its jobs. BullMQ is loaded here, as commands that only read do without it. */
export async function withQueue<T>(
  { handle }: Pick<Runtime, 'handle'>,
  { prefix, name }: { prefix: string; name: string },
  work: (queue: Queue) => Promise<T>,
): Promise<T> {
  const { Queue } = await import('bullmq');
  const queue = new Queue(name, { prefix, connection: handle.bull(), skipMetasUpdate: true });
  // Logged by the connection itself.
  queue.on('error', () => undefined);
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}

async function storedIn(runtime: Runtime): Promise<Stored> {
  const { redis } = runtime;
  const config = await withStoredNames(runtime.config, redis, { remember: false });
  runtime.config = config;
  const log = commandLog();
  const { seal } = await dataKeyOf(runtime);
  const now = () => new Date();
  const source = ({ name, storedAs }: Pick<StoredSource, 'name' | 'storedAs'>): StoredSource => {
    const tag = tagOf(storedAs);
    return {
      name,
      storedAs,
      timeZone: config.feedback.timeZone,
      defaultCountry: config.defaultCountry,
      store: new JourneyStore(redis, storedAs, { now, log, seal }),
      erasures: new Erasures(redis, storedAs, seal),
      followUps: new FollowUpLists(redis, storedAs),
      pauses: new Pauses(redis, tag, name, log),
      holds: new Holds({ redis, tag, source: name, log, onNews: async () => undefined, queues: () => [] }),
      vendor: new Outage(redis, { ...vendorEndpoint({ name, storedAs }), log }),
    };
  };
  return {
    runtime,
    source,
    anySource: async (name) => {
      const all = [...config.sources, ...(await knownSources(redis))];
      const found = await sourceNamed(nameIn(name, config), all, redis);
      return found && source(found);
    },
    sources: (name) => {
      if (name === undefined) return config.sources.map(source);
      const all = config.sources.map((one) => ({ name: nameInEarnest(one.name), one }));
      return [source(named('source', nameInEarnest(name), all).one)];
    },
    service: new Outage(redis, { ...serviceEndpoint, log }),
    collecting: new Pauses(redis, globalTag, 'collect', log),
    seal,
    log,
  };
}

/** All sources of the configuration and all that Redis knows, without those of dry runs, which send nothing to anybody. */
export async function allSources({ runtime, sources, source }: Stored): Promise<StoredSource[]> {
  const own = sources();
  const known = (await knownSources(runtime.redis)).filter(
    ({ storedAs }) => !isDryRun(storedAs) && own.every((one) => one.storedAs !== storedAs),
  );
  return [...own, ...known.map(source)];
}
