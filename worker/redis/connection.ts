import type { ConnectionOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
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

/** BullMQ's own strategy takes 8–13 s to resume after a restart, this one half a second (facts/bullmq.md, 2.5). */
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
    redisOptions: { maxRetriesPerRequest: null },
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
  });
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Is this Redis safe to keep journeys in? `refuse` says why not; `warnings` what may be lost, or could not be checked.
 */
export async function checkRedis(client: RedisClient): Promise<{ refuse?: string; warnings: string[] }> {
  let memory: string;
  let persistence: string;
  try {
    [memory, persistence] = await Promise.all([client.info('memory'), client.info('persistence')]);
  } catch {
    return { warnings: ['INFO is not allowed here, so eviction and persistence could not be checked'] };
  }
  const policy = /^maxmemory_policy:(.*)$/m.exec(memory)?.[1]?.trim();
  if (policy !== undefined && policy !== 'noeviction') {
    return {
      refuse:
        `This Redis has maxmemory-policy ${policy}: when its memory is full it would throw journeys away, and customers ` +
        'would be asked twice or never. Set it to noeviction ("CONFIG SET maxmemory-policy noeviction"), or use another Redis',
      warnings: [],
    };
  }
  const saves = /^aof_enabled:1/m.test(persistence);
  const warnings = saves
    ? []
    : ['this Redis has no append-only file: what it holds in memory is lost when it restarts. Set "appendonly yes"'];
  return { warnings };
}
