import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { audit, isClean, type Verdict } from './auditor.ts';
import { createBalancer } from './balancer.ts';
import { configuring } from './configuring.ts';
import { gather, journeysIn } from './evidence.ts';
import { Customers, pause, raise } from './load.ts';
import { FieldWatch, makeNewerVersion } from './newer-version.ts';
import { counts, planOf } from './plan.ts';
import { windowFrom } from './policy.ts';
import { type Kept, keepCloseloop, keepRedis } from './processes.ts';
import { quiet } from './quiet.ts';
import { chanceOf } from './random.ts';
import { openWorld } from './world.ts';

export interface ChaosOptions {
  seed: number;
  kills: number;
  closings: number;
  fsync: 'always' | 'everysec';
  /** Where the configuration, Redis' files and the logs go; left out: a folder that is removed after a clean run without crashes. */
  dir?: string;
  /** What happens, for a person. */
  say: (line: string) => void;
  signal: AbortSignal;
}

export interface Report extends Verdict {
  seed: number;
  kills: number;
  /** Processes that ended though nobody had killed them. */
  crashes: number;
  /** What the vendors' deliveries met. */
  deliveries: Record<string, number>;
  seconds: number;
  dir: string;
}

/** About as long as the kills take: five seconds of life, two to be up again, and 13 for those that are only stopped. */
export function loadMsOf({ kills, closings }: Pick<ChaosOptions, 'kills' | 'closings'>): number {
  return Math.max(5_000, kills * 2_200, closings * 40);
}

/** One run from its start to the auditor's verdict. What it started is gone when it resolves, also after `signal`. */
export async function chaos(options: ChaosOptions): Promise<Report> {
  const { seed, kills, closings, fsync, say, signal } = options;
  const begun = Date.now();
  const plan = planOf({ seed, kills, closings, loadMs: loadMsOf(options) });
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'closeloop-chaos-'));
  mkdirSync(dir, { recursive: true });
  const socket = join(dir, 'redis.sock');
  const chance = chanceOf(seed).fork('run');
  const balancer = createBalancer(chance.fork('balancer'));
  const customers = new Customers(plan.records);
  const world = await openWorld({ balancer, chance: chance.fork('world'), onTaken: (taken) => customers.got(taken) });
  const redisServer = await keepRedis({ dir: join(dir, 'redis'), socket, fsync });
  const redis = new Redis({ path: socket, maxRetriesPerRequest: null, retryStrategy: () => 200 });
  redis.on('error', () => undefined);
  const config = join(dir, 'closeloop.yaml');
  const capped = plan.records.filter(({ rule }) => rule === 'capped').length;
  const settings = { window: windowFrom(begun), capPerHour: Math.max(2, Math.ceil(capped / 8)) };
  const logs = join(dir, 'logs');
  const operator = configuring({
    write: (deskName, version) =>
      writeFileSync(
        config,
        world.config({
          ...{ redisSocket: socket, collectEveryMs: closings > 1_000 ? 2_000 : 300 },
          ...{ deskName, version, settings },
        }),
      ),
    say,
  });
  const newer = makeNewerVersion(join(dir, 'newer'));
  const fields = new FieldWatch();
  const listensAt = (n: number) => (url: string | undefined) => {
    balancer.urls[n] = url;
  };
  const loop = (role: 'intake' | 'worker'): Kept[] =>
    Array.from({ length: counts[role] }, (_, n) =>
      keepCloseloop({
        ...{ role, name: `${role}-${n}`, config, logs },
        // A rolling upgrade that never ends: one of the workers is a version further on.
        ...(role === 'worker' && n === 1 ? { command: newer } : {}),
        ...(role === 'intake' ? { onUrl: listensAt(n) } : {}),
      }),
    );
  balancer.urls = Array(counts.intake).fill(undefined);
  const processes = { intake: loop('intake'), worker: loop('worker'), redis: [redisServer] };
  const all = Object.values(processes).flat();
  let isToBeKept = true;
  try {
    while (!all.every(({ isUp }) => isUp)) await pause(50, signal);
    say(
      `seed ${seed}: ${plan.records.length} records, ${plan.kills.length} kills, ${plan.faults.length} bursts of faults`,
    );
    const look = async (): Promise<void> => fields.look(await journeysIn(redis));
    const operations = operator.operations(kills, [...processes.intake, ...processes.worker]);
    const steps = await raise(plan, { world, customers, processes, operations, look, say, signal });
    world.endFaults();
    say('the faults are over: waiting until nothing happens any more');
    await world.idle();
    await quiet({ world, customers, redis, say, signal });
    const evidence = await gather(world, redis, {
      records: plan.records,
      acknowledged: balancer.acknowledged,
      erased: balancer.erased,
      ...{ steps, regimes: operator.regimes, settings },
    });
    fields.look(evidence.journeys);
    const verdict = audit({ ...evidence, fieldsDropped: [...fields.dropped] });
    say(`${fields.size} journeys were saved by the newer version`);
    const crashes = all.flatMap((one) => one.crashes);
    for (const crash of crashes) say(`${crash}, though nobody had killed it`);
    isToBeKept = options.dir !== undefined || !isClean(verdict) || crashes.length > 0;
    return {
      ...verdict,
      seed,
      kills: plan.kills.length,
      crashes: crashes.length,
      deliveries: balancer.met,
      seconds: Math.round((Date.now() - begun) / 1000),
      dir,
    };
  } finally {
    redis.disconnect();
    await Promise.all([...all.map((one) => one.end()), world.end()]);
    // Stopped on purpose: nobody reads its logs.
    if (signal.aborted && options.dir === undefined) isToBeKept = false;
    if (!isToBeKept) rmSync(dir, { recursive: true, force: true });
  }
}
