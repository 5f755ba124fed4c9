import type { ConnectionOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import type { RedisClient } from '../journey/store.ts';

/** Where Redis is: one server by URL or socket, or a cluster by some of its nodes. */
export type RedisAddress = { url: string } | { path: string } | { cluster: string[] };

export interface RedisHandle {
  client: RedisClient;
  /** For BullMQ's queues and workers: commands wait while Redis is away, and go on by themselves. */
  bull(): ConnectionOptions;
  /** For intake: commands fail at once while Redis is away, so that the vendor hears 503 in time. */
  bullIntake(): ConnectionOptions;
  close(): Promise<void>;
}

/** BullMQ's own strategy takes 8–13 s to resume after a restart, this one half a second. */
const retryStrategy = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000);

/** Errors of the connection are told through `onError`; without a listener ioredis would end the process. */
export function connect(address: RedisAddress, onError: (error: Error) => void): RedisHandle {
  const opened: RedisClient[] = [];
  const open = (enableOfflineQueue: boolean): RedisClient => {
    const client = create(address, enableOfflineQueue);
    client.on('error', onError);
    opened.push(client);
    return client;
  };
  const client = open(true);
  const bull = lazily(() => open(true));
  const intake = lazily(() => open(false));
  return {
    client,
    bull,
    bullIntake: intake,
    close: async () => {
      for (const one of opened) one.disconnect();
    },
  };
}

function create(address: RedisAddress, enableOfflineQueue: boolean): RedisClient {
  const options = { maxRetriesPerRequest: null, retryStrategy, enableOfflineQueue };
  if ('path' in address) return new Redis({ ...options, path: address.path });
  if ('url' in address) return new Redis(address.url, options);
  return new Cluster(address.cluster, {
    redisOptions: { maxRetriesPerRequest: null, ...accessOf(address.cluster) },
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
  });
}

/** The cluster tells its other nodes by address alone: how to get in is taken from the first that was given. */
function accessOf(nodes: readonly string[]): { username?: string; password?: string; tls?: object } {
  const url = URL.parse(nodes[0] ?? '');
  if (url === null) return {};
  return {
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A server this full, in percent of its maxmemory, is close to refusing writes. */
const nearlyFull = 80;

/**
 * Is this Redis safe to keep journeys in? Of a cluster, every master is looked at. `refuse` says why not; `warnings` what
 * may be lost, or could not be checked.
 */
export async function checkRedis(client: RedisClient): Promise<{ refuse?: string; warnings: string[] }> {
  await client.ping();
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  const warnings = new Set<string>();
  for (const server of servers) {
    let memory: Record<string, string>;
    let persistence: Record<string, string>;
    try {
      memory = fieldsOf(await server.info('memory'));
      persistence = fieldsOf(await server.info('persistence'));
    } catch {
      warnings.add('INFO is not allowed here, so eviction and persistence could not be checked');
      continue;
    }
    const { maxmemory_policy: policy, maxmemory, used_memory: used } = memory;
    if (policy === undefined) warnings.add('it does not tell its maxmemory-policy; it must be noeviction');
    if (policy !== undefined && policy !== 'noeviction') return { refuse: evicts(policy), warnings: [] };
    const percent = Number(maxmemory) > 0 ? Math.round((Number(used) / Number(maxmemory)) * 100) : 0;
    if (percent >= nearlyFull)
      warnings.add(`${percent} % of its memory is used; when it is full, nothing can be stored`);
    if (persistence.aof_enabled !== '1') warnings.add(await withoutAppendOnlyFile(server));
  }
  return { warnings: [...warnings] };
}

function evicts(policy: string): string {
  return (
    `This Redis has maxmemory-policy ${policy}: when its memory is full it would throw journeys away, and customers ` +
    'would be asked twice or never. Set it to noeviction ("CONFIG SET maxmemory-policy noeviction"), or use another Redis'
  );
}

async function withoutAppendOnlyFile(server: Redis): Promise<string> {
  const remedy = 'Set "appendonly yes"';
  try {
    const [, save = ''] = z.array(z.string()).parse(await server.config('GET', 'save'));
    if (save !== '')
      return `it has snapshots but no append-only file: a crash loses what came since the last. ${remedy}`;
    return `it has no append-only file and no snapshots: a restart loses everything. ${remedy}`;
  } catch {
    return `it has no append-only file, and CONFIG is not allowed here, so snapshots could not be checked. ${remedy}`;
  }
}

/** INFO's lines of `name:value`. */
function fieldsOf(info: string): Record<string, string> {
  return Object.fromEntries([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
}
