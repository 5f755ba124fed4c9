import type { Source } from '../../core/connector/contract.ts';
import { createSnapshotStore } from '../journey/snapshots.ts';
import { liveClock } from '../pipeline/clock.ts';
import { openSource } from '../pipeline/open-source.ts';
import type { ReadingContext } from '../pipeline/reading-source.ts';
import { tagOf } from '../redis/keys.ts';
import { livePorts } from './live-ports.ts';
import type { RuntimeOptions } from './runtime.ts';
import { type Stored, type StoredSource, withStored } from './with-stored.ts';

/** What is stored of a source, with its connector, which knows how people call its records. */
export interface NamedRecords extends StoredSource {
  source: Source;
}

interface Sources<Source> extends Pick<Stored, 'runtime'> {
  /** The one named, or all. @throws CloseloopError config for a name that isn't in the configuration */
  sources(name?: string): Source[];
}

/** For commands that read nothing but Redis, about records as people name them: of vendors' code only the connectors are loaded. */
export async function withRecordNames<T>(
  options: RuntimeOptions,
  work: (opened: Sources<NamedRecords>) => Promise<T>,
): Promise<T> {
  const open = (stored: Stored) => {
    const parts = partsOf(stored);
    const { config, redis, seal } = parts;
    const opened = config.sources.map((configured): [string, Source] => {
      const { name } = configured;
      const snapshots = createSnapshotStore(redis, { tag: tagOf(name), keepMs: config.retention.journeys, seal });
      return [name, openSource(configured, { ...stored.source(name), snapshots }, parts).source];
    });
    const join = (one: StoredSource, source: Source): NamedRecords => ({ ...one, source });
    return work({ runtime: stored.runtime, sources: joining(stored, new Map(opened), join) });
  };
  return await withStored(options, open, { uses: 'redis' });
}

/** A source, with all that a decision about a closing takes, and what can hold that up. */
export interface ReadSource extends Pick<StoredSource, 'pauses' | 'holds'> {
  context: ReadingContext;
}

/** For commands that read records at their vendors and decide about them as workers would. They change nothing, and open no queue. */
export async function withReading<T>(
  options: RuntimeOptions,
  work: (opened: Sources<ReadSource>) => Promise<T>,
): Promise<T> {
  const [{ checkAccount }, { openForReading }] = await Promise.all([
    import('./check-account.ts'),
    import('../pipeline/reading-source.ts'),
  ]);
  const open = async (stored: Stored) => {
    const { runtime } = stored;
    await checkAccount(runtime);
    const opened = openForReading(runtime.config.sources, partsOf(stored));
    const contexts = new Map(opened.map((context) => [context.name, context]));
    const join = ({ pauses, holds }: StoredSource, context: ReadingContext): ReadSource => ({ context, pauses, holds });
    return await work({ runtime, sources: joining(stored, contexts, join) });
  };
  return await withStored(options, open, {});
}

function partsOf({ runtime: { config, redis }, seal, log }: Stored) {
  return { config, redis, seal, log, ports: livePorts, clock: liveClock };
}

function joining<Opened, Result>(
  { sources }: Stored,
  opened: ReadonlyMap<string, Opened>,
  join: (one: StoredSource, opened: Opened) => Result,
): (name?: string) => Result[] {
  return (name) =>
    sources(name).flatMap((one) => {
      const own = opened.get(one.name);
      return own === undefined ? [] : [join(one, own)];
    });
}
