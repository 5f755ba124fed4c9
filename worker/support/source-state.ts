import type { Erasures } from '../journey/erasures.ts';
import type { FollowUpLists } from '../journey/follow-up-lists.ts';
import { sumOf } from '../journey/hourly-counts.ts';
import { refOf } from '../journey/refs.ts';
import { lastDeliveries, refusedOf } from '../operations/delivery-counts.ts';
import type { Holds } from '../operations/holds.ts';
import type { Down, Outage } from '../operations/outage.ts';
import type { Pauses } from '../operations/pauses.ts';
import type { RunningProcess } from '../operations/processes.ts';
import { pollState } from '../pipeline/plan/poll-state.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { type QueueDepth, queueDepth } from '../redis/queued-jobs.ts';
import { countFollowUps } from './follow-ups.ts';
import type { Searched } from './journey-filter.ts';
import { journeyPage } from './journey-pages.ts';

/** The data of one source in Redis: needs no connector, no client and no queue. */
export interface StoredSource extends Searched {
  erasures: Erasures;
  followUps: FollowUpLists;
  pauses: Pauses;
  holds: Holds;
  /** Whether its vendor answers. */
  vendor: Outage;
}

export type SourceState = Awaited<ReturnType<typeof stateOfSource>>;

/** The state of a source, for JSON. @param about `service`: since when the Feedback service does not answer; `now`: by the loop's clock */
export async function stateOfSource(
  source: StoredSource,
  { service, redis, now }: { service: Down | undefined; redis: RedisClient; now: Date },
) {
  const { name, storedAs, store, erasures: asked, pauses, holds, vendor } = source;
  const [counts, week, paused, held, down, quota, poll, erasures, erasing, depths, parked, followUps, refused, last] =
    await Promise.all([
      store.lists.counts(),
      weekOf(source, now),
      pauses.list(),
      holds.list(),
      vendor.down({ now: true }),
      vendor.quota(),
      pollState(redis, storedAs),
      asked.count(),
      asked.open(),
      Promise.all(
        stepQueues.map(
          async (step) => [step, await queueDepth(redis, { prefix: tagOf(storedAs), name: step })] as const,
        ),
      ),
      lastParked(source),
      countFollowUps([source], now),
      refusedOf(redis, storedAs),
      lastDeliveries(redis, storedAs),
    ]);
  return {
    source: name,
    journeys: counts,
    lastWeek: week,
    paused,
    held,
    quotaUsedUpUntil: quota?.until,
    down: [down, service].flatMap((one) => (one ? [shownDown(one)] : [])),
    parked,
    followUps,
    notPlanned: jobsIn(depths[0]?.[1]),
    queues: Object.fromEntries(depths),
    poll,
    refused,
    ...last,
    /** Those that are done. */
    erasures,
    /** Asked for, and not done yet. */
    erasing,
  };
}

const hourMs = 3_600_000;
const weekMs = 168 * hourMs;

/** Asked and answered within seven days, to the hour. */
async function weekOf({ store }: StoredSource, now: Date) {
  const time = { from: new Date(now.getTime() - weekMs), until: new Date(now.getTime() + hourMs) };
  const { asked, answered, responses } = sumOf(await store.queries.countsBetween(time));
  return { asked, answered, responseRate: asked === 0 ? null : responses / asked };
}

const shownDown = ({ endpoint, since, why, askedUntil, triedAt }: Down): Down => ({
  ...{ endpoint, since, why, triedAt },
  ...(askedUntil && { askedUntil }),
});

const stepQueues = ['plan', 'ask', 'write-back', 'act', 'erase'] as const;

/** Jobs that wait, run, or wait for their time. */
export function jobsIn(depth: QueueDepth | undefined): number {
  return depth === undefined ? 0 : depth.waiting + depth.running + depth.delayed;
}

/** The running processes, for JSON: those of the dry run, or the others. `configuration`: the file that this command was given. */
export function stateOfProcesses(
  running: readonly RunningProcess[],
  configuration: string,
  { dryRun }: { dryRun: boolean },
) {
  const processes = running.filter((one) => one.dryRun === dryRun);
  const command = dryRun ? 'closeloop start --dry-run' : 'closeloop start';
  const { length: differing } = processes.filter((one) => one.configuration !== configuration);
  const problems = [
    ...(processes.length === 0 ? [`no process runs: "${command}" does the work`] : []),
    ...(differing > 0 ? [`${differing} of ${processes.length} go by another configuration than this file`] : []),
    ...(new Set(processes.map((one) => one.version)).size > 1 ? ['they are of several versions'] : []),
    ...(processes.length > 0 && processes.every(({ role }) => role === 'intake') ? ['no worker runs'] : []),
    ...(processes.length > 0 && processes.every(({ role }) => role === 'worker') ? ['no intake runs'] : []),
  ];
  const remarks =
    !dryRun && running.length > processes.length ? ['a dry run is at work as well: "closeloop status --dry-run"'] : [];
  return { processes, configuration, problems, ...(remarks.length > 0 && { remarks }) };
}

const [mostParked, mostLookedAt] = [5, 100];

/** Journeys that wait for a person, last changed first, with what they wait for. */
async function lastParked(source: StoredSource): Promise<{ journey: string; why: string }[]> {
  const { found } = await journeyPage([source], { lists: ['parked'], size: mostParked, most: mostLookedAt });
  return found.map(({ journey: { id, why = '' } }) => ({ journey: refOf(source.name, id), why }));
}
