import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type RedisAddress } from '../../../worker/redis/connection.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { type Loop, openLoop, until } from '../../support/loop.ts';
import { heldBytes, startLoad, type Verdict } from './load.ts';
import { masterAmong, type Replicas, type Server, startCluster, startSentinel, startServer } from './servers.ts';

/** A Redis that is about to fail, and come back. */
interface Scene {
  address: RedisAddress;
  begin(): Promise<unknown> | unknown;
  /** Brings it back, or waits until it has come back by itself. */
  end(): Promise<unknown> | unknown;
  stop(): Promise<unknown>;
}

export interface Outage {
  name: string;
  /** How Redis, or its client, says it: a reason of a refused delivery. */
  says: RegExp;
  /** It comes back by itself, in its own time. */
  heals?: boolean;
  open(source: string): Promise<Scene>;
}

/** On a busy machine a delivery may have waited for its answer before the connection is known to be closed. */
const gone = /(does|did) not answer/;

/** One server: how it fails, and how it comes back. */
function ofOne(
  name: string,
  says: RegExp,
  begin: (server: Server) => unknown,
  end: (server: Server) => unknown,
  settings?: Record<string, string>,
): Outage {
  const open = async (): Promise<Scene> => {
    const server = await startServer(settings);
    return {
      address: { url: server.url },
      begin: () => begin(server),
      end: () => end(server),
      stop: () => server.stop(),
    };
  };
  return { name, says, open };
}

/** A master and its replica, which takes its place. */
function ofReplicated(
  name: string,
  says: RegExp,
  start: (source: string) => Promise<{ address: RedisAddress; servers: Replicas; stop: Scene['stop'] }>,
): Outage {
  const open = async (source: string): Promise<Scene> => {
    const { address, servers, stop } = await start(source);
    let left = servers;
    return {
      address,
      begin: async () => {
        const master = await masterAmong(servers);
        left = servers.filter((server) => server !== master);
        await master.kill();
      },
      end: () => masterAmong(left),
      stop,
    };
  };
  return { name, says, heals: true, open };
}

const kill = (server: Server) => server.kill();
const start = (server: Server) => server.start();
const always = { appendfsync: 'always' };
/** While it flushes the second before, Redis answers ahead of its file: that is lost with it (docs/redis.md). */
const killOnTime = async (server: Server) => {
  await until(async () => /^aof_pending_bio_fsync:0/m.test(await server.admin.info('persistence')));
  await server.kill();
};

export const outages: readonly Outage[] = [
  ofOne('killed, everysec', gone, killOnTime, start),
  ofOne('killed, always', gone, kill, start, always),
  ofOne(
    'frozen',
    /earlier deliveries/,
    (server) => server.freeze(),
    (server) => server.thaw(),
  ),
  ofOne(
    'killed, then long LOADING',
    gone,
    async (server) => {
      await server.kill();
      // Microseconds for each command that is read back from the file: long enough for a delivery to be refused meanwhile.
      void server.start(['--key-load-delay', '5000']);
    },
    (server) => server.admin.ping(),
  ),
  ofOne(
    'made a replica (READONLY)',
    /READONLY|does not answer/,
    // Of an address where nobody listens: it keeps its data and waits.
    (server) => server.admin.replicaof('127.0.0.1', '1'),
    (server) => server.admin.replicaof('NO', 'ONE'),
  ),
  ofOne(
    'out of memory (OOM)',
    /OOM/,
    (server) => server.admin.config('SET', 'maxmemory', '1mb'),
    (server) => server.admin.config('SET', 'maxmemory', '0'),
  ),
  ofOne(
    'disk full, everysec (MISCONF)',
    /MISCONF/,
    (server) => limitFiles(server, 1),
    (server) => limitFiles(server, 'unlimited'),
  ),
  ofOne(
    'disk full, always (it ends itself)',
    gone,
    (server) => limitFiles(server, 1),
    async (server) => {
      await until(() => !server.isRunning());
      await server.start();
    },
    always,
  ),
  ofReplicated('master killed, Sentinel', gone, async () => {
    const { name, master, replica, sentinel, stop } = await startSentinel();
    return { address: { sentinel: { name, nodes: [sentinel.url] } }, servers: [master, replica], stop };
  }),
  ofReplicated('a master killed, Cluster', /answer|CLUSTERDOWN|closed|cluster/i, async (source) => {
    const { urls, holding, stop } = await startCluster(3, 1);
    return { address: { cluster: urls }, servers: await holding(tagOf(source)), stop };
  }),
];

/** No file of it may grow beyond so many bytes: to a process the same as a full disk. */
function limitFiles(server: Server, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(server.pid()), `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

export interface Report extends Verdict {
  outage: string;
  seconds: number;
  /** Why deliveries were refused. */
  said: string[];
  /** From the end of the outage until the first customer was asked, and all whose closing was acknowledged before it. */
  resumedMs: number;
  caughtUpMs: number;
  /** At its end. */
  heldMoreMb: number;
  /** How long this process, the vendor's part included, did nothing at all, at worst: answers can't come sooner. */
  lagMs: number;
  /** Of one core, during it. */
  cpuPercent: number;
}

/**
 * A loop under load, through an outage of so long, to its end.
 * @param say called with what is waited for: all that is known of a run that never ends
 */
export async function goThrough(
  outage: Outage,
  options: { lastsMs: number; closings: number; everyMs: number },
  say: (waitingFor: string) => void,
): Promise<Report> {
  const source = 'desk';
  say('Redis to start');
  const scene = await outage.open(source);
  const handle = connect(scene.address, () => undefined);
  const loop = await openLoop({ handle, socket: '' }, { source });
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  const load = startLoad(loop, options);
  try {
    say('the first closings to be taken');
    await load.acknowledged(Math.ceil(options.closings / 4));
    const before = heldBytes();
    const begun = performance.now();
    say('the outage to begin');
    await scene.begin();
    say('a delivery to be refused');
    await load.refused(1);
    const cpu = process.cpuUsage();
    if (!outage.heals) await sleep(options.lastsMs);
    const { user, system } = process.cpuUsage(cpu);
    const held = heldBytes() - before;
    const due = load.taken();
    say('the outage to end');
    await scene.end();
    const back = performance.now();
    const since = () => Math.round(performance.now() - back);
    say('a customer to be asked');
    await askedMore(loop, options.closings);
    const resumedMs = since();
    say('all to be asked who were taken before');
    await askedAll(loop, due);
    const caughtUpMs = since();
    say('all closings to be taken, and all work to be done');
    const verdict = await load.finish();
    return {
      outage: outage.name,
      seconds: Math.round((back - begun) / 1_000),
      ...verdict,
      said: [...new Set(loop.told.filter(({ level }) => level === 'error').map(({ fields }) => String(fields.why)))],
      resumedMs,
      caughtUpMs,
      heldMoreMb: Math.round(held / 2 ** 20),
      lagMs: Math.round(lag.max / 1e6),
      cpuPercent: outage.heals ? 0 : Math.round((user + system) / 10 / options.lastsMs),
    };
  } finally {
    load.stop();
    await loop.close();
    await handle.close();
    await scene.stop();
  }
}

const askedIn = (loop: Loop) => new Set(loop.feedback.standin.requests().map(({ email }) => email));

/** One that came back early may have nobody left to ask. */
async function askedMore(loop: Loop, closings: number): Promise<void> {
  const known = askedIn(loop).size;
  await until(() => askedIn(loop).size > known || known >= closings);
}

async function askedAll(loop: Loop, ids: readonly string[]): Promise<void> {
  await until(() => {
    const asked = askedIn(loop);
    return ids.every((id) => asked.has(`${id}@example.com`));
  });
}
