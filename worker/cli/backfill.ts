import { z } from 'zod';
import type { PollPage, RecordEvent } from '../../core/connector/contract.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import { longestWaitMs } from '../../core/retry.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { mostPages } from '../pipeline/plan/poll.ts';
import { decide } from '../pipeline/policy/decide.ts';
import { statusOf } from '../pipeline/vendor.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { instant } from '../support/instant.ts';
import { livePorts } from './live-ports.ts';
import { type Progress, progress } from './progress.ts';
import type { RuntimeOptions } from './runtime.ts';
import { lineOf, Tally } from './tally.ts';
import { withSources } from './with-engine.ts';

interface Range {
  /** Equal for equal commands: an interrupted backfill is resumed by the same command only. */
  name: string;
  since: Date;
  until: Date;
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
 * for them as for all closings. After an interruption the same command resumes. `dryRun` prints the decisions and queues nothing.
 */
export async function backfill(
  options: RuntimeOptions & {
    source: string;
    since: string;
    until?: string;
    limit?: number;
    perHour: number;
    dryRun: boolean;
    json: boolean;
  },
): Promise<number> {
  // Of what runs in earnest: its dry run is no `start --dry-run`, which has journeys of its own.
  return await withSources({ ...options, dryRun: false }, async ({ pipeline, runtime }) => {
    const range = rangeOf(options, runtime.config.feedback.timeZone);
    const { since, perHour } = range;
    const { context } = pipeline(options.source);
    if (!context.source.poll) {
      throw new CloseloopError(`The connector of source ${options.source} can't look back: it has no poll.`, {
        kind: 'config',
      });
    }
    const shown = progress(process.stderr);
    const kept = new Date(context.clock.now().getTime() - context.keepMs);
    if (since < kept) {
      const day = kept.toISOString().slice(0, 10);
      shown.say(
        `Journeys from before ${day} were removed here (retention.journeys): who was asked about a closing then may be asked again, unless --since is later or a throttle stops it.`,
      );
    }
    const print = (result: object, lines: readonly string[]) =>
      void process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : `${lines.join('\n')}\n`);
    if (options.dryRun) {
      const { closings, tally } = await tryAll(context, range, shown);
      const rows = tally.rows();
      print(
        { closings, decisions: rows.map(({ ids, ...row }) => ({ ...row, records: ids })) },
        closings === 0 ? ['No closings.'] : rows.map((row) => lineOf(inWords(row), row)),
      );
      return 0;
    }
    const queued = await queueAll(context, range, runtime.redis, shown);
    const minutes = Math.ceil((Math.max(0, queued - 1) / perHour) * 60);
    const last = minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
    print({ queued, perHour }, [
      queued === 0
        ? 'No closings.'
        : `Closings queued: ${queued}, ${perHour} an hour at most: the last is looked at in about ${last}, by a running "closeloop start". "journeys list" shows them then.`,
    ]);
    return 0;
  });
}

function rangeOf(options: { since: string; until?: string; limit?: number; perHour: number }, timeZone: string): Range {
  const clock = { timeZone, now: new Date() };
  const since = instant(options.since, '--since', clock);
  const until = options.until === undefined ? clock.now : instant(options.until, '--until', clock);
  // Vendors count time from 1970 and refuse earlier instants with messages that do not say so.
  if (since.getTime() < 0) throw new CloseloopError('--since must be 1970-01-02 or later.', { kind: 'config' });
  if (since >= until) throw new CloseloopError('--since must be before --until.', { kind: 'config' });
  const { limit = Number.POSITIVE_INFINITY, perHour } = options;
  const name = [since, ...(options.until === undefined ? [] : [until])].map((at) => at.toISOString()).join('/');
  return { name, since, until, limit, perHour };
}

/**
 * The vendor's changes up to now, page by page, waiting where the quota asks for it. Pages are in the order of the last change: a
 * closing between two days may come after records that were closed later.
 */
async function* pagesOf(
  context: SourceContext,
  from: { cursor: string } | { since: Date },
  shown: Progress,
): AsyncGenerator<PollPage> {
  let at = from;
  const watch = pageWatch(`the past of ${context.name}`, mostPages);
  for (;;) {
    try {
      const page = await context.source.poll?.(at);
      if (!page) return;
      yield page;
      if (page.done) return;
      watch(page.cursor);
      at = { cursor: page.cursor };
    } catch (error) {
      const advice = adviceOf(error);
      if (advice.kind !== 'transient' || advice.throttled !== true) throw error;
      shown.say(`waiting for the vendor's quota …`);
      await livePorts.sleep(Math.min(longestWaitMs, advice.retryAfterMs ?? 10_000));
    }
  }
}

const closings = (page: PollPage, { since, until }: Range): RecordEvent[] =>
  page.events.flatMap((event) => (event.kind === 'closed' && event.at >= since && event.at <= until ? [event] : []));

async function queueAll(context: SourceContext, range: Range, redis: RedisClient, shown: Progress): Promise<number> {
  const { name, since, until, limit, perHour } = range;
  const key = `${tagOf(context.storedAs)}:backfill:${name}`;
  const begun = Begun.parse(await redis.hgetall(key));
  if (begun.cursor !== undefined) shown.say(`going on where it was interrupted, after ${begun.queued} closings`);
  let { queued } = begun;
  let slot = Math.max(begun.slot, Date.now());
  const from = begun.cursor === undefined ? { since } : { cursor: begun.cursor };
  for await (const page of pagesOf(context, from, shown)) {
    for (const event of closings(page, range).slice(0, Math.max(0, limit - queued))) {
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

/** What would become of a closing, in the words of a preview. */
type Outcome = { decision: 'ask'; rule: string; campaign: number } | { decision: 'skip'; why: string };

const skip = (why: string): Outcome => ({ decision: 'skip', why });

function inWords(outcome: Outcome): string {
  return outcome.decision === 'ask'
    ? `would ask: rule "${outcome.rule}", campaign ${outcome.campaign}`
    : `would not ask: ${outcome.why}`;
}

async function tryAll(context: SourceContext, range: Range, shown: Progress) {
  const tally = new Tally<Outcome>();
  let seen = 0;
  for await (const page of pagesOf(context, { since: range.since }, shown)) {
    const ids = [...new Set(closings(page, range).map(({ recordId }) => recordId))].slice(0, range.limit - seen);
    const results = ids.length === 0 ? [] : await context.source.read(ids);
    for (const [i, result] of results.entries()) tally.add(await outcomeOf(result, range, context), ids[i] ?? '');
    seen += ids.length;
    shown.update(`${page.reached.toISOString().slice(0, 10)}  ${seen} closings looked at`);
    if (seen >= range.limit) break;
  }
  shown.end();
  return { closings: seen, tally };
}

async function outcomeOf(
  result: Parameters<typeof statusOf>[0],
  { since, until }: Range,
  context: SourceContext,
): Promise<Outcome> {
  const status = statusOf(result);
  if (status.is === 'open') return skip('it is not closed any more');
  if (status.is === 'out') return skip(status.why);
  const { record, closing, closedAt } = status;
  if (closedAt < since || closedAt > until) return skip('it was closed at another time');
  const { id, exists } = await context.store.records.nameOf(record.currentId, closing);
  if (exists) return skip('its closing has a journey already');
  const history = await context.store.records.historyOf(record.currentId);
  const verdict = await decide(
    { journeyId: id, closedAt, backfilled: true, history },
    record,
    context,
    context.clock.now(),
  );
  return verdict.do === 'ask'
    ? { decision: 'ask', rule: verdict.rule.name, campaign: verdict.campaign.id }
    : skip(verdict.why);
}
