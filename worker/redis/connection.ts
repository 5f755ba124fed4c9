import type { ConnectionOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';
import { createReplicated, type Replicated } from './replicated.ts';
import { probe } from './unavailable.ts';
import { writeTogether } from './write-together.ts';

interface SentinelAddress {
  /** The sentinels' name of the master. */
  name: string;
  /** URLs of some sentinels, with their credentials. */
  nodes: string[];
  /** The credentials of the Redis that the sentinels watch. */
  username?: string | undefined;
  password?: string | undefined;
  db?: number | undefined;
  tls?: boolean | undefined;
}

/** Where Redis is: one server by URL or socket, the master that sentinels name, or a cluster by some of its nodes. */
export type RedisAddress = { url: string } | { path: string } | { sentinel: SentinelAddress } | { cluster: string[] };

export interface RedisHandle {
  client: RedisClient;
  /** For BullMQ's queues and workers: commands wait while Redis is down, and are then sent. */
  bull(): ConnectionOptions;
  /** For intake: commands fail at once while Redis is down, so that the vendor gets its 503 in time. */
  bullIntake: () => ConnectionOptions;
  /** Writes under this tag, as an intake would. Fails at once while Redis is down. */
  tryToWrite(tag: string): Promise<void>;
  /** See replicated.ts. */
  replicated: Replicated;
  close(): Promise<void>;
}

/** BullMQ's own strategy takes 8–13 s to resume after a restart, this one half a second. */
const retryStrategy = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000);

/**
 * A connection without an answer for this long is closed and opened again: a server that vanished without closing it (machine,
 * network) would hold it for a quarter of an hour. Longer than BullMQ's blocking calls, 10 s.
 */
const silentMs = 15_000;

/** Connection errors go to `onError`; without a listener ioredis would end the process. */
export function connect(address: RedisAddress, onError: (error: Error) => void): RedisHandle {
  const opened: RedisClient[] = [];
  let closed = false;
  const open = (enableOfflineQueue: boolean): RedisClient => {
    const client = create(address, enableOfflineQueue);
    client.on('error', onError);
    // ioredis should never give up; if it does, the process would live on without Redis.
    client.on('end', () => {
      if (!closed) setTimeout(() => client.connect().catch(onError), 1_000).unref();
    });
    if (client instanceof Redis) {
      client.on('connect', () => {
        writeTogether(client.stream);
        // Each pending command to a server that became a replica asks for a new connection: not a leak.
        client.stream.setMaxListeners(0);
      });
    } else {
      client.on('+node', (node: Redis) => node.on('connect', () => writeTogether(node.stream)));
    }
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
    tryToWrite: (tag) => probe(intake(), tag),
    replicated: createReplicated(lazily(() => open(true))),
    close: async () => {
      closed = true;
      for (const one of opened) one.disconnect();
    },
  };
}

function create(address: RedisAddress, enableOfflineQueue: boolean): RedisClient {
  const own = { maxRetriesPerRequest: null, reconnectOnError: isReplicaNow, socketTimeout: silentMs };
  const options = { ...own, retryStrategy, enableOfflineQueue };
  if ('path' in address) return new Redis({ ...options, path: address.path });
  if ('url' in address) return new Redis(address.url, options);
  if ('sentinel' in address) return new Redis({ ...options, ...throughSentinels(address.sentinel) });
  return new Cluster(address.cluster, {
    redisOptions: { ...own, ...accessOf(address.cluster) },
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    // Refreshes the slots also without a redirection, which is not the client's default.
    slotsRefreshInterval: 5_000,
  });
}

/** After a failover this server is no longer the master: reconnects to find the new one. 2: and sends the command again there. */
function isReplicaNow(error: Error): 2 | false {
  return error.message.startsWith('READONLY') ? 2 : false;
}

function throughSentinels({ name, nodes, username, password, db, tls }: SentinelAddress) {
  const access = accessOf(nodes);
  return {
    name,
    role: 'master' as const,
    sentinels: nodes.map((node) => {
      const { hostname, port } = new URL(node);
      return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 26_379 : Number(port) };
    }),
    sentinelRetryStrategy: retryStrategy,
    // Not failoverDetector: when it hears of a failover while the client is looking for the new master, the client ends for good.
    ...(access.username !== undefined && { sentinelUsername: access.username }),
    ...(access.password !== undefined && { sentinelPassword: access.password }),
    ...(access.tls && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(db !== undefined && { db }),
    ...(tls && { tls: {} }),
  };
}

/** A cluster announces other nodes by address only: credentials and TLS are those of the first given node. */
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

/** Resolves when Redis answers. @throws CloseloopError config when Redis refuses the credentials */
export async function verifyConnection(client: RedisClient): Promise<void> {
  try {
    await client.ping();
  } catch (cause) {
    if (!/^(?:WRONGPASS|NOAUTH|NOPERM)/.test(messageOf(cause))) throw cause;
    const why = messageOf(cause).slice(0, 100);
    const message = `Redis lets closeloop not in (${why}): correct the user and password in "redis", or in REDIS_URL.`;
    throw new CloseloopError(message, { kind: 'config' }, { cause });
  }
}

/** A server this full, in percent of its maxmemory, is close to refusing writes. */
const nearlyFull = 80;

/**
 * Checks whether journeys are safe in this Redis; in a cluster, on every master. `refuse` says why not; `warnings` say what may be
 * lost, or could not be checked.
 */
export async function checkRedis(client: RedisClient): Promise<{ refuse?: string; warnings: string[] }> {
  await verifyConnection(client);
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  const warnings = new Set<string>();
  for (const server of servers) {
    let memory: Record<string, string>;
    let persistence: Record<string, string>;
    let replication: Record<string, string>;
    try {
      memory = fieldsOf(await server.info('memory'));
      persistence = fieldsOf(await server.info('persistence'));
      replication = fieldsOf(await server.info('replication'));
    } catch {
      warnings.add('INFO is not allowed here, so eviction and persistence could not be checked');
      continue;
    }
    const { maxmemory_policy: policy, maxmemory, used_memory: used } = memory;
    if (policy === undefined) warnings.add('it does not tell its maxmemory-policy; it must be noeviction');
    if (policy !== undefined && policy !== 'noeviction') return { refuse: evicts(policy), warnings: [] };
    if (replication.role === 'slave') return { refuse: isReplica, warnings: [] };
    const percent = Number(maxmemory) > 0 ? Math.round((Number(used) / Number(maxmemory)) * 100) : 0;
    if (percent >= nearlyFull)
      warnings.add(`${percent} % of its memory is used; when it is full, nothing can be stored`);
    if (persistence.aof_enabled !== '1') warnings.add(await withoutAppendOnlyFile(server));
    else for (const warning of await lateWrites(server)) warnings.add(warning);
  }
  return { warnings: [...warnings] };
}

function evicts(policy: string): string {
  return (
    `This Redis has maxmemory-policy ${policy}: when its memory is full it would throw journeys away, and customers ` +
    'would be asked twice or never. Set it to noeviction ("CONFIG SET maxmemory-policy noeviction"), or use another Redis'
  );
}

const isReplica =
  'This Redis is a replica: it takes no writes. Name its master in "redis", or its sentinels (redis: {sentinel: …})';

/** With `always` an answered write is on the disk. What is lost otherwise: docs/redis.md. */
async function lateWrites(server: Redis): Promise<string[]> {
  try {
    const [, fsync] = z.array(z.string()).parse(await server.config('GET', 'appendfsync'));
    if (fsync === undefined || fsync === 'always') return [];
    const lost = fsync === 'everysec' ? 'the last second or two of' : 'up to half a minute of';
    const loss = `a power cut loses ${lost} deliveries that were acknowledged (no crash of a process does)`;
    return [`its appendfsync is ${fsync}: ${loss}. Set "appendfsync always"`];
  } catch {
    return [
      'CONFIG is not allowed here, so appendfsync could not be checked: with anything but "always" a power cut loses deliveries',
    ];
  }
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
