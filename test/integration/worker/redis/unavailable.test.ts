import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { connect } from '../../../../worker/redis/connection.ts';
import { isLostLock, isRedisUnavailable, redisInWords, redisTrouble } from '../../../../worker/redis/unavailable.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

const rows: [what: string, error: unknown, expected: boolean][] = [
  ['a full memory', reply("OOM command not allowed when used memory > 'maxmemory'."), true],
  ['a full memory, met by a script of Redis 6', reply('ERR Error running script (call to f_1): OOM command not'), true],
  [
    'a full memory, met in a transaction',
    Object.assign(reply('EXECABORT Transaction discarded because of previous errors.'), {
      previousErrors: [reply("OOM command not allowed when used memory > 'maxmemory'.")],
    }),
    true,
  ],
  ['a transaction with a wrong command: our bug', reply('EXECABORT Transaction discarded because of'), false],
  ['a full disk', reply('MISCONF Errors writing to the AOF file: No space left on device'), true],
  ['a demoted master', reply("READONLY You can't write against a read only replica."), true],
  ['a start', reply('LOADING Redis is loading the dataset in memory'), true],
  ['too few replicas', reply('NOREPLICAS Not enough good replicas to write.'), true],
  ['a cluster without a master', reply('CLUSTERDOWN The cluster is down'), true],
  ['a command sent wrongly: our bug', reply("ERR wrong number of arguments for 'get' command"), false],
  ['a key of another kind: our bug', reply('WRONGTYPE Operation against a key holding the wrong kind of value'), false],
  ['a vendor that is out of memory', new Error('OOM at the vendor'), false],
  ['no error at all', 'OOM', false],
];
test.each(rows)('it is Redis that is in trouble, or not: %s', (_, error, expected) => {
  expect(isRedisUnavailable(error)).toBe(expected);
});

test('a question that a person interrupts is no trouble of Redis; a command that ioredis gives up is', () => {
  const aborted = (more: object) => Object.assign(new Error('aborted'), { name: 'AbortError', ...more });
  expect(redisTrouble(aborted({ code: 'ABORT_ERR' }))).toBeUndefined();
  expect(redisTrouble(aborted({ command: { name: 'get' } }))).toMatchObject({ name: 'RedisAway' });
});

test.each([
  ['could not renew lock for job event-1', true],
  ['Missing lock for job event-1. moveToFinished', true],
  ['Lock mismatch for job event-1. Cmd moveToDelayed from active', true],
  ['Connection is closed.', false],
])('it tells a lost lock from trouble: %s (audit 43)', (message, expected) => {
  const error = new Error(message);
  expect([isLostLock(error), isRedisUnavailable(error)]).toEqual([expected, !expected]);
});

test('what Redis itself says stays as it is said', () => {
  expect(redisInWords(reply('LOADING Redis is loading'))).toBe('LOADING Redis is loading');
});

test('it knows the errors of a connection that is gone', async () => {
  const errors: unknown[] = [];
  const { client, bullIntake, close } = connect({ path: '/nowhere/redis.sock' }, () => undefined);
  const intake = bullIntake();
  if (!(intake instanceof Redis)) throw new Error('not an ioredis client');
  await intake.ping().catch((error: unknown) => errors.push(error));
  const waits = client.ping().catch((error: unknown) => errors.push(error));
  await close();
  await waits;
  // One that broke while it owed an answer.
  const broken = new Redis({ path: redis.socket, autoResendUnfulfilledCommands: false, retryStrategy: null });
  broken.on('error', () => undefined);
  await broken.ping();
  const blocked = broken.blpop('nothing', 0).catch((error: unknown) => errors.push(error));
  broken.stream.destroy();
  await blocked;
  expect(errors.map(isRedisUnavailable)).toEqual([true, true, true]);
  expect(errors.map(redisInWords)).toEqual(Array(3).fill('Redis does not answer'));
});
