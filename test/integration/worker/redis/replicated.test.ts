import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createReplicated, untilReplicated } from '../../../../worker/redis/replicated.ts';
import { listening } from '../../../support/listening.ts';

const replica = 'slave0:ip=::1,port=1,state=online,offset=7,lag=0\r\n';

/**
 * As much of a Redis server as WAIT needs, which every write reaches.
 * @param keeps what it has written, or from which write on; @param replicas as INFO has them
 */
async function startServer(keeps: boolean | number, replicas = replica): Promise<Redis> {
  const values = new Map<string, string>();
  let writes = 0;
  const bulk = (text: string | undefined) => (text === undefined ? '$-1\r\n' : `$${text.length}\r\n${text}\r\n`);
  const answers: Record<string, (key: string, value: string) => string> = {
    INFO: () => bulk(`role:master\r\n${replicas}`),
    EXISTS: () => ':0\r\n',
    SET: (key, value) => {
      writes += 1;
      if (typeof keeps === 'boolean' ? keeps : writes >= keeps) values.set(key, value);
      return '+OK\r\n';
    },
    WAIT: () => ':1\r\n',
    GET: (key) => bulk(values.get(key)),
  };
  const server = createServer((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
      // Commands are lists of texts: *2 $3 GET $1 k, on a line each.
      for (;;) {
        const [head = '', ...lines] = text.split('\r\n');
        const size = 2 * Number(head.slice(1));
        if (head === '' || lines.length <= size) return;
        text = lines.slice(size).join('\r\n');
        const [name = '', key = '', value = ''] = lines.slice(0, size).filter((_, i) => i % 2 === 1);
        socket.write(answers[name.toUpperCase()]?.(key, value) ?? '+OK\r\n');
      }
    });
  });
  const port = await listening(server);
  const redis = new Redis({ host: '127.0.0.1', port, enableReadyCheck: false, disableClientInfo: true });
  onTestFinished(() => redis.disconnect());
  return redis;
}

test('a write counts as safe when a replica has it', async () => {
  const redis = await startServer(true);
  await createReplicated(() => redis)('{a}');
});

test('a write does not count as safe when another server answers for the replicas: it knows nothing of the write', async () => {
  const redis = await startServer(false);
  await expect(createReplicated(() => redis)('{a}')).rejects.toMatchObject({ outcome: 'never-sent' });
});

test('where no replica is there is nothing to wait for, once that is known', async () => {
  const redis = await startServer(true, '');
  const replicated = createReplicated(() => redis);
  expect(await replicated('{a}')).toBeUndefined();
  redis.disconnect();
  expect(replicated('{a}')).toBeUndefined();
});

test('where a replica is every write is waited for', async () => {
  const redis = await startServer(true);
  const replicated = createReplicated(() => redis);
  await replicated('{a}');
  const next = replicated('{a}');
  expect(next).toBeInstanceOf(Promise);
  await next;
});

test('who can not put the work off waits until a replica has it, and is told once what it waits for', async () => {
  const redis = await startServer(3);
  const told: string[] = [];
  await untilReplicated(
    createReplicated(() => redis),
    '{a}',
    ({ message }) => told.push(message),
  );
  expect(told).toEqual([expect.stringMatching(/^No replica of Redis took a write/)]);
});

test('any other failure is passed on at once', async () => {
  const failing = () => Promise.reject(new Error('READONLY'));
  const told: string[] = [];
  await expect(untilReplicated(failing, '{a}', ({ message }) => told.push(message))).rejects.toThrow('READONLY');
  expect(told).toEqual([]);
});
