import type { Cluster, Redis } from 'ioredis';

/** ioredis, one server or a cluster: the same commands. */
export type RedisClient = Redis | Cluster;
