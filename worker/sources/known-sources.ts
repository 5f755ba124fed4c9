import { z } from 'zod';
import { jsonBody } from '../../core/connector/json-body.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { knownSourcesKey } from '../redis/keys.ts';

/** What is remembered of a source, whoever has it configured. Another version's entry is read as far as it can be. */
const Entry = z.object({
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
  name: string;
  connector: string;
  /** The vendor's account, where the connector can tell. */
  account?: string | undefined;
  writesNoAnswer: boolean;
  /** It can be asked what changed. */
  polls: boolean;
  /** What its rules find a record's customer by: expressions. */
  contacts: readonly string[];
  /** When a worker last had it in its configuration. Real time. */
  configuredAt: Date;
}

/** This process can't reach the vendor of a source: it doesn't have its settings. */
export class AbsentSource extends CloseloopError {
  constructor(name: string) {
    super(
      `source ${name} is not in this configuration: put it back, or "closeloop source rename ${name} <its new name>"`,
      { kind: 'config' },
      { outcome: 'never-sent' },
    );
  }
}

/** Workers note their sources every minute: one that nobody has noted for this long is in no configuration. Real time. */
const goneAfterMs = 300_000;

export function isGone({ configuredAt }: KnownSource): boolean {
  // In the future: the clock was set back since.
  return Math.abs(Date.now() - configuredAt.getTime()) > goneAfterMs;
}

/** Ids of records mean something in one account of one vendor. Where the account can't be told it may be the same. */
export function mayBeSame({ connector, account }: KnownSource, configured: ConfiguredSource): boolean {
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
    const entries = sources.map(({ name, ...entry }) => [name, JSON.stringify({ ...entry, configuredAt })] as const);
    if (entries.length > 0) await this.#redis.hset(knownSourcesKey, Object.fromEntries(entries));
  }

  /** By name. */
  async all(): Promise<KnownSource[]> {
    const stored = await this.#redis.hgetall(knownSourcesKey);
    const known = Object.entries(stored).map(([name, text]) => ({ name, ...Entry.parse(jsonBody(text) ?? {}) }));
    return known.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<void> {
    await this.#redis.hdel(knownSourcesKey, name);
  }
}
