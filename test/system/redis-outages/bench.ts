import { Queue } from 'bullmq';
import { connect, type RedisAddress } from '../../../worker/redis/connection.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { startSentinel, startServer } from './servers.ts';

const atOnce = 50;
const rounds = 6;
const stores = 2_000;

/** How many deliveries a second can be stored, `atOnce` at a time, the way intake stores them. */
async function rateOf(address: RedisAddress, waitForReplica: boolean): Promise<number> {
  const handle = connect(address, () => undefined);
  const tag = tagOf('bench');
  const queue = new Queue('plan', { prefix: tag, connection: handle.bullIntake() });
  queue.on('error', () => undefined);
  await queue.waitUntilReady();
  const begun = performance.now();
  for (let i = 0; i < stores; i += atOnce) {
    await Promise.all(
      Array.from({ length: atOnce }, async (_, j) => {
        const opts = { jobId: `event-${begun}-${i + j}` };
        await queue.addBulk([{ name: 'plan', data: { recordId: `${i + j}`, text: 'x'.repeat(400) }, opts }]);
        if (waitForReplica) await handle.replicated(tag);
      }),
    );
  }
  const seconds = (performance.now() - begun) / 1_000;
  await queue.close();
  await handle.close();
  return stores / seconds;
}

/** Each way in turn, several times, so that a busy machine is as busy for all; the best round of each counts. */
export async function measureStores(): Promise<Record<string, number | string>[]> {
  const [always, everysec] = [await startServer({ appendfsync: 'always' }), await startServer()];
  const watched = await startSentinel();
  const ways: [how: string, address: RedisAddress, waits: boolean][] = [
    ['everysec', { url: everysec.url }, false],
    ['always', { url: always.url }, false],
    ['everysec, with a replica that is not waited for', { url: watched.master.url }, false],
    ['everysec, with a replica', { url: watched.master.url }, true],
  ];
  const best = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    // Not always the same one first; the first round only warms up.
    ways.push(...ways.splice(0, 1));
    for (const [how, address, waits] of ways) {
      const rate = await rateOf(address, waits);
      if (round > 0) best.set(how, Math.max(best.get(how) ?? 0, rate));
    }
  }
  await Promise.all([always, everysec, watched].map((one) => one.stop()));
  const reference = best.get('everysec') ?? 1;
  return [...best].map(([stored, rate]) => ({
    stored,
    'deliveries/s': Math.round(rate),
    ratio: (rate / reference).toFixed(2),
  }));
}
