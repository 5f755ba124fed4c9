import { z } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { refusal } from '../../core/errors.ts';
import type { Queues } from '../pipeline/queues.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { print } from './output.ts';
import { closingsOn, type Period, pagesOf, periodOf } from './past-closings.ts';
import { type Progress, progress } from './progress.ts';
import type { CommandOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

interface Range extends Period {
  /** Equal for equal commands: an interrupted backfill is resumed by the same command only. */
  name: string;
  limit: number;
  perHour: number;
}

/** How far an interrupted backfill has come. */
const Begun = z.object({
  cursor: z.string().optional(),
  queued: z.coerce.number().default(0),
  /** The first instant that no closing is scheduled for yet. */
  slot: z.coerce.number().default(0),
});

/**
 * Queues closings of the past as if webhooks had delivered them, at most so many an hour; throttle, windows and "asked already" hold
 * for them as for all closings. After an interruption the same command resumes.
 */
export async function backfill(
  options: CommandOptions & { source: string; since: string; until?: string; limit?: number; perHour: number },
): Promise<number> {
  return await withSources(options, async ({ pipeline, runtime }) => {
    const range = rangeOf(options, runtime.config.feedback.timeZone);
    const { since, perHour } = range;
    const { context } = pipeline(options.source);
    if (!context.source.poll) {
      throw refusal(`The connector of source ${options.source} can't look back: it has no poll.`);
    }
    const shown = progress(process.stderr);
    const kept = new Date(context.clock.now().getTime() - context.keepMs);
    if (since < kept) {
      const day = kept.toISOString().slice(0, 10);
      shown.say(
        `Journeys from before ${day} were removed here (retention.journeys): who was asked about a closing then may be asked again, unless --since is later or a throttle stops it.`,
      );
    }
    const queued = await queueAll(context, range, runtime.redis, shown);
    const minutes = Math.ceil((Math.max(0, queued - 1) / perHour) * 60);
    const last = minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
    const text =
      queued === 0
        ? 'No closings.'
        : `Closings queued: ${queued}, ${perHour} an hour at most: the last is looked at in about ${last}, by a running "closeloop start". "journeys list" shows them then.`;
    print(options, { queued, perHour }, text);
    return 0;
  });
}

function rangeOf(options: { since: string; until?: string; limit?: number; perHour: number }, timeZone: string): Range {
  const { since, until } = periodOf(options, timeZone);
  const { limit = Number.POSITIVE_INFINITY, perHour } = options;
  const name = [since, ...(options.until === undefined ? [] : [until])].map((at) => at.toISOString()).join('/');
  return { name, since, until, limit, perHour };
}

async function queueAll(
  context: Pick<Queues, 'queueEvent'> & { name: string; storedAs: string; source: Source },
  range: Range,
  redis: RedisClient,
  shown: Progress,
): Promise<number> {
  const { name, since, until, limit, perHour } = range;
  const key = `${tagOf(context.storedAs)}:backfill:${name}`;
  const begun = Begun.parse(await redis.hgetall(key));
  if (begun.cursor !== undefined) shown.say(`going on where it was interrupted, after ${begun.queued} closings`);
  let { queued } = begun;
  let slot = Math.max(begun.slot, Date.now());
  const from = begun.cursor === undefined ? { since } : { cursor: begun.cursor };
  for await (const page of pagesOf(context, from, shown)) {
    for (const event of closingsOn(page, range).slice(0, Math.max(0, limit - queued))) {
      await context.queueEvent(
        {
          ...event,
          ...{ certain: false, via: 'backfill', notBefore: since, notAfter: until, receivedAt: new Date() },
          everyMs: 3_600_000 / perHour,
        },
        slot - Date.now(),
      );
      slot += 3_600_000 / perHour;
      queued++;
    }
    await redis.hset(key, { cursor: page.cursor, queued, slot });
    shown.update(`${page.reached.toISOString().slice(0, 10)}  ${queued} closings queued`);
    if (queued >= limit) break;
  }
  shown.end();
  await redis.del(key);
  return queued;
}
