import { styleText } from 'node:util';
import { fingerprintOf } from '../config/changes.ts';
import { testLines, testPlaces } from '../config/test-mode.ts';
import { journeyStates } from '../journey/journey.ts';
import { isPutOff } from '../operations/delivery-counts.ts';
import { resumeRemedy, sentenceOf } from '../operations/outage.ts';
import type { Pause } from '../operations/pauses.ts';
import { runningProcesses } from '../operations/processes.ts';
import type { pollState } from '../pipeline/plan/poll-state.ts';
import { globalTag, isDryRun } from '../redis/keys.ts';
import type { QueueDepth } from '../redis/queued-jobs.ts';
import { probe, redisTrouble, within } from '../redis/unavailable.ts';
import { absenceOf, stateOf } from '../sources/absent-state.ts';
import { knownSources } from '../sources/known-sources.ts';
import { jobsIn, type SourceState, stateOfProcesses, stateOfSource } from '../support/source-state.ts';
import { print } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import { webhookState } from './webhooks.ts';
import { allSources, withStored } from './with-stored.ts';

/** How long it is tried whether Redis takes writes. */
const writeMs = 1_000;

/** Each source at a glance: its journeys by state, what is stopped, what waits, and what its webhooks missed. Returns 1 while no process does the work. */
export async function status(options: CommandOptions): Promise<number> {
  return await withStored(options, async (stored) => {
    const { sources, source, service, collecting, runtime } = stored;
    const { redis, config } = runtime;
    const { timeZone } = config.feedback;
    const tell = (shown: object, lines: readonly string[]) => print({ ...options, timeZone }, shown, lines);
    const tests = testPlaces(config);
    const loud = (line: string) => styleText(['bold', 'yellow'], line);
    if (tests.length > 0) tell({ test: tests }, testLines(config).map(loud));
    // A write that a replica refuses is sent again and again: the client looks for the new master.
    const refused = await within(writeMs, probe(redis, globalTag)).then(() => undefined, redisTrouble);
    if (refused) tell({ redis: refused.message }, [styleText('red', refused.message)]);
    if (config.dryRun) tell({ dryRun: true }, [loud('DRY RUN: nothing is sent')]);
    const known = await knownSources(redis);
    const down = await service.down({ now: true });
    for (const one of sources()) {
      const shown = await stateOfSource(one, { service: down, redis, now: new Date() });
      const canPoll = known.find(({ storedAs }) => storedAs === one.storedAs)?.polls ?? true;
      // Kept as proof of the erasures.
      const erased = options.json ? { erased: await one.erasures.all() } : {};
      tell({ ...shown, ...erased }, linesOf(shown, canPoll));
    }
    const paused = config.dryRun ? [] : await collecting.list();
    if (paused.length > 0)
      tell({ source: 'collect', paused }, [styleText('bold', 'collect'), ...paused.map(pauseLine)]);
    for (const webhook of config.dryRun ? [] : config.webhooks) {
      const state = await webhookState(webhook, await allSources(stored), redis);
      if (options.json || webhookLines(state).length > 0) tell(state, webhookLines(state));
    }
    const configured = new Set(sources().map(({ storedAs }) => storedAs));
    for (const one of known.filter(
      ({ storedAs }) => !configured.has(storedAs) && isDryRun(storedAs) === config.dryRun,
    )) {
      const state = await stateOf(source(one), redis);
      const shown = { source: one.name, notConfigured: true, lastConfigured: one.configuredAt, ...state };
      const { problem, remedy } = absenceOf(one.name, state) ?? {};
      tell(shown, problem === undefined ? [] : [styleText('yellow', `${problem}; ${remedy}`)]);
    }
    const installation = stateOfProcesses(await runningProcesses(redis), fingerprintOf(config.written), config);
    tell(installation, processLines(installation));
    return installation.processes.length === 0 ? 1 : 0;
  });
}

/** The state of a source, in lines for people. */
function linesOf(state: SourceState, canPoll: boolean): string[] {
  const { source, journeys, refused, quotaUsedUpUntil, parked } = state;
  const states = journeyStates.filter((one) => journeys[one] > 0).map((one) => `${one} ${journeys[one]}`);
  return [
    styleText('bold', source),
    `  journeys    ${states.join(' · ') || 'none'}`,
    ...(journeys.withheld > 0
      ? [`  dry run     would have asked ${journeys.withheld} ("closeloop dry-run" tells more)`]
      : []),
    ...weekLine(state.lastWeek),
    ...(state.lastDelivery ? [`  delivered   last ${state.lastDelivery.toISOString()}`] : []),
    ...(state.lastRefusal
      ? [`  ${refusedAs(state.lastRefusal.why)} last ${state.lastRefusal.at.toISOString()}: ${state.lastRefusal.why}`]
      : []),
    `  queue       ${waitingInQueue(state.notPlanned)}`,
    ...Object.entries(state.queues).flatMap(([step, depth]) => queueLine(step, depth)),
    `  poll        ${pollLine(state.poll, canPoll)}`,
    ...(state.erasures > 0 ? [`  erasures    ${state.erasures} done`] : []),
    ...state.erasing.map(({ id, receivedAt, held }) =>
      styleText(
        'red',
        `  erasing     ${id} since ${receivedAt.toISOString()}: ${held.join('; ') || 'at work'} ("contact erasures retry")`,
      ),
    ),
    ...Object.entries(refused).map(
      ([why, count]) => `  ${refusedAs(why)} ${count} ${count === 1 ? 'delivery' : 'deliveries'} within a day: ${why}`,
    ),
    ...state.paused.map(pauseLine),
    ...state.held.map(({ stage, only, why, at, jobs }) =>
      styleText('red', `  held up     ${only} (${stage}, ${jobs} waiting) since ${at.toISOString()}: ${why}`),
    ),
    ...quotaLine(quotaUsedUpUntil),
    ...state.down.map((down) =>
      styleText('yellow', `  away        since ${down.since.toISOString()}: ${sentenceOf(down)}; ${resumeRemedy}`),
    ),
    ...followUpLine(state.followUps),
    ...parked.map(({ journey, why }) => styleText('red', `  parked      ${journey}: ${why}`)),
    ...(journeys.parked > parked.length
      ? [`              all: closeloop journeys list --source ${source} --state parked`]
      : []),
  ];
}

const refusedAs = (why: string): string => (isPutOff(why) ? 'put off' : 'refused').padEnd(11);

function quotaLine(until: Date | undefined): string[] {
  if (until === undefined) return [];
  const line = `  waits       the vendor's quota is used up until ${until.toISOString()} by the vendor's word; ${resumeRemedy}`;
  return [styleText('yellow', line)];
}

function weekLine({ asked, answered, responseRate }: SourceState['lastWeek']): string[] {
  if (asked === 0 && answered === 0) return [];
  const rate = responseRate === null ? '' : ` · response rate ${Math.round(responseRate * 100)} %`;
  return [`  7 days      asked ${asked} · answered ${answered}${rate}`];
}

function followUpLine({ open, overdue }: SourceState['followUps']): string[] {
  if (open === 0) return [];
  const line = `  follow-ups  ${open} open`;
  return [overdue === 0 ? line : styleText('yellow', `${line} · ${overdue} overdue ("follow-ups list --overdue")`)];
}

function queueLine(step: string, depth: QueueDepth): string[] {
  if (jobsIn(depth) === 0) return [];
  const { waiting, running, delayed, oldestAt } = depth;
  const since = oldestAt === undefined ? '' : `, the oldest since ${oldestAt.toISOString()}`;
  return [`  jobs        ${step}: ${waiting} waiting${since} · ${running} running · ${delayed} for later`];
}

function processLines(state: ReturnType<typeof stateOfProcesses>): string[] {
  const { processes, configuration, problems, remarks = [] } = state;
  return [
    styleText('bold', 'processes'),
    ...processes.map(({ host, pid, role, version, startedAt, heartbeatAt, configuration: own }) => {
      const differs = own === configuration ? '' : ' (not this file)';
      const times = `since ${startedAt.toISOString()}, heard of ${heartbeatAt.toISOString()}`;
      return `  ${role.padEnd(10)}  ${host} ${pid} · ${version} · ${times} · configuration ${own}${differs}`;
    }),
    ...problems.map((problem) => styleText('yellow', `  ${problem}`)),
    ...remarks.map((remark) => `  ${remark}`),
  ];
}

/** The lines about webhooks that have not taken an event. */
function webhookLines(state: Awaited<ReturnType<typeof webhookState>>): string[] {
  const { webhook, waiting, oldestAt, givenUp, gone } = state;
  if (waiting + givenUp === 0 && !gone) return [];
  const since = oldestAt === undefined ? '' : ` since ${oldestAt.toISOString()}`;
  const lost =
    givenUp === 0 && !gone ? '' : ` · given up ${givenUp}${gone ? ' (410 Gone)' : ''} ("webhooks replay ${webhook}")`;
  const line = `  events      ${waiting} waiting${since}${lost}`;
  return [styleText('bold', `webhook ${webhook}`), lost === '' ? line : styleText('red', line)];
}

/** A sentence about events that were accepted and are not planned yet: from deliveries, polls and replays. */
export function waitingInQueue(waiting: number): string {
  if (waiting === 0) return 'nothing waits to be planned';
  return waiting === 1 ? '1 event waits to be planned' : `${waiting} events wait to be planned`;
}

function pauseLine({ stage, why, at, by }: Pause): string {
  const text = `${stage} since ${at.toISOString()}${by === undefined ? '' : ` by ${by}`}: ${why}`;
  return by === undefined ? styleText('red', `  stopped     ${text}`) : styleText('yellow', `  paused      ${text}`);
}

function pollLine(poll: Awaited<ReturnType<typeof pollState>>, canPoll: boolean): string {
  if (!canPoll) return 'this connector has none: what its webhooks miss stays missed';
  if (!poll?.doneAt) return 'not yet';
  return `last ${poll.doneAt.toISOString()} · closings that no webhook reported: ${poll.missed}`;
}
