import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandHere } from '../../../support/command-here.ts';
import { shopConfiguration } from '../../../support/configurations.ts';
import { command } from '../../../support/processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('a closeloop that meets the data of a newer one says which closeloop to start, and how to go back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-newer-data-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'closeloop.yaml');
  writeFileSync(file, shopConfiguration(redis, 'http://127.0.0.1:9'));
  await redis.handle.client.set('{cl}:data-version', JSON.stringify({ version: 4, by: '0.4.0', more: true }));
  const on = ['--config', file, '--data', dir];
  const ended = [
    await command(['start', ...on]),
    await commandHere(['status', ...on]),
    await commandHere(['contact', 'mask', 'carl@example.com', '--yes', ...on]),
  ];
  for (const { code, err } of ended) {
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        /have version 4 \(of closeloop 0\.4\.0\).*works on data version 3\. Start closeloop 0\.4\.0.*docs\/upgrade\.md/,
      ),
    ]);
  }
});
