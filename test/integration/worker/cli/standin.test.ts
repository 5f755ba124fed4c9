import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { standin } from '../../../../worker/cli/standin.ts';
import { listening } from '../../../support/listening.ts';

const config = (message: RegExp) => ({ advice: { kind: 'config' }, message: expect.stringMatching(message) });

test('a port that somebody has is told, with what to do', async () => {
  const port = await listening(createServer());
  await expect(standin('feedback', port)).rejects.toMatchObject(config(/another process has it.*--port/));
});

test('a number that is no port is told', async () => {
  await expect(standin('feedback', 99_999)).rejects.toMatchObject(config(/highest is 65535/));
});
