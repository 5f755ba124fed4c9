import type { Source } from '../../core/connector/contract.ts';
import type { ConfiguredSource } from '../config/config.ts';
import { createSnapshotStore } from '../journey/snapshots.ts';
import { liveClock } from '../pipeline/clock.ts';
import { openSource } from '../pipeline/open-source.ts';
import type { ReadingContext } from '../pipeline/reading-source.ts';
import { tagOf } from '../redis/keys.ts';
import { livePorts } from './live-ports.ts';
import { checkAccount, type RuntimeOptions } from './runtime.ts';
import { type Stored, type StoredSource, withStored } from './with-stored.ts';

interface Opened<One> extends Pick<Stored, 'runtime' | 'anySource'> {
  /** The one named, or all. @throws CloseloopError config for a name that isn't in the configuration */
  sources(name?: string): One[];
}

/** A source's stored data, with its connector, which knows how people call the records. */
type NamedRecords = StoredSource & { source: Source };

/** Opens Redis for commands that read nothing else, and that take records as people name them: it loads the connectors, and no other code of vendors. */
export async function withRecordNames<T>(
  options: RuntimeOptions,
  work: (opened: Opened<NamedRecords>) => Promise<T>,
): Promise<T> {
  const open = async (stored: Stored) => {
    const parts = partsOf(stored);
    const { config, redis, seal } = parts;
    const keepMs = config.retention.journeys;
    const opened = opening(stored, (one, configured): NamedRecords => {
      const snapshots = createSnapshotStore(redis, { tag: tagOf(one.storedAs), keepMs, seal });
      return { ...one, source: openSource(configured, { ...one, snapshots }, parts).source };
    });
    return await work(opened);
  };
  return await withStored(options, open, { uses: 'redis' });
}

/** A source, with everything that a decision about a closing needs, and with the states that can hold it up. */
type ReadSource = Pick<StoredSource, 'pauses' | 'holds'> & { context: ReadingContext };

/** Opens what commands need that read records at their vendors and decide about them as workers would. Such commands change nothing, and open no queue. */
export async function withReading<T>(
  options: RuntimeOptions,
  work: (opened: Opened<ReadSource>) => Promise<T>,
): Promise<T> {
  const { openingForReading } = await import('../pipeline/reading-source.ts');
  const read = async (stored: Stored) => {
    await checkAccount(stored.runtime);
    const open = openingForReading(partsOf(stored));
    const opened = opening(stored, ({ pauses, holds }, configured): ReadSource => {
      return { context: open(configured), pauses, holds };
    });
    return await work(opened);
  };
  return await withStored(options, read, {});
}

function partsOf({ runtime: { config, redis }, seal, log }: Stored) {
  return { config, redis, seal, log, ports: livePorts, clock: liveClock };
}

/** Opens only the sources that are wanted. */
function opening<One>(
  { sources, runtime, anySource }: Stored,
  open: (one: StoredSource, configured: ConfiguredSource) => One,
): Opened<One> {
  const configured = new Map(runtime.config.sources.map((one) => [one.name, one]));
  const openOne = (one: StoredSource): One[] => {
    const own = configured.get(one.name);
    return own === undefined ? [] : [open(one, own)];
  };
  return { runtime, anySource, sources: (name) => sources(name).flatMap(openOne) };
}
