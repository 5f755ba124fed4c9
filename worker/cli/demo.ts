import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { type Scenario, scenarios } from '../../standins/demo/scenarios.ts';
import { type DemoWorld, openDemoWorld, timeZone } from '../../standins/demo/world.ts';
import { loadConfig } from '../config/config.ts';
import { loadConnectors } from '../config/external-connectors.ts';
import type { Journey } from '../journey/journey.ts';
import { settledStates } from '../journey/outcomes.ts';
import { refOf } from '../journey/refs.ts';
import type { JourneyStore } from '../journey/store.ts';
import { fastClock } from '../pipeline/clock.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { serverCache } from '../redis/server-binary.ts';
import { changeFollowUp, followUpsIn } from '../support/follow-ups.ts';
import { type App, run } from './app.ts';
import { agentOf, later, plantHistory } from './demo-history.ts';
import { openRedis, type Runtime } from './runtime.ts';
import { engineOf } from './with-engine.ts';

/** Monday afternoon in Tallinn; an hour passes in a second, so that a night's closed window takes half a minute. */
const start = new Date('2026-11-23T14:30:00Z');
const speed = 3_600;
/** All scenarios end within this time: a journey that has not ended by then has gone wrong. */
const longestHours = 60;

/** The whole loop on stand-ins, with no account and no configuration. Returns the exit code. */
export async function demo(options: { once: boolean; connectors: readonly BuiltIn[] }): Promise<number> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const clock = fastClock(start, speed);
  const project = resolve('.closeloop');
  mkdirSync(project, { recursive: true });
  const dir = mkdtempSync(join(project, 'demo-'));
  const world = await openDemoWorld(clock.now);
  const reading = { env: {}, file: 'the demo' };
  const loaded = await loadConnectors(world.config, { ...reading, builtIn: options.connectors });
  const config = loadConfig(world.config, { ...reading, ...loaded });
  const runtime = await openRedis(config, dir, { cache: serverCache(join(project, 'redis-server'), process.env), say });
  // The address of the page comes first.
  const early: string[] = [];
  let tell = (line: string) => void early.push(line);
  const atWork = { clock, log: terminalLog(clock.now, (line) => tell(line)), batchWindowMs: 20 };
  // `--once` is a check, and begins without data. A person who looks at the page finds some weeks of history.
  const begin = async () => {
    const planted = options.once ? 0 : await plantBefore(runtime, world, atWork);
    return { planted, app: await run(runtime, { role: 'all', ...atWork }) };
  };
  const { planted, app } = await begin().catch((error: unknown) => {
    for (const line of early) say(line);
    throw error;
  });
  world.pointWebhooksAt(`${app.url}/hooks/support`);
  say(styleText('bold', `See it in a browser: ${app.dashboardUrl}`));
  say(`${firstLook}\n`);
  say(styleText('bold', 'The demo: stand-ins of a help desk and of the Feedback service, and closeloop between them.'));
  say(`An hour passes in a second. Webhooks arrive at ${app.url}/hooks/support.\n`);
  for (const line of early) say(line);
  tell = say;
  clock.begin();

  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  const sayAnswers = answerReporter(world, clock.now, say);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  try {
    const over = async () => stopped || (options.once && (await isOver(app, clock.now)));
    for (let turn = 0; !(await over()); turn++) {
      await world.live(async (ticket) => (await storeOf(app).get(`${ticket}.1`))?.state === 'waiting');
      await followUp(app, world, clock.now());
      sayAnswers();
      if (!options.once && turn % 20 === 19) world.addCaller();
      await sleep(50);
    }
    sayAnswers();
    // What still runs must not be told below the last line.
    if (stopped) tell = () => undefined;
    return stopped ? await soFar(app, world, { planted, say }) : await summary(app, world, say);
  } finally {
    await app.close();
    await runtime.close();
    await world.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const firstLook =
  'Look first at who was unhappy: on "Follow-up" take one, and say what was done. Then follow "By Store" on "Overview": which one got worse?';

function contextOf({ engine }: Pick<App, 'engine'>) {
  const pipeline = engine.pipelines.get('support');
  if (!pipeline) throw new Error('the demo has no source');
  return pipeline.context;
}

/** Stores what happened before, and returns how many closings. No engine is at work then, which would take up journeys that are half told. */
async function plantBefore(
  runtime: Runtime,
  world: DemoWorld,
  options: Pick<EngineOptions, 'clock' | 'log'>,
): Promise<number> {
  const engine = await engineOf(runtime, options, { begins: true });
  try {
    const past = world.past();
    await plantHistory(past, contextOf({ engine }), start);
    return past.length;
  } finally {
    await engine.close(0);
  }
}

function storeOf(app: App): JourneyStore {
  return contextOf(app).store;
}

/** So many follow-ups wait at least, for a visitor of the page to take one. */
const leftToVisitors = 2;

/** Plays the people who take follow-ups, call the customers, and in some scenarios solve the ticket again. */
async function followUp(app: App, world: DemoWorld, now: Date): Promise<void> {
  const context = contextOf(app);
  const all = await followUpsIn([context], {}, { now, limit: 50 });
  let waiting = all.length;
  for (const { journey, followUp } of all) {
    const { state, openedAt, takenAt = openedAt, takenBy } = followUp;
    const ticket = Number(journey.recordId);
    const { followedUp } = scenarios.find((one) => one.ticket === ticket) ?? {};
    const { by, takesAt, hours, outcome } = followedUp
      ? { ...followedUp, takesAt: later(openedAt, 0.5) }
      : agentOf(journey, followUp);
    if (now < takesAt || (!followedUp && waiting <= leftToVisitors)) continue;
    try {
      if (state === 'open') await changeFollowUp(journey, { do: 'take', by, at: now }, context);
      // What a visitor of the page has taken is theirs.
      if (state !== 'taken' || takenBy !== by || now < later(takenAt, hours)) continue;
      await changeFollowUp(journey, { do: 'done', outcome, by, at: now }, context);
    } catch (error) {
      // A visitor was first.
      if (error instanceof CloseloopError) continue;
      throw error;
    }
    waiting--;
    if (followedUp) world.solve(ticket);
  }
}

async function journeysOf(app: App, scenario: Scenario): Promise<Journey[]> {
  const found = await Promise.all([1, 2].map((n) => storeOf(app).get(`${scenario.ticket}.${n}`)));
  return found.filter((journey) => journey !== undefined);
}

async function isOver(app: App, now: () => Date): Promise<boolean> {
  if (now().getTime() - start.getTime() > longestHours * 3_600_000) return true;
  for (const scenario of scenarios) {
    const journeys = await journeysOf(app, scenario);
    if (journeys.length < scenario.ends.length) return false;
    if (!journeys.every(({ state }) => settledStates.includes(state))) return false;
    // A correction comes after the first answer has been written.
    const requests = scenario.ends.filter((state) => state === 'written').length;
    const answers = (scenario.answers ?? []).filter(({ request = requests }) => request === requests).length;
    if (answers > 0 && (journeys.at(-1)?.writtenVersion ?? 0) < answers) return false;
  }
  return true;
}

/** One line a closing: how its journey ended, how it should have, and what the ticket and the service say. */
async function summary(app: App, world: DemoWorld, say: (line: string) => void): Promise<number> {
  say(styleText('bold', '\nEvery closing, and how its journey ended:'));
  let wrong = 0;
  for (const scenario of scenarios) {
    const journeys = await journeysOf(app, scenario);
    const states = journeys.map(({ state }) => state);
    const onTicket = world.answerOn(scenario.ticket)?.grade;
    const last = scenario.answers?.at(-1)?.grade;
    const good = String(states) === String(scenario.ends) && onTicket === last;
    if (!good) wrong++;
    say(`${good ? styleText('green', '✓') : styleText('red', '✗')} ${scenario.ticket}  ${scenario.what}`);
    for (const one of journeys)
      say(`${journeyLine(one)}${one.state === 'written' ? ` grade ${onTicket} on the ticket` : ''}`);
    if (!good)
      say(`       expected: ${scenario.ends.join(', ')}${last === undefined ? '' : `, grade ${last} on the ticket`}`);
  }
  const asked = world.requests();
  const expected = scenarios
    .flatMap(({ ends }) => ends)
    .filter((state) => state === 'written' || state === 'expired').length;
  if (asked !== expected) wrong++;
  say(`\n${scenarios.length} tickets, ${asked} feedback requests at the service (expected ${expected}).`);
  say(wrong === 0 ? styleText('green', 'Every journey ended as it should.') : styleText('red', `${wrong} went wrong.`));
  return wrong === 0 ? 0 : 1;
}

const journeyLine = ({ id, state, why }: Journey): string =>
  `       ${refOf('support', id)}  ${state}${why ? `: ${why}` : ''}`;

/** Shows the state of the tickets when a person ends the demo, without a verdict. */
async function soFar(
  app: App,
  world: DemoWorld,
  { planted, say }: { planted: number; say: (line: string) => void },
): Promise<number> {
  say(styleText('bold', '\nWhat has become of the tickets so far:'));
  for (const scenario of scenarios) {
    say(`  ${scenario.ticket}  ${scenario.what}`);
    for (const one of await journeysOf(app, scenario)) say(journeyLine(one));
  }
  const counts = await storeOf(app).lists.counts();
  const closings = Object.values(counts).reduce((sum, n) => sum + n, -planted);
  say(`\n${closings} closings, ${world.requests()} feedback requests, ${world.answers().length} grades on tickets.`);
  return 0;
}

/** Prints each answer when it is on its ticket, and again when the customer has corrected it. */
function answerReporter(world: DemoWorld, now: () => Date, say: (line: string) => void): () => void {
  const shown = new Map<number, string>();
  return () => {
    for (const { ticket, grade, comment } of world.answers()) {
      const text = `grade ${grade}${comment === undefined ? '' : `, “${comment}”`}`;
      if (shown.get(ticket) === text) continue;
      shown.set(ticket, text);
      say(
        `${styleText('gray', format.format(now()))}  ${styleText('green', 'on ticket ')} ${styleText('cyan', `${ticket}`)}  ${text}`,
      );
    }
  };
}

const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** A log for people: it shows what happens, in the demo's time. */
function terminalLog(now: () => Date, say: (line: string) => void): Log {
  const write = (color: 'red' | 'yellow' | 'gray' | 'reset') => (fields: object, message: string) => {
    const shown = Object.entries(fields).map(([key, value]) => {
      const text = value instanceof Date ? format.format(value) : String(value);
      return key === 'journey' ? styleText('cyan', text) : `${styleText('gray', `${key}:`)} ${text}`;
    });
    say(`${styleText('gray', format.format(now()))}  ${styleText(color, message.padEnd(10))} ${shown.join('  ')}`);
  };
  return { debug: () => undefined, info: write('reset'), warn: write('yellow'), error: write('red') };
}
