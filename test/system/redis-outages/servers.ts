import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findServerBinary } from '../../../worker/redis/server-binary.ts';
import { freePort } from '../../support/free-port.ts';
import { serverCache } from '../../support/redis-cache.ts';

/** A Redis server on a port of its own, which may be killed, frozen and started again on the same data. */
export interface Server {
  port: number;
  url: string;
  dir: string;
  pid(): number;
  /** A connection for the test's own commands. */
  admin: Redis;
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>;
  /** SIGSTOP: it neither answers nor fails. */
  freeze(): void;
  thaw(): void;
  isRunning(): boolean;
  /** Starts it again on its data, perhaps with more settings. Resolves when it answers. */
  start(more?: readonly string[]): Promise<void>;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
}

/** Ends with this process, however that ends. */
const withParent = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL'] : [];

/** As `start` of the embedded one: everything in a file, nothing thrown away; `settings` may say otherwise. */
const usual = { appendonly: 'yes', appendfsync: 'everysec', save: '', 'maxmemory-policy': 'noeviction', hz: '100' };

export async function startServer(settings: Record<string, string> = {}): Promise<Server> {
  const [port, busPort] = [await freePort(), await freePort()];
  const bus = settings['cluster-enabled'] === 'yes' ? { 'cluster-port': String(busPort) } : {};
  const config = { bind: '127.0.0.1', port: String(port), ...usual, ...bus, ...settings };
  return await open(port, (dir) =>
    Object.entries({ ...config, dir }).map(([name, value]) => (value === '' ? `${name} ""` : `${name} ${value}`)),
  );
}

async function open(port: number, lines: (dir: string) => string[], mode: readonly string[] = []): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-redis-'));
  const file = join(dir, 'redis.conf');
  // Sentinel and CONFIG REWRITE write into it.
  writeFileSync(file, `${lines(dir).join('\n')}\n`);
  const binary = await findServerBinary({
    cache: serverCache,
    path: process.env.PATH ?? '',
    say: () => undefined,
  });
  let child: ChildProcess | undefined;
  const admin = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  admin.on('error', () => undefined);

  const server: Server = {
    port,
    url: `redis://127.0.0.1:${port}`,
    dir,
    admin,
    pid: () => child?.pid ?? 0,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    async start(more = []) {
      // What would end a process whose files may not grow is ignored: it is told by an error then, as of a full disk.
      const shell = ['-c', `trap '' XFSZ; exec "$@"`, 'sh', ...withParent, binary.command, file, ...mode, ...more];
      const started = spawn('sh', shell, { stdio: 'ignore', env: { ...process.env, ...binary.env } });
      child = started;
      await admin.ping();
    },
    async kill() {
      if (!child || !server.isRunning()) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      admin.disconnect();
      await server.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** A master and its replicas. Which of them is the master may change at any time: a busy machine is reason enough for a failover. */
export type Replicas = readonly Server[];

/** The master among these. Resolves when there is one. */
export async function masterAmong(servers: Replicas): Promise<Server> {
  for (;;) {
    for (const server of servers) if ((await server.admin.role())[0] === 'master') return server;
    await sleep(20);
  }
}

export interface RedisCluster {
  urls: string[];
  /** Those that hold this key, the first master first. */
  holding(key: string): Promise<Replicas>;
  /** Of these names, one whose keys lie on each master. */
  onEachMaster(names: Iterable<string>, keyOf: (name: string) => string): Promise<string[]>;
  stop(): Promise<void>;
}

/** How long a node may be silent before it counts as gone. While the cluster forms, a node that is late is forgotten, and never met again. */
const nodeTimeoutMs = { forming: 30_000, formed: 1_500 };

/** Masters with equal shares of the slots, and as many replicas of each. */
export async function startCluster(masters: number, replicasOfEach = 0): Promise<RedisCluster> {
  const timeout = { 'cluster-node-timeout': String(nodeTimeoutMs.forming) };
  const settings = { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1', 'repl-diskless-sync-delay': '0' };
  const start = () => startServer({ ...settings, ...timeout });
  const nodes = await Promise.all(Array.from({ length: masters * (1 + replicasOfEach) }, start));
  const all = nodes.map(({ admin }) => admin);
  const share = Math.ceil(16_384 / masters);
  for (const [i, { admin }] of nodes.slice(0, masters).entries()) {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', i * share, Math.min(16_383, (i + 1) * share - 1));
  }
  // Nodes of one epoch would settle it among themselves, in their own time.
  for (const [i, admin] of all.entries()) await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
  for (const { port, admin } of nodes) {
    const bus = Number((await admin.config('GET', 'cluster-port')).at(1));
    if (admin !== all[0]) await all[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, bus);
  }
  const info = async (admin: Redis) => String(await admin.call('CLUSTER', 'INFO'));
  const known = new RegExp(`cluster_known_nodes:${nodes.length}\\b`);
  for (const admin of all) while (!known.test(await info(admin))) await sleep(20);
  for (const [i, admin] of all.slice(masters).entries()) {
    const id = String(await all[i % masters]?.call('CLUSTER', 'MYID'));
    // Its own view of that node may come a moment later.
    while (!(await admin.call('CLUSTER', 'REPLICATE', id).catch(() => undefined))) await sleep(20);
  }
  for (const admin of all) while (!/cluster_state:ok/.test(await info(admin))) await sleep(20);
  for (const admin of all.slice(masters)) {
    while (!/master_link_status:up/.test(await admin.info('replication'))) await sleep(20);
  }
  for (const admin of all) await admin.config('SET', 'cluster-node-timeout', nodeTimeoutMs.formed);
  const shareOf = async (key: string) => Math.floor(Number(await all[0]?.call('CLUSTER', 'KEYSLOT', key)) / share);
  return {
    urls: nodes.map(({ url }) => url),
    async holding(key) {
      const index = await shareOf(key);
      return nodes.filter((_, i) => i % masters === index);
    },
    async onEachMaster(names, keyOf) {
      const found = new Map<number, string>();
      for (const name of names) {
        const master = await shareOf(keyOf(name));
        if (!found.has(master)) found.set(master, name);
        if (found.size === masters) break;
      }
      return [...found.values()];
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

export interface Sentinel {
  name: string;
  /** At first. */
  master: Server;
  replica: Server;
  sentinel: Server;
  stop(): Promise<void>;
}

/** A master, its replica, and one sentinel that alone decides when the master is gone. */
export async function startSentinel(settings: Record<string, string> = {}): Promise<Sentinel> {
  const name = 'closeloop';
  const replicated = { ...settings, 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1' };
  const master = await startServer(replicated);
  const replica = await startServer({ ...replicated, replicaof: `127.0.0.1 ${master.port}` });
  while (!/master_link_status:up/.test(await replica.admin.info('replication'))) await sleep(20);
  const port = await freePort();
  const lines = (dir: string) => [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir "${dir}"`,
    `sentinel monitor ${name} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${name} 2000`,
    `sentinel failover-timeout ${name} 5000`,
  ];
  const sentinel = await open(port, lines, ['--sentinel']);
  while (!/slaves=1/.test(await sentinel.admin.info('sentinel'))) await sleep(50);
  return {
    name,
    master,
    replica,
    sentinel,
    stop: async () => {
      await Promise.all([sentinel, master, replica].map((server) => server.stop()));
    },
  };
}
