import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type RedisHandle } from '../../../../worker/redis/connection.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../../../worker/redis/embedded.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { serverCache } from '../../../support/redis-cache.ts';

let dir: string;
let server: EmbeddedRedis;
let handle: RedisHandle;
/** A Redis as in production: an answered write is on the disk. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-outage-'));
  server = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined, fsync: 'always' });
  handle = connect({ path: server.socket }, () => undefined);
});
afterAll(async () => {
  await handle?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});
const redis = {
  get handle() {
    return handle;
  },
  get socket() {
    return server.socket;
  },
};

/** The server's own process: ours, by the number in its file. */
function pid(): number {
  const number = Number(readFileSync(join(dir, 'data', 'redis.pid'), 'utf8'));
  if (!Number.isSafeInteger(number) || number <= 1) throw new Error('no process number');
  return number;
}

/** HubSpot waits this long for an answer (facts/hubspot.md), and no vendor less. */
const vendorWaitsMs = 5_000;

test('a Redis that hangs: it says 503 and when to come again, in time for the vendor, and goes on by itself', async () => {
  const loop = await startLoop(redis, { source: 'hangs' });
  const { delivery } = loop.vendor.close('h');
  process.kill(pid(), 'SIGSTOP');
  try {
    const begun = Date.now();
    const answer = await loop.post(delivery);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(Date.now() - begun).toBeLessThan(vendorWaitsMs);
    expect(await answer.json()).toEqual({ error: 'Not stored. Send it again.' });
    expect((await fetch(`${loop.app.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${loop.app.url}/healthz`)).status).toBe(200);
  } finally {
    process.kill(pid(), 'SIGCONT');
  }
  await until(async () => (await loop.post(delivery)).status === 202);
  await loop.journey('h.1', 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(loop.feedback.standin.requests({ contact: 'h@example.com' })).toHaveLength(1);
  await until(async () => (await fetch(`${loop.app.url}/readyz`)).status === 200);
  await loop.close();
});

test('a Redis that is killed: nothing acknowledged is lost, nobody is asked twice, and it goes on by itself', async () => {
  const loop = await startLoop(redis, { source: 'killed' });
  const ids = Array.from({ length: 40 }, (_, i) => `k${i}`);
  const deliveries = new Map(ids.map((id) => [id, loop.vendor.close(id).delivery]));
  const tell = async (id: string) => (await loop.post(deliveries.get(id) ?? '')).status;
  const accepted: string[] = [];
  const refused: string[] = [];
  let isKilled = false;
  for (const id of ids) {
    // Half of them were acknowledged, some a moment before the end; the others find nobody there, or wait until it is back.
    if (accepted.length === 20 && !isKilled) {
      process.kill(pid(), 'SIGKILL');
      isKilled = true;
    }
    const status = await tell(id);
    expect([202, 503]).toContain(status);
    (status === 202 ? accepted : refused).push(id);
  }
  // What was acknowledged comes to its end though nobody tells of it again.
  for (const id of accepted) await loop.journey(`${id}.1`, 'asked');
  // The vendor comes again with the others.
  for (const id of refused) await until(async () => (await tell(id)) === 202);
  for (const id of refused) await loop.journey(`${id}.1`, 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  const asked = loop.feedback.standin.requests().map(({ email }) => email);
  expect(asked.toSorted()).toEqual(ids.map((id) => `${id}@example.com`).sort());
  await loop.close();
});
