import { createServer as createHttpServer } from 'node:http';
import { createConnection, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { checkRedis, verifyConnection } from '../../../../worker/redis/check-redis.ts';
import { connect, type RedisHandle } from '../../../../worker/redis/connection.ts';
import { freePort } from '../../../support/free-port.ts';
import { listening } from '../../../support/listening.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function open(address: Parameters<typeof connect>[0], errors: Error[] = []): RedisHandle {
  const handle = connect(address, (error) => void errors.push(error));
  undo.push(() => handle.close());
  return handle;
}

describe('a connection', () => {
  test('it serves queues and commands', async () => {
    const { client, bull, bullIntake } = open({ path: redis.socket });
    expect(await client.ping()).toBe('PONG');
    for (const connection of [bull(), bullIntake()]) {
      const queue = new Queue('q', { connection });
      queue.on('error', () => undefined);
      await queue.waitUntilReady();
      await queue.add('job', {}, { jobId: 'once' });
      expect(await queue.getWaitingCount()).toBe(1);
      await queue.close();
    }
    expect(bull()).toBe(bull());
  });

  test('it tells errors to its listener and goes on trying', async () => {
    const port = await freePort();
    const errors: Error[] = [];
    await new Promise<void>((enough) => {
      const handle = connect({ url: `redis://127.0.0.1:${port}` }, (error) => {
        if (errors.push(error) === 3) enough();
      });
      undo.push(() => handle.close());
    });
    expect(errors[0]).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('it fails an intake command at once while Redis is away, and keeps a worker command', async () => {
    const { client, bullIntake } = open({ path: '/nowhere/redis.sock' });
    const intake = bullIntake();
    if (!(intake instanceof Redis)) throw new Error('not an ioredis client');
    let kept = 'waits';
    client.ping().then(
      () => {
        kept = 'answered';
      },
      () => {
        kept = 'failed';
      },
    );
    await expect(intake.ping()).rejects.toThrow(/isn't writeable/);
    expect(kept).toBe('waits');
  });
});

/** A Redis that writes its first append-only file can't be ended. */
async function restore(): Promise<void> {
  const { client } = redis.handle;
  const usual = {
    appendfsync: 'always',
    maxmemory: '0',
    'maxmemory-policy': 'noeviction',
    save: '',
    appendonly: 'yes',
  };
  for (const [name, value] of Object.entries(usual)) await client.call('CONFIG', 'SET', name, value);
  while (/^aof_rewrite_(in_progress|scheduled):1/m.test(await client.info('persistence'))) await sleep(5);
}

describe('checkRedis', () => {
  const rows: [what: string, settings: Record<string, string>, says?: RegExp, refuses?: 'refuse'][] = [
    ['has nothing to say about the embedded one', { appendfsync: 'always' }],
    ['warns of power cuts', { appendfsync: 'everysec' }, /everysec: a power cut loses[\s\S]*"appendfsync always"/],
    ['refuses one that evicts', { 'maxmemory-policy': 'allkeys-lru' }, /allkeys-lru[\s\S]*noeviction/, 'refuse'],
    ['warns of snapshots only', { appendonly: 'no', save: '3600 1' }, /snapshots but no append-only file/],
    ['warns of no persistence at all', { appendonly: 'no' }, /a restart loses everything/],
    ['warns of memory that is nearly full', { maxmemory: '1000', appendfsync: 'always' }, /% of its memory/],
  ];
  test.each(rows)('it %s', async (_, settings, says, refuses) => {
    const words = says && expect.stringMatching(says);
    const expected = refuses ? { refuse: words, warnings: [] } : { warnings: words ? [words] : [] };
    const { client } = redis.handle;
    for (const [name, value] of Object.entries(settings)) await client.call('CONFIG', 'SET', name, value);
    try {
      expect(await checkRedis(client)).toEqual(expected);
    } finally {
      await restore();
    }
  });

  const forbidden: [command: string, warning: RegExp][] = [
    ['info', /INFO is not allowed here/],
    ['config', /CONFIG is not allowed here/],
  ];
  test.each(forbidden)('it warns where %s is forbidden', async (command, warning) => {
    const { client } = redis.handle;
    await client.call('ACL', 'SETUSER', 'limited', 'on', '>pw', '~*', '+@all', `-${command}`);
    await client.call('CONFIG', 'SET', 'appendonly', 'no');
    const { client: limited } = open({ path: redis.socket });
    await limited.call('AUTH', 'limited', 'pw');
    const { warnings } = await checkRedis(limited);
    await restore();
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });
});

/** The Redis of this file at a port of its own. */
async function atPort(): Promise<number> {
  const server = createServer((socket) => {
    const inner = createConnection(redis.socket);
    socket.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => socket.destroy()).pipe(socket);
  });
  return await listening(server);
}

/** A server that speaks no Redis. */
const webServer = async () => await listening(createHttpServer((_, response) => response.end('hello')));

const addresses: [what: string, port: () => Promise<number>, at: string, database: string, told: RegExp][] = [
  ['a wrong password', atPort, 'closeloop:wrong@', '', /^Redis refuses the user or the password: .*REDIS_URL\.$/],
  ['no password', atPort, '', '', /^Redis wants a password: write redis:\/\/user:password@…$/],
  ['a database that there is not', atPort, 'closeloop:right@', '/99', /^Redis has no database 99: correct "redis"/],
  ['another service', webServer, '', '', /^What answers at 127\.0\.0\.1:\d+ is no Redis: correct "redis"/],
];
test.each(addresses)('an address with %s is told as a mistake of the configuration', async (_, port, at, db, told) => {
  const { client } = redis.handle;
  await client.call('ACL', 'SETUSER', 'closeloop', 'on', '>right', '~*', '+@all');
  undo.push(() => client.call('ACL', 'DELUSER', 'closeloop'));
  const url = `redis://${at}127.0.0.1:${await port()}${db}`;
  // A connection takes the rights of the moment, so that the one of this file keeps its own.
  await client.call('ACL', 'SETUSER', 'default', 'resetpass', '>asks');
  undo.push(() => client.call('ACL', 'SETUSER', 'default', 'nopass'));
  const mistake = { advice: { kind: 'config' }, message: expect.stringMatching(told) };
  await expect(verifyConnection(open({ url }).client)).rejects.toMatchObject(mistake);
});

test('an address with the right password and a database that there is leads to that database', async () => {
  const { client } = open({ url: `redis://127.0.0.1:${await atPort()}/3` });
  await expect(verifyConnection(client)).resolves.toBeUndefined();
  await client.set('in', 'three');
  expect(await redis.handle.client.exists('in')).toBe(0);
});
