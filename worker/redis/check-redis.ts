import { Cluster, type Redis, type RedisOptions } from 'ioredis';
import { z } from 'zod';
import { messageOf, refusal } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';

/** Resolves when Redis answers. @throws CloseloopError config when that can't be before somebody corrects the address */
export async function verifyConnection(client: RedisClient): Promise<void> {
  const options = client instanceof Cluster ? {} : client.options;
  try {
    await client.ping();
    // Where Redis refuses the database of the address, ioredis goes on in database 0, among the keys of somebody else.
    if (client instanceof Cluster || !options.db) return;
    await client.select(options.db);
  } catch (cause) {
    const mistake = mistakeOf(cause, options);
    throw mistake === undefined ? cause : refusal(mistake, cause);
  }
}

type Addressed = Pick<RedisOptions, 'host' | 'port' | 'path' | 'db'>;

const correct = 'correct "redis" in the configuration, or REDIS_URL.';

/** By the beginning of the error: from Redis (redis.io/docs/latest/commands/select, /operate/oss_and_stack/management/security/acl), or of ioredis. */
const mistakes: readonly [begin: RegExp, told: (address: Addressed) => string][] = [
  [/^NOAUTH/, () => 'Redis wants a password: write redis://user:password@…'],
  [/^WRONGPASS/, () => `Redis refuses the user or the password: ${correct}`],
  [/^NOPERM/, () => 'Redis forbids a command to the user of its address: allow that user all commands and keys.'],
  [
    /^ERR (?:(?:invalid )?DB index|value is not an integer|SELECT is not allowed)/,
    ({ db }) => `Redis has no database ${db}: ${correct}`,
  ],
  [
    /^Unknown RESP type/,
    ({ path, host, port }) => `What answers at ${path ?? `${host}:${port}`} is no Redis: ${correct}`,
  ],
];

/** What is wrong with the address of Redis, by an error of the connection; undefined for any other error. */
export function mistakeOf(error: unknown, address: Addressed = {}): string | undefined {
  const said = messageOf(error);
  return mistakes.find(([begin]) => begin.test(said))?.[1](address);
}

/** A server this full, in percent of its maxmemory, is close to refusing writes. */
const nearlyFull = 80;

/**
 * Checks whether journeys are safe in this Redis; in a cluster, on every master. `refuse` says why they are not safe; `warnings` say what
 * may be lost, or could not be checked.
 */
export async function checkRedis(client: RedisClient): Promise<{ refuse?: string; warnings: string[] }> {
  await verifyConnection(client);
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  const warnings = new Set<string>();
  for (const server of servers) {
    const info = await server.info().then(fieldsOf, () => undefined);
    if (info === undefined) {
      warnings.add('INFO is not allowed here, so eviction and persistence could not be checked');
      continue;
    }
    const { maxmemory_policy: policy, maxmemory, used_memory: used } = info;
    if (policy === undefined) warnings.add('it does not tell its maxmemory-policy; it must be noeviction');
    if (policy !== undefined && policy !== 'noeviction') return { refuse: evicts(policy), warnings: [] };
    if (info.role === 'slave') return { refuse: isReplica, warnings: [] };
    const percent = Number(maxmemory) > 0 ? Math.round((Number(used) / Number(maxmemory)) * 100) : 0;
    if (percent >= nearlyFull)
      warnings.add(`${percent} % of its memory is used; when it is full, nothing can be stored`);
    if (info.aof_enabled !== '1') warnings.add(await withoutAppendOnlyFile(server));
    else for (const warning of await lateWrites(server)) warnings.add(warning);
  }
  return { warnings: [...warnings] };
}

/** Refuses a Redis in which journeys would be lost. @param warn is told what may be lost, or could not be checked */
export async function refuseUnsafeRedis(client: RedisClient, warn: (why: string) => void): Promise<void> {
  const { refuse, warnings } = await checkRedis(client);
  if (refuse !== undefined) throw refusal(refuse);
  for (const why of warnings) warn(why);
}

function evicts(policy: string): string {
  return (
    `This Redis has maxmemory-policy ${policy}: when its memory is full it would throw journeys away, and customers ` +
    'would be asked twice or never. Set it to noeviction ("CONFIG SET maxmemory-policy noeviction"), or use another Redis'
  );
}

const isReplica =
  'This Redis is a replica: it takes no writes. Name its master in "redis", or its sentinels (redis: {sentinel: …})';

/** Warns unless `appendfsync` is `always`, with which every acknowledged write is on the disk. For other settings see docs/redis.md. */
async function lateWrites(server: Redis): Promise<string[]> {
  try {
    const [, fsync] = z.array(z.string()).parse(await server.config('GET', 'appendfsync'));
    if (fsync === undefined || fsync === 'always') return [];
    const lost = fsync === 'everysec' ? 'the last second or two of' : 'up to half a minute of';
    const loss = `a power cut loses ${lost} deliveries that were acknowledged (no crash of a process does)`;
    return [`its appendfsync is ${fsync}: ${loss}. Set "appendfsync always"`];
  } catch {
    return [
      'CONFIG is not allowed here, so appendfsync could not be checked: with anything but "always" a power cut loses deliveries',
    ];
  }
}

async function withoutAppendOnlyFile(server: Redis): Promise<string> {
  const remedy = 'Set "appendonly yes"';
  try {
    const [, save = ''] = z.array(z.string()).parse(await server.config('GET', 'save'));
    if (save !== '')
      return `it has snapshots but no append-only file: a crash loses what came since the last. ${remedy}`;
    return `it has no append-only file and no snapshots: a restart loses everything. ${remedy}`;
  } catch {
    return `it has no append-only file, and CONFIG is not allowed here, so snapshots could not be checked. ${remedy}`;
  }
}

/** INFO's lines of `name:value`. */
function fieldsOf(info: string): Record<string, string> {
  return Object.fromEntries([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
}
