import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { startFakes } from './fakes.ts';
import { deliveriesOf, freshTickets, sendAll } from './load.ts';
import { startProduct, startRedis } from './product.ts';

const root = resolve(import.meta.dirname, '../..');
const closings = 5_000;
const inFlight = 200;
/** Places that are shown. */
const shown = 40;

const Profile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** Profiles the product while it works on closings, into this folder. @returns what a person reads of it */
export async function profile(dir: string): Promise<string> {
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const nodeOptions = ['--cpu-prof', '--cpu-prof-dir', dir];
  const product = await startProduct({ url: fakes.url, redis, nodeOptions });
  const created = fakes.created(closings);
  await sendAll(product.hooks, deliveriesOf(freshTickets()(closings)), inFlight);
  await created;
  await product.stop();
  await Promise.all([fakes.close(), redis.stop()]);
  const file = readdirSync(dir).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`the process left no profile in ${dir}`);
  return `${summaryOf(readFileSync(join(dir, file), 'utf8'))}\n\nFor the browser's developer tools: ${join(dir, file)}`;
}

/** Where the process spent its own time: by package, and by function. */
function summaryOf(text: string): string {
  const { nodes, samples, timeDeltas } = Profile.parse(JSON.parse(text));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [byPlace, byPackage] = [new Map<string, number>(), new Map<string, number>()];
  let busy = 0;
  samples.forEach((id, i) => {
    const frame = frames.get(id);
    const spent = timeDeltas[i] ?? 0;
    if (!frame || frame.functionName === '(idle)') return;
    const file = fileOf(frame.url);
    busy += spent;
    add(byPlace, `${frame.functionName || '(anonymous)'} ${file}:${frame.lineNumber + 1}`, spent);
    add(byPackage, packageOf(file) || frame.functionName, spent);
  });
  const lines = (spent: ReadonlyMap<string, number>) =>
    [...spent]
      .sort(([, a], [, b]) => b - a)
      .slice(0, shown)
      .map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`);
  return [`${(busy / 1_000 / closings).toFixed(2)} ms a closing`, '', ...lines(byPackage), '', ...lines(byPlace)].join(
    '\n',
  );
}

function add(to: Map<string, number>, name: string, spent: number): void {
  to.set(name, (to.get(name) ?? 0) + spent);
}

function fileOf(url: string): string {
  return url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
}

/** `node_modules/ioredis`, `worker/journey`, `node:net`. */
function packageOf(file: string): string {
  const depth = file.startsWith('node_modules/@') ? 3 : 2;
  return file.startsWith('node:') ? file : file.split('/').slice(0, depth).join('/');
}
