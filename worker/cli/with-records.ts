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

/** A source's stored data, with its connector, which knows how people call the records. */
export interface NamedRecords extends StoredSource {
  source: Source;
}

interface Sources<Source> extends Pick<Stored, 'runtime' | 'anySource'> {
  /** The one named, or all. @throws CloseloopError config for a name that isn't in the configuration */
  sources(name?: string): Source[];
}

/** Opens Redis for commands that read nothing else, and that take records as people name them: it loads the connectors, and no other code of vendors. */
export async function withRecordNames<T>(
  options: RuntimeOptions,
  work: (opened: Sources<NamedRecords>) => Promise<T>,
): Promise<T> {
  const open = (stored: Stored) => {
    const parts = partsOf(stored);
    const { config, redis, seal } = parts;
    const openOne = (one: StoredSource, configured: ConfiguredSource): NamedRecords => {
      const snapshots = createSnapshotStore(redis, {
        tag: tagOf(one.storedAs),
        keepMs: config.retention.journeys,
        seal,
      });
      return { ...one, source: openSource(configured, { ...one, snapshots }, parts).source };
    };
    const { runtime, anySource } = stored;
    return work({ runtime, anySource, sources: opening(stored, openOne) });
  };
  return await withStored(options, open, { uses: 'redis' });
}

/** A source, with everything that a decision about a closing needs, and with the states that can hold it up. */
export interface ReadSource extends Pick<StoredSource, 'pauses' | 'holds'> {
  context: ReadingContext;
}

/** Opens what commands need that read records at their vendors and decide about them as workers would. Such commands change nothing, and open no queue. */
export async function withReading<T>(
  options: RuntimeOptions,
  work: (opened: Sources<ReadSource>) => Promise<T>,
): Promise<T> {
  const { openingForReading } = await import('../pipeline/reading-source.ts');
  const read = async (stored: Stored) => {
    const { runtime, anySource } = stored;
    await checkAccount(runtime);
    const open = openingForReading(partsOf(stored));
    const openOne = ({ pauses, holds }: StoredSource, configured: ConfiguredSource): ReadSource => ({
      context: open(configured),
      pauses,
      holds,
    });
    return await work({ runtime, anySource, sources: opening(stored, openOne) });
  };
  return await withStored(options, read, {});
}

function partsOf({ runtime: { config, redis }, seal, log }: Stored) {
  return { config, redis, seal, log, ports: livePorts, clock: liveClock };
}

/** Opens only the sources that are wanted. */
function opening<Opened>(
  { sources, runtime }: Stored,
  open: (one: StoredSource, configured: ConfiguredSource) => Opened,
): (name?: string) => Opened[] {
  const configured = new Map(runtime.config.sources.map((one) => [one.name, one]));
  return (name) =>
    sources(name).flatMap((one) => {
      const own = configured.get(one.name);
      return own === undefined ? [] : [open(one, own)];
    });
}
