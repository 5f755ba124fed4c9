import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { JourneyKeys } from '../../worker/journey/journey-keys.ts';
import { stateLists } from '../../worker/journey/state-lists.ts';
import type { JourneyState } from '../../worker/journey/states.ts';
import { startEmbeddedRedis } from '../../worker/redis/embedded.ts';
import { createSeal } from '../../worker/redis/seal.ts';
import { serverCache } from '../support/redis-cache.ts';
import { webhookSecret } from './load.ts';

/** As bench.ts has built it; else as it lies here. */
export const program =
  process.env.CLOSELOOP_BENCH_PROGRAM ?? resolve(import.meta.dirname, '../../worker/cli/closeloop.js');
export const source = 'support';

/** A folder that is gone after the measure. */
export function temporaryFolder(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-bench-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

export interface BenchRedis {
  socket: string;
  client: Redis;
  pid: number;
  /** Commands that it has executed, and bytes that it was sent. */
  work(): Promise<{ commands: number; bytes: number }>;
  stop(): Promise<void>;
}

/** How many journeys are in a state. */
export async function journeysIn({ client }: BenchRedis, state: JourneyState, of = source): Promise<number> {
  return (await stateLists(client, new JourneyKeys(of, createSeal(new Uint8Array(32)))).counts())[state];
}

/** A Redis as the embedded one is, which flushes every write to the disk before it answers. */
export async function startRedis(): Promise<BenchRedis> {
  const { dir, remove } = temporaryFolder();
  const server = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined });
  const client = new Redis({ path: server.socket });
  const field = (info: string, name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return {
    socket: server.socket,
    client,
    pid: field(await client.info('server'), 'process_id'),
    work: async () => {
      const info = await client.info('stats');
      return { commands: field(info, 'total_commands_processed'), bytes: field(info, 'total_net_input_bytes') };
    },
    stop: async () => {
      client.disconnect();
      await server.stop();
      remove();
    },
  };
}

export interface ProductOptions {
  /** Where the fakes are; the service alone, where `settings` name another desk. */
  url: string;
  /** The source's section of the configuration, as YAML. Left out: the help desk of the fakes. */
  settings?: string;
  redis: BenchRedis;
  role?: 'all' | 'intake' | 'worker';
  /** Further settings of the rule, as YAML. */
  rule?: string;
  /** Conversations with the service at once. */
  callsAtOnce?: number;
  /** How often it looks for new grades. Left out: only when it is told to. */
  collectEvery?: string;
  /** Options of Node itself, besides those of `npm start`. */
  nodeOptions?: readonly string[];
  /** The launcher of another version. Left out: this version. */
  program?: string;
}

export interface Product {
  pid: number;
  hooks: string;
  /** Where its page for people is. */
  dashboard: string;
  /** The file of its configuration. */
  config: string;
  /** From its start until it took deliveries, milliseconds. */
  startedInMs: number;
  /** Lines of its log so far. */
  logLines(): number;
  stop(): Promise<void>;
}

/** Whoever ends the bench ends these. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A configuration as its users write it, for the fakes and this Redis. `config`: its file. */
export async function configure(options: ProductOptions) {
  const { url, redis, rule = '', callsAtOnce = 100, collectEvery = '1h', settings = deskOfFakes(url, rule) } = options;
  const { dir, remove } = temporaryFolder();
  const [config, port] = [join(dir, 'closeloop.yaml'), await freePort()];
  writeFileSync(config, configuration({ url, socket: redis.socket, port, settings, callsAtOnce, collectEvery }));
  return { dir, config, port, remove };
}

/** V8's memory options, which `npm start` and the images give. */
function startOptions(): string[] {
  const { scripts } = Package.parse(
    JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')),
  );
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

const Package = z.object({ scripts: z.object({ start: z.string() }) });

/** One closeloop process, as its users start it. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { role = 'all', nodeOptions = [] } = options;
  const launcher = options.program ?? program;
  const { dir, config, port, remove } = await configure(options);
  const log = join(dir, 'log');
  const begun = performance.now();
  const output = openSync(log, 'w');
  const args = [
    ...startOptions(),
    ...nodeOptions,
    launcher,
    'start',
    '--config',
    config,
    '--data',
    dir,
    '--role',
    role,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', output, output] });
  const closed = once(child, 'close');
  running.add(child);
  await says(child, log, /"msg":"started"/);
  const [, dashboard = ''] = /"dashboard":"([^"]+)"/.exec(readFileSync(log, 'utf8')) ?? [];
  return {
    pid: child.pid ?? 0,
    hooks: `http://127.0.0.1:${port}/hooks/${source}`,
    dashboard,
    config,
    startedInMs: performance.now() - begun,
    logLines: () => readFileSync(log, 'utf8').split('\n').length - 1,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      running.delete(child);
      remove();
    },
  };
}

/** Resolves when the process has written it to its log. @throws Error when the process ends before */
async function says(child: ChildProcess, log: string, line: RegExp): Promise<void> {
  for (;;) {
    const text = readFileSync(log, 'utf8');
    if (line.test(text)) return;
    if (child.exitCode !== null) throw new Error(`closeloop ended with ${child.exitCode}: ${text.slice(-1_000)}`);
    await sleep(5);
  }
}

function configuration(options: {
  url: string;
  socket: string;
  port: number;
  settings: string;
  callsAtOnce: number;
  collectEvery: string;
}): string {
  const { url, socket, port, settings, callsAtOnce, collectEvery } = options;
  return `
feedback: { baseUrl: "${url}/api", apiKey: demo-key, timeZone: Europe/Tallinn, callsAtOnce: ${callsAtOnce} }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${socket} }
http: { port: ${port} }
collect: { every: ${collectEvery} }
poll: { every: 1d }
sources:
  ${source}:
${settings}
`;
}

export const deskOfFakes = (url: string, rule: string): string => `
    connector: zendesk
    subdomain: acme
    baseUrl: ${url}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: [${webhookSecret}]
    rules:
      - name: all
        campaign: 12
        contact: requester.email
        fields: { Store: ticket.fields.store, Agent: assignee.name }
        ${rule}
    writeBack: { grade: 360001, note: true, tags: true }`;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
