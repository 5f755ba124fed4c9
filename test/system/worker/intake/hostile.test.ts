import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '../../../support/loop.ts';
import { startWorld } from '../../../support/loop-processes.ts';
import { useRedis } from '../../../support/redis.ts';
import { headOf, type RawRequest, rawRequest } from '../../../support/worker/intake/door.ts';

const redis = useRedis();
const megabyte = 1_000_000;

/** Resident memory of a process, in MB. */
function residentOf(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) * 1024) / megabyte;
}

/** Looks at memory, and at how long /healthz takes, until stopped. */
function watch(pid: number, url: string) {
  let isDone = false;
  const seen = { most: 0, healthMs: [] as number[] };
  const watching = (async () => {
    while (!isDone) {
      const begun = performance.now();
      const status = await fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
        (answer) => answer.status,
      );
      expect(status).toBe(200);
      seen.healthMs.push(performance.now() - begun);
      seen.most = Math.max(seen.most, residentOf(pid));
    }
  })();
  return async () => {
    isDone = true;
    await watching;
    const sorted = seen.healthMs.sort((a, b) => a - b);
    return { most: seen.most, p99: sorted[Math.ceil(sorted.length * 0.99) - 1], looks: sorted.length };
  };
}

// More than the thousand connections that an intake holds at once.
const attacks: [what: string, times: number, head: string[], body: Buffer][] = [
  ['bodies of 1 MiB that never end', 1_200, headOf(1024 * 1024), Buffer.alloc(1024 * 1024 - 10, ' ')],
  ['forged deliveries of 1 MiB', 300, headOf(1024 * 1024, 'X-Toy-Secret: forged'), Buffer.alloc(1024 * 1024, ' ')],
  ['heads of 15 kB without an end', 1_200, [`X-Long: ${'x'.repeat(15_000)}`], Buffer.alloc(0)],
  [
    'bodies in pieces of a byte that never end',
    300,
    ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
    Buffer.from('1\r\nx\r\n'.repeat(60_000)),
  ],
];
test.skipIf(!existsSync('/proc')).each(attacks)(
  '%s cost no more memory than the limits, and deliveries are taken meanwhile (audit 27)',
  async (what, times, head, body) => {
    const world = await startWorld(redis, 'hostile', ['a', 'b', 'c']);
    const intake = await world.start('intake');
    const stop = watch(intake.child.pid ?? expect.fail('no process'), intake.url);
    const requests: RawRequest[] = [];
    const open = async () => {
      const request = await rawRequest(intake.url, 'POST /hooks/hostile', head);
      if (!request.socket.destroyed) request.socket.write(body);
      requests.push(request);
    };
    for (let i = 0; i < times; i += 50) {
      await Promise.all(Array.from({ length: 50 }, open));
      if (i % 250 === 0) expect((await world.post(intake.url, ['a', 'b', 'c'], `${i}`)).status).toBe(202);
    }
    expect((await world.post(intake.url, ['a', 'b', 'c'], 'last')).status).toBe(202);
    await until(() => requests.filter(({ socket }) => !socket.closed).length <= 1_000);
    const { most, p99, looks } = await stop();
    process.stderr.write(`${what}: ${Math.round(most)} MB, /healthz p99 ${p99} ms of ${looks}\n`);
    // Beside the bodies Node may hold 64 KB that it has read from each of the thousand connections.
    expect(most).toBeLessThan(500);
    for (const { socket } of requests) socket.destroy();
    await Promise.all(requests.map(({ socket }) => socket.closed || once(socket, 'close')));
  },
);
