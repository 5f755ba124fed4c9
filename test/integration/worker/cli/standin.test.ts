import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { standin } from '../../../../worker/cli/standin.ts';

const config = (message: RegExp) => ({ advice: { kind: 'config' }, message: expect.stringMatching(message) });

test('a port that somebody has is told, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = z.object({ port: z.number() }).parse(other.address());
  await expect(standin('feedback', port)).rejects.toMatchObject(config(/another process has it.*--port/));
});

test('a number that is no port is told', async () => {
  await expect(standin('feedback', 99_999)).rejects.toMatchObject(config(/highest is 65535/));
});
