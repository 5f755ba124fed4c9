import type { Config } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { dryRunName, nameInEarnest } from '../redis/keys.ts';
import { type DrySpan, dryRunKey, drySpanOf, type KnownSource } from './known-sources.ts';

/** The configuration of a dry run: its sources have other names in Redis, and nobody is alerted or sent reports, as nothing concerns a customer. */
export function asDryRun(config: Config): Config {
  const sources = config.sources.map((source) => ({
    ...source,
    name: dryRunName(source.name),
    storedAs: dryRunName(source.storedAs),
  }));
  return { ...config, sources, alerts: undefined, reports: undefined, dryRun: true };
}

/** A shorter absence of real (not dry) processes is an outage, and records closed during an outage are asked about. Real time. */
const awayMs = 3_600_000;

/** The span up to now. Pure. @param inEarnestAt when a real (not dry) process last had the source; undefined: never */
export function spanNow(
  span: DrySpan | undefined,
  { now, startedAt, inEarnestAt }: { now: Date; startedAt: Date; inEarnestAt: Date | undefined },
): DrySpan | undefined {
  if (inEarnestAt === undefined) return { from: span?.from ?? startedAt, until: now };
  if (now.getTime() - inEarnestAt.getTime() < awayMs) return span;
  const isSame = span !== undefined && span.until >= inEarnestAt;
  return { from: isSame ? span.from : new Date(Math.max(startedAt.getTime(), inEarnestAt.getTime())), until: now };
}

/** In a dry run: stores for each source that it runs only as a dry run, where that is the case. */
export async function noteDrySpans(
  redis: RedisClient,
  names: readonly string[],
  { known, startedAt }: { known: readonly KnownSource[]; startedAt: Date },
): Promise<void> {
  for (const name of names.map(nameInEarnest)) {
    const span = await drySpanOf(redis, name);
    const inEarnestAt = known.find(({ storedAs }) => storedAs === name)?.configuredAt;
    const next = spanNow(span, { now: new Date(), startedAt, inEarnestAt });
    if (next && next !== span)
      await redis.hset(dryRunKey(name), { from: next.from.getTime(), until: next.until.getTime() });
  }
}
