import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { connect, type RedisHandle } from '../../worker/redis/connection.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../worker/redis/embedded.ts';
import { serverCache } from './redis-cache.ts';

export interface TestRedis {
  handle: RedisHandle;
  socket: string;
}

/** A Redis of its own for this test file: started before its tests, ended after them. */
export function useRedis(): TestRedis {
  let dir: string;
  let server: EmbeddedRedis;
  let handle: RedisHandle;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'closeloop-test-'));
    server = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined, fsync: 'everysec' });
    handle = connect({ path: server.socket }, () => undefined);
  });
  afterAll(async () => {
    await handle?.close();
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    get handle() {
      return handle;
    },
    get socket() {
      return server.socket;
    },
  };
}
