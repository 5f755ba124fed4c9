import { startEmbeddedRedis } from '../../../../worker/redis/embedded.ts';
import { serverCache } from '../../../support/redis-cache.ts';

// A process that starts the embedded Redis of a folder, says where, and lives until it is killed or told "stop".
const [dir = ''] = process.argv.slice(2);
const say = (line: string) => void process.stderr.write(`${line}\n`);
const redis = await startEmbeddedRedis({ dir, cache: serverCache, say, fsync: 'always' });
process.stdout.write(`${JSON.stringify({ socket: redis.socket, own: redis.own })}\n`);
process.stdin.on('data', async () => {
  await redis.stop();
  process.exit(0);
});
