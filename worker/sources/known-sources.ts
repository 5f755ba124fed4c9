import { z } from 'zod';
import { jsonBody } from '../../core/connector/json-body.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun, knownSourcesKey, storedAsKey, tagOf } from '../redis/keys.ts';

/** What Redis holds about a source. An entry of another version is read as far as possible. */
const Entry = z.object({
  /** The name in the last configuration that had the source. */
  name: z.string().optional().catch(undefined),
  connector: z.string().catch('unknown'),
  /** The vendor's account, where the connector knows it. */
  account: z.string().optional().catch(undefined),
  /** Whether the source's expired journeys are written back, by the process that has the source in its configuration. */
  writesNoAnswer: z.boolean().catch(false),
  /** Whether the source can be polled, so that closings are found whose webhooks are lost. */
  polls: z.boolean().catch(true),
  /** Expressions of its rules that find a record's customer. */
  contacts: z.array(z.string()).catch([]),
  /** When a worker last had the source in its configuration. Real time. */
  configuredAt: z.coerce.date().catch(new Date(0)),
});

/** `storedAs`: the name that its data is stored under. */
export type KnownSource = z.output<typeof Entry> & { name: string; storedAs: string };

/** The error for calls to the vendor of a source that this process has no settings of. */
export class AbsentSource extends CloseloopError {
  constructor(name: string) {
    const remedy = `put it back, or "closeloop source rename ${name} <its new name>"`;
    super(`source ${name} is not in this configuration: ${remedy}`, { kind: 'config' }, { outcome: 'never-sent' });
  }
}

/** Workers note their sources every minute: a source that was not noted for this long is in no configuration. Real time. */
const absentAfterMs = 300_000;

/** Whether no process has the source in its configuration. */
export function isAbsent({ configuredAt }: KnownSource): boolean {
  // An instant in the future: the clock was set back since.
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

export async function noteSources(
  redis: RedisClient,
  sources: readonly Omit<KnownSource, 'configuredAt'>[],
): Promise<void> {
  const configuredAt = new Date();
  const noted = sources.map(({ storedAs, ...one }) => [storedAs, JSON.stringify({ ...one, configuredAt })] as const);
  if (noted.length > 0) await redis.hset(knownSourcesKey, Object.fromEntries(noted));
  // Stored again, as Redis may have been emptied since: the next start has to find the same data.
  const later = sources.filter(({ name, storedAs }) => name !== storedAs && !isDryRun(storedAs));
  if (later.length > 0) await redis.hset(storedAsKey, ...later.flatMap(({ name, storedAs }) => [name, storedAs]));
}

/** Every source that this installation has ever had in a configuration and still holds data of. */
export async function knownSources(redis: RedisClient): Promise<KnownSource[]> {
  const stored = Object.entries(await redis.hgetall(knownSourcesKey));
  return stored.sort().map(([storedAs, text]) => {
    const { name = storedAs, ...entry } = Entry.parse(jsonBody(text) ?? {});
    return { ...entry, name, storedAs };
  });
}

/** The last span of time in which the source ran only as a dry run. Real time. */
export interface DrySpan {
  from: Date;
  until: Date;
}

const Span = z.object({ from: z.coerce.number(), until: z.coerce.number() });

export async function drySpanOf(redis: RedisClient, name: string): Promise<DrySpan | undefined> {
  const stored = Span.safeParse(await redis.hgetall(dryRunKey(name))).data;
  return stored && { from: new Date(stored.from), until: new Date(stored.until) };
}

/** The key stands beside the data of the real source. */
export function dryRunKey(name: string): string {
  return `${tagOf(name)}:dry-run`;
}
