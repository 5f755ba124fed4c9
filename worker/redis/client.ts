import type { Cluster, Redis } from 'ioredis';

/** ioredis for one server or a cluster, which have the same commands. */
export type RedisClient = Redis | Cluster;
