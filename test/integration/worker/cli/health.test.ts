import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listening } from '../../../support/listening.ts';
import { useRedis } from '../../../support/redis.ts';
import { runHere } from '../../../support/run-here.ts';
import { startService } from '../../../support/service.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();

/** A worker of one source, listening as `admin` says. */
async function startWorker(admin: string) {
  const feedback = await startService();
  const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
admin: ${admin}
sources: { healthy: { connector: toy, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] } }`;
  const { app } = await runHere(redis, text, { role: 'worker', connectors: [new ToyVendor().connector] });
  onTestFinished(() => app.close());
  return app;
}

test('a worker says that it lives and is ready, and takes no deliveries', async () => {
  const { url } = await startWorker('{ port: 0 }');
  const answers = ['/healthz', '/readyz', '/hooks/healthy'].map(async (path) => {
    const answer = await fetch(`${url}${path}`);
    return [answer.status, await answer.json()];
  });
  expect(await Promise.all(answers)).toEqual([
    [200, { ok: true }],
    [200, { ok: true, reasons: [] }],
    [404, expect.anything()],
  ]);
});

test('several workers on one machine need no ports of their own', async () => {
  const urls = [await startWorker('{}'), await startWorker('{}')].map(({ url }) => url);
  expect(new Set(urls).size).toBe(2);
  for (const url of urls) expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('a port that was asked for, and is taken, is named with the setting', async () => {
  const port = await listening(createServer());
  await expect(startWorker(`{ port: ${port} }`)).rejects.toThrow(
    new RegExp(`Port ${port} .*another process has it.*admin\\.port`),
  );
});
