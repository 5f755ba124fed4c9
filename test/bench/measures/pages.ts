import { z } from 'zod';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { dataKeyOf, openToRead } from '../../../worker/cli/runtime.ts';
import { answersAt, journeyAt, listAt, writePlace } from '../../../worker/dashboard/addresses.ts';
import { type JourneyState, journeyStates } from '../../../worker/journey/states.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { startFakes } from '../fakes.ts';
import type { Measure, Row } from '../harness.ts';
import { processUse } from '../machine.ts';
import {
  type BenchRedis,
  deskOfFakes,
  journeysIn,
  type ProductOptions,
  program,
  source,
  startProduct,
  startRedis,
} from '../product.ts';
import { type Stored, sharedMailbox, storeJourneys } from '../stored-journeys.ts';
import { node, nodeEnding } from './commands.ts';

const sizes = {
  full: { journeys: 1_000_000, rounds: 5 },
  short: { journeys: 300, rounds: 1 },
};
const sources = [source, 'shop'];
/** Redis' log of slow commands is asked for those that took longer, in microseconds. */
const slowUs = 100;
const mostSlow = 10_000;

/** What a person looks at. */
interface Look {
  name: string;
  /** @throws Error where it is not shown */
  take(): Promise<unknown>;
}

/** How long people wait for pages and commands where many journeys are stored, and Redis for one command of theirs. */
export const pages: Measure = {
  name: 'pages',
  async run(size) {
    const { journeys, rounds } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const service = await startFeedbackStandin({ seed: true });
    const desk = deskOfFakes(fakes.url, '');
    // Nothing of it is to be kept, and a file that is written anew would slow down what is measured.
    await redis.client.config('SET', 'appendonly', 'no');
    const options = { url: service.url, redis, settings: `${desk}\n  shop:${desk}` };
    const seal = await sealOf(options);
    const stored = await storeJourneys(journeys, sources, { redis, seal });
    const product = await startProduct(options);
    await redis.client.config('SET', 'slowlog-log-slower-than', slowUs);
    await redis.client.config('SET', 'slowlog-max-len', mostSlow);
    const counted = await countIn(redis);
    const rows: Row[] = [];
    let longest = { command: 'none', ms: slowUs / 1_000, of: 'all' };
    // The machine may be busy with others' work; what a page takes of a processor says what it costs all the same.
    let busiest = { page: 'none', cpuMs: 0 };
    const looked = await pagesOf(product.dashboard, stored, redis);
    for (const { name, take } of [...looked, ...commandsOf(product.config, stored)]) {
      if (size === 'full') await take();
      await redis.client.slowlog('RESET');
      const taken: number[] = [];
      const cpuBefore = processUse(product.pid).cpu;
      for (let round = 0; round < rounds; round++) taken.push(await timeOf(take));
      const cpuMs = ((processUse(product.pid).cpu - cpuBefore) * 1_000) / rounds;
      if (cpuMs > busiest.cpuMs && looked.some((page) => page.name === name)) busiest = { page: name, cpuMs };
      rows.push({
        measure: name,
        unit: 'ms',
        closeloop: taken,
        counted,
        target: { of: 'value', is: 'at most', figure: 300 },
      });
      const slowest = await slowestIn(redis);
      if (slowest && slowest.ms > longest.ms) longest = { ...slowest, of: name };
    }
    rows.push({
      measure: `longest command of Redis: ${longest.command} of ${longest.of}`,
      unit: 'ms',
      closeloop: [longest.ms],
      counted,
      target: { of: 'value', is: 'at most', figure: 10 },
    });
    rows.push({ measure: `most CPU of a page: ${busiest.page}`, unit: 'ms', closeloop: [busiest.cpuMs], counted });
    await product.stop();
    await Promise.all([fakes.close(), service.close(), redis.stop()]);
    return rows;
  },
};

/** Of the installation, which begins with its first process. None runs while journeys are stored: its sweep would take them up. */
async function sealOf(options: ProductOptions) {
  const product = await startProduct(options);
  const runtime = await openToRead(
    { config: product.config, data: '', connectors: [] },
    { uses: 'redis', sources: 'named' },
  );
  const { seal } = await dataKeyOf(runtime);
  await runtime.close();
  await product.stop();
  return seal;
}

async function countIn(redis: BenchRedis): Promise<number> {
  const counts = sources.flatMap((one) => journeyStates.map((state) => journeysIn(redis, state, one)));
  return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
}

async function timeOf(take: Look['take']): Promise<number> {
  const begun = performance.now();
  await take();
  return performance.now() - begun;
}

const Slow = z.array(z.tuple([z.number(), z.number(), z.number(), z.array(z.string())], z.unknown()));

/** Since the log was emptied. */
async function slowestIn({ client }: BenchRedis): Promise<{ command: string; ms: number } | undefined> {
  const entries = Slow.parse(await client.slowlog('GET', mostSlow));
  const [first] = entries.sort(([, , one], [, , other]) => other - one);
  return first && { command: first[3].slice(0, 2).join(' '), ms: first[2] / 1_000 };
}

/** Every section of the page, the list by each of its filters and deep in it, what a search finds, and a journey. */
async function pagesOf(origin: string, stored: Stored, redis: BenchRedis): Promise<Look[]> {
  const page = (name: string, path: string): Look => ({ name: `page ${name}`, take: () => read(`${origin}${path}`) });
  const sections = [...(await read(`${origin}/`)).matchAll(/<a class="tab" href="([^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const search = (name: string, q: string): Look => ({
    name: `search for ${name}`,
    take: () => read(`${origin}/journeys/search`, { method: 'POST', body: new URLSearchParams({ q }) }),
  });
  const person = (name: string, q: string): Look => ({
    name: `person by ${name}`,
    take: () => read(`${origin}/people`, { method: 'POST', body: new URLSearchParams({ q }) }),
  });
  const why = (name: string, q: string): Look => ({
    name: `page why, by ${name}`,
    take: () => read(`${origin}/why`, { method: 'POST', body: new URLSearchParams({ q }) }),
  });
  const { source: of = '', journey } = stored.get('written') ?? {};
  return [
    ...sections.map((path) => page(path, path)),
    ...journeyStates.map((state) => page(`of state ${state}`, listAt({ state }))),
    page('of a rule', listAt({ rule: 'chat' })),
    page('of a rule that none has', listAt({ rule: 'none' })),
    page('of a reason', listAt({ reason: 'throttled' })),
    page('of a source and a reason', listAt({ source: 'shop', reason: 'sample', state: 'skipped' })),
    page('of a week', listAt({ since: day(107), until: day(100) })),
    page('deep in the list', listAt({ after: await placeIn(redis, 'expired') })),
    page('deep among those due together', listAt({ state: 'waiting', after: await placeIn(redis, 'waiting') })),
    search('an address', journey?.contact?.value ?? ''),
    search('a shared mailbox', sharedMailbox),
    search('a record', journey?.recordId ?? ''),
    search('a request', journey?.requestId ?? ''),
    person('an address', journey?.contact?.value ?? ''),
    person('a shared mailbox', sharedMailbox),
    page('of answers without praise', '/answers?to=2'),
    page('of an agent’s answers', answersAt({ period: 'last-quarter' }, { Agent: 'Agent 7' })),
    page('of answers with words that nobody wrote', '/answers?period=last-quarter&text=nobody+wrote+this'),
    page('of the answers of a year ago', answersAt({ since: day(380), until: day(350) })),
    page('of follow-ups that are done', '/follow-ups?show=done'),
    page('of follow-ups of nobody', '/follow-ups?show=mine'),
    page('of a quarter of grades', '/grades?period=last-quarter'),
    page('of a journey', journeyAt(of, journey?.id ?? '')),
    why('an address', journey?.contact?.value ?? ''),
    why('a shared mailbox', sharedMailbox),
    why('a record', journey?.recordId ?? ''),
  ];
}

/** Behind half of those in this state. */
async function placeIn(redis: BenchRedis, state: JourneyState): Promise<string> {
  const middleOf = async (key: string) => {
    const middle = String(Math.floor((await redis.client.zcard(key)) / 2));
    return await redis.client.zrange(key, middle, middle, 'WITHSCORES');
  };
  const list = `${tagOf(source)}:state:${state}`;
  const middle = await middleOf(list);
  // Of what does not wait that is the middle one of the pieces, which are of about the same size.
  const [id = '', at = ''] = state === 'waiting' ? middle : await middleOf(`${list}:${middle[0]}`);
  return writePlace({ at: Number(at), ref: `${source}/${id}` });
}

async function read(url: string, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`);
  return await answer.text();
}

function commandsOf(config: string, stored: Stored): Look[] {
  const command = (name: string, ...words: string[]): Look => ({
    name: `"closeloop ${name}"`,
    take: () => node(program, ...words, '--config', config),
  });
  const { source: of, journey } = stored.get('written') ?? {};
  return [
    {
      name: '"closeloop status"',
      // 1: no process tells of itself here.
      take: () => nodeEnding([0, 1], [program, 'status', '--config', config]),
    },
    command('journeys list', 'journeys', 'list'),
    command('journeys list --state waiting', 'journeys', 'list', '--state', 'waiting'),
    command('journeys list --since', 'journeys', 'list', '--since', 'yesterday'),
    command('journeys list --error', 'journeys', 'list', '--error', 'no such reason'),
    command('journeys list --contact', 'journeys', 'list', '--contact', sharedMailbox),
    command('journeys list --record', 'journeys', 'list', '--record', journey?.recordId ?? ''),
    command('journeys show', 'journeys', 'show', `${of}/${journey?.id}`),
    command('why, by an address', 'why', journey?.contact?.value ?? ''),
    command('why, by a shared mailbox', 'why', sharedMailbox),
    command('why --stored', 'why', journey?.contact?.value ?? '', '--stored'),
    command('why, by a record', 'why', journey?.recordId ?? ''),
    command('report', 'report'),
    command('report --by', 'report', '--by', 'Store'),
  ];
}
