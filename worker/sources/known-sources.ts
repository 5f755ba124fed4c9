import { z } from 'zod';
import { jsonBody } from '../../core/connector/json-body.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { knownSourcesKey } from '../redis/keys.ts';

/** What Redis holds about a source. An entry of another version is read as far as possible. */
const Entry = z.object({
  name: z.string().optional().catch(undefined),
  connector: z.string().catch('unknown'),
  account: z.string().optional().catch(undefined),
  /** Its expired journeys are written back: by whoever has it configured. */
  writesNoAnswer: z.boolean().catch(false),
  /** It can be asked what changed: what its webhooks miss is found. */
  polls: z.boolean().catch(true),
  /** Expressions of its rules that find a record's customer. */
  contacts: z.array(z.string()).catch([]),
  configuredAt: z.coerce.date().catch(new Date(0)),
});

export interface KnownSource {
  /** As the last configuration that had it names it. */
  name: string;
  /** The name that its data is stored under. */
  storedAs: string;
  connector: string;
  /** The vendor's account, where the connector knows it. */
  account?: string | undefined;
  writesNoAnswer: boolean;
  /** It can be asked what changed. */
  polls: boolean;
  /** What its rules find a record's customer by: expressions. */
  contacts: readonly string[];
  /** When a worker last had it in its configuration. Real time. */
  configuredAt: Date;
}

/** The error for calls to the vendor of a source that this process has no settings of. */
export class AbsentSource extends CloseloopError {
  constructor(name: string) {
    super(
      `source ${name} is not in this configuration: put it back, or "closeloop source rename ${name} <its new name>"`,
      { kind: 'config' },
      { outcome: 'never-sent' },
    );
  }
}

/** Workers note their sources every minute: a source that was not noted for this long is in no configuration. Real time. */
const absentAfterMs = 300_000;

/** Whether no process has the source in its configuration. */
export function isAbsent({ configuredAt }: KnownSource): boolean {
  // In the future: the clock was set back since.
  return Math.abs(Date.now() - configuredAt.getTime()) > absentAfterMs;
}

/** Whether two sources may share record ids: the same vendor, and the same account or an unknown one. */
export function mayBeSame(
  { connector, account }: KnownSource,
  configured: Pick<ConfiguredSource, 'connector' | 'account'>,
): boolean {
  if (connector !== 'unknown' && connector !== configured.connector.name) return false;
  return account === undefined || configured.account === undefined || account === configured.account;
}

/** Every source that this installation has ever had in a configuration and still holds data of. */
export class KnownSources {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async note(sources: readonly Omit<KnownSource, 'configuredAt'>[]): Promise<void> {
    const configuredAt = new Date();
    const entries = sources.map(
      ({ storedAs, ...entry }) => [storedAs, JSON.stringify({ ...entry, configuredAt })] as const,
    );
    if (entries.length > 0) await this.#redis.hset(knownSourcesKey, Object.fromEntries(entries));
  }

  /** By the names that their data is stored under. */
  async all(): Promise<KnownSource[]> {
    const stored = await this.#redis.hgetall(knownSourcesKey);
    const known = Object.entries(stored).map(([storedAs, text]) => {
      const { name = storedAs, ...entry } = Entry.parse(jsonBody(text) ?? {});
      return { ...entry, name, storedAs };
    });
    return known.sort((a, b) => (a.storedAs < b.storedAs ? -1 : 1));
  }

  async remove(storedAs: string): Promise<void> {
    await this.#redis.hdel(knownSourcesKey, storedAs);
  }
}
