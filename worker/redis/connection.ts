import type { Writable } from 'node:stream';
import type { ConnectionOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import type { RedisClient } from './client.ts';
import { createReplicated, isReplicaNow, type Replicated } from './replicated.ts';
import { probe } from './unavailable.ts';

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

/** The address of Redis: one server by URL or socket, the master that sentinels name, or a cluster by some of its nodes. */
export type RedisAddress = { url: string } | { path: string } | { sentinel: SentinelAddress } | { cluster: string[] };

export interface RedisHandle {
  client: RedisClient;
  /** The connection of BullMQ's queues and workers: commands wait while Redis is down, and are then sent. */
  bull(): ConnectionOptions;
  /** The connection of the intake: commands fail at once while Redis is down, so that the vendor gets its 503 in time. */
  bullIntake: () => ConnectionOptions;
  /** Writes under this tag, as an intake would. Fails at once while Redis is down. */
  tryToWrite(tag: string): Promise<void>;
  /** Waits for replicas: see replicated.ts. */
  replicated: Replicated;
  close(): Promise<void>;
}

/** BullMQ's own strategy takes 8–13 s to resume after a restart, this one half a second. */
const retryStrategy = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000);

/**
 * A connection without a reply for this long is closed and opened again: if the server vanished without closing the connection (machine,
 * network), the connection would hang for a quarter of an hour. The time is longer than BullMQ's blocking calls, which take up to 10 s.
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
        // Each pending command to a server that became a replica adds a listener to ask for a new connection. This is no leak.
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
    // By default the client refreshes the slots only after a redirection.
    slotsRefreshInterval: 5_000,
  });
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
    // failoverDetector is not used: if it learns of a failover while the client is looking for the new master, the client ends for good.
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

/**
 * Sends everything that is written to the connection in one turn of the event loop in one system call. Commands of a thousand jobs
 * then reach Redis together, and Redis flushes them to its disk together, so that they don't wait for each other.
 */
export function writeTogether(connection: Writable): void {
  const write = connection.write;
  let isHeld = false;
  Object.defineProperty(connection, 'write', {
    configurable: true,
    writable: true,
    value: (...args: unknown[]) => {
      if (!isHeld) {
        isHeld = true;
        connection.cork();
        setImmediate(() => {
          isHeld = false;
          connection.uncork();
        });
      }
      return Reflect.apply(write, connection, args);
    },
  });
}
