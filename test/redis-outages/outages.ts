import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../worker/redis/connection.ts';
import { type Loop, startLoop, until } from '../worker/harness.ts';
import { heldBytes, startLoad, type Verdict } from './load.ts';
import { type Server, startServer } from './servers.ts';

/** One way in which Redis can fail. */
export interface Outage {
  name: string;
  settings?: Record<string, string>;
  /** How Redis, or its client, says it. */
  says: RegExp;
  begin(server: Server): Promise<unknown> | unknown;
  end(server: Server): Promise<unknown> | unknown;
}

/** An address where nobody listens: a replica of it takes no writes and waits. */
const nobody = ['127.0.0.1', '1'] as const;

export const outages: readonly Outage[] = [
  { name: 'killed (everysec)', says: /writeable/, begin: (server) => server.kill(), end: (server) => server.start() },
  {
    name: 'killed (always)',
    says: /writeable/,
    settings: { appendfsync: 'always' },
    begin: (server) => server.kill(),
    end: (server) => server.start(),
  },
  { name: 'frozen', says: /did not answer/, begin: (server) => server.freeze(), end: (server) => server.thaw() },
  {
    name: 'killed, then long LOADING',
    says: /writeable/,
    begin: async (server) => {
      await server.kill();
      // Per command read back from the file.
      void server.start(['--key-load-delay', '1000']);
    },
    end: (server) => server.admin.ping(),
  },
  {
    name: 'a replica now (READONLY)',
    says: /READONLY|writeable/,
    begin: (server) => server.admin.replicaof(...nobody),
    end: (server) => server.admin.replicaof('NO', 'ONE'),
  },
  {
    name: 'out of memory (OOM)',
    says: /OOM/,
    begin: (server) => server.admin.config('SET', 'maxmemory', '1mb'),
    end: (server) => server.admin.config('SET', 'maxmemory', '0'),
  },
  {
    name: 'disk full, everysec (MISCONF)',
    says: /MISCONF/,
    begin: (server) => limitFiles(server, 1),
    end: (server) => limitFiles(server, 'unlimited'),
  },
  {
    name: 'disk full, always (Redis ends itself)',
    says: /writeable/,
    settings: { appendfsync: 'always' },
    begin: (server) => limitFiles(server, 1),
    end: async (server) => {
      await until(() => !server.isRunning());
      await server.start();
    },
  },
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
  /** Of one core, during it. */
  cpuPercent: number;
}

/** A loop under load, through an outage of so long, to its end. */
export async function goThrough(
  outage: Outage,
  options: { lastsMs: number; closings: number; everyMs: number },
): Promise<Report> {
  const server = await startServer(outage.settings);
  const handle = connect({ url: server.url }, () => undefined);
  const loop = await startLoop({ handle, socket: '' }, { source: 'desk' });
  const load = startLoad(loop, options);
  try {
    await load.acknowledged(Math.ceil(options.closings / 4));
    const before = heldBytes();
    await outage.begin(server);
    await load.refused(1);
    const cpu = process.cpuUsage();
    await sleep(options.lastsMs);
    const { user, system } = process.cpuUsage(cpu);
    const held = heldBytes() - before;
    const due = load.taken();
    await outage.end(server);
    const back = performance.now();
    const since = () => Math.round(performance.now() - back);
    await askedMore(loop);
    const resumedMs = since();
    await askedAll(loop, due);
    const caughtUpMs = since();
    const verdict = await load.finish();
    return {
      outage: outage.name,
      seconds: options.lastsMs / 1_000,
      ...verdict,
      said: [...new Set(loop.told.filter(({ level }) => level === 'error').map(({ fields }) => String(fields.why)))],
      resumedMs,
      caughtUpMs,
      heldMoreMb: Math.round(held / 2 ** 20),
      cpuPercent: Math.round((user + system) / 10 / options.lastsMs),
    };
  } finally {
    load.stop();
    server.thaw();
    await loop.close();
    await handle.close();
    await server.stop();
  }
}

async function askedAll(loop: Loop, ids: readonly string[]): Promise<void> {
  await until(() => {
    const asked = new Set(loop.feedback.standin.requests().map(({ email }) => email));
    return ids.every((id) => asked.has(`${id}@example.com`));
  });
}

async function askedMore(loop: Loop): Promise<void> {
  const known = loop.feedback.standin.requests().length;
  await until(() => loop.feedback.standin.requests().length > known);
}
