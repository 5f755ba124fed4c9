import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { createQuarantine } from '../../worker/pipeline/quarantine.ts';
import { closeloop } from '../e2e/processes.ts';
import { useRedis } from '../redis.ts';

const redis = useRedis();

test('the process for suspected jobs runs by the configuration that was started, not by what the file holds by now (audit 21)', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-quarantine-'));
  const feedback = await startFeedbackStandin({ seed: true });
  const file = join(dir, 'closeloop.yaml');
  const started = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
sources:
  jobs:
    connector: webhook
    signature: { kind: token, header: x-token, secrets: [a-token-of-some-length] }
    event: { record: id, id: id, closed: 'state = "closed"' }
    rules: [{ name: all, campaign: 12, contact: email }]
`;
  // Edited since, and not started.
  writeFileSync(file, started.replace('demo-key', 'another-key').replace('jobs:', 'renamed:'));
  const command = [process.execPath, closeloop, 'quarantine', '--config', file, '--data', dir] as const;
  const quarantine = createQuarantine([...command], started);
  onTestFinished(async () => {
    quarantine.close();
    await feedback.close();
    rmSync(dir, { recursive: true, force: true });
  });
  expect(await quarantine.run({ source: 'collect', stage: 'collect', data: { campaign: 12 } })).toEqual({ do: 'done' });
  // A source that only the file has by now is unknown to it.
  const unknown = quarantine.run({ source: 'renamed', stage: 'plan', data: {} });
  await expect(unknown).rejects.toThrow('source renamed has no stage plan');
});
