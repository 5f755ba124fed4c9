import { hash } from 'node:crypto';
import { type Cluster, Command, type Redis } from 'ioredis';
import { messageOf } from '../../core/errors.ts';

/** ioredis for one server or a cluster, which have the same commands. */
export type RedisClient = Redis | Cluster;

const digests = new Map<string, string>();

/**
 * Runs a Lua script by its digest. The text is sent only to a server that does not know the script: at the first use, after a
 * restart or a failover, or on another node of a cluster. A server that does not know the script has done nothing.
 */
export async function runScript(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number | Buffer)[]
): Promise<unknown> {
  try {
    const call = new ScriptCall('evalsha', [digestOf(script), keys.length, ...keys, ...args], {
      replyEncoding: 'utf8',
    });
    return await redis.sendCommand(call);
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script, keys.length, ...keys, ...args);
  }
}

/** Writes its arguments in few pieces: if any argument is bytes, ioredis writes each argument by itself, which takes four times as long. */
class ScriptCall extends Command {
  override toWritable(): Buffer | string {
    const pieces: Uint8Array[] = [];
    let text = `*${this.args.length + 1}\r\n$${this.name.length}\r\n${this.name}\r\n`;
    for (const argument of this.args) {
      if (Buffer.isBuffer(argument)) {
        pieces.push(Buffer.from(`${text}$${argument.length}\r\n`), argument);
        text = '\r\n';
      } else text += `$${Buffer.byteLength(String(argument))}\r\n${argument}\r\n`;
    }
    return pieces.length === 0 ? text : Buffer.concat([...pieces, Buffer.from(text)]);
  }
}

function digestOf(script: string): string {
  const known = digests.get(script);
  if (known !== undefined) return known;
  const digest = hash('sha1', script);
  digests.set(script, digest);
  return digest;
}
