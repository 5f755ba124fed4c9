import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FeedbackStandin, startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import type { StandinServer } from '../../../../standins/kit/server.ts';
import { collectOnce } from '../../../../worker/cli/collect.ts';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { start } from '../../../../worker/cli/start.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { verifyAccount } from '../../../../worker/sources/account.ts';
import { testFolder } from '../../../support/folder.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();
let production: StandinServer & { standin: FeedbackStandin };
let elsewhere: StandinServer & { standin: FeedbackStandin };
beforeAll(async () => {
  [production, elsewhere] = await Promise.all([
    startFeedbackStandin({ seed: true }),
    startFeedbackStandin({ seed: true }),
  ]);
  const { standin } = production;
  standin.addKey({ account: 'acme', key: 'new-key' });
  standin.addAccount({ name: 'rival' });
  standin.addKey({ account: 'rival', key: 'rival-key' });
  standin.addCampaign({ account: 'rival', id: 900, name: 'Theirs', type: 'mixed' });
});
afterAll(async () => void (await Promise.all([production?.close(), elsewhere?.close()])));
beforeEach(async () => void (await redis.handle.client.flushall()));

const vendor = new ToyVendor();
const textOf = (apiKey: string, campaign = 12, service = production) => `
feedback: { baseUrl: "${service.url}/api", apiKey: ${apiKey}, timeZone: Europe/Tallinn, timeoutMs: 1000 }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
redis: { path: ${redis.socket} }
sources: { one: { connector: toy, secret: good, rules: [{ name: all, campaign: ${campaign}, contact: customer.email }] } }
`;

async function verify(text: string, adopt = false): Promise<void> {
  const config = loadConfig(text, { env: {}, connectors: [vendor.connector] });
  await verifyAccount(config, { redis: redis.handle.client, seal: testSeal, ports: livePorts, adopt });
}
const refused = { advice: { kind: 'config' }, message: expect.stringMatching(/belong to .*--adopt-account/) };

describe("the installation's Feedback account", () => {
  test('it is remembered, and goes on with other campaigns, and with a new key of the same account (audit 9)', async () => {
    await verify(textOf('demo-key'));
    await verify(textOf('demo-key', 112));
    await verify(textOf('new-key', 112));
    await verify(textOf('new-key'));
  });

  test('another account of the same service is refused, and the first one goes on (audit 9)', async () => {
    await verify(textOf('demo-key'));
    await expect(verify(textOf('rival-key', 900))).rejects.toMatchObject(refused);
    await expect(verify(textOf('rival-key', 12))).rejects.toMatchObject(refused);
    await verify(textOf('demo-key'));
  });

  test('another service is refused, whatever its campaigns are called (audit 9)', async () => {
    await verify(textOf('demo-key'));
    await expect(verify(textOf('demo-key', 12, elsewhere))).rejects.toMatchObject(refused);
  });

  test('another one is taken when a person says so, and the earlier one is refused then (audit 9)', async () => {
    await verify(textOf('demo-key'));
    await verify(textOf('demo-key', 12, elsewhere), true);
    await verify(textOf('demo-key', 12, elsewhere));
    await expect(verify(textOf('demo-key'))).rejects.toMatchObject(refused);
  });

  test('a new key that can not be tried is neither taken nor refused for good (audit 9)', async () => {
    await verify(textOf('demo-key'));
    production.standin.faults.add({ path: '/api/appeals/campaigns/12', status: 503, times: 1 });
    await expect(verify(textOf('new-key'))).rejects.toMatchObject({ advice: { kind: 'transient' } });
    await verify(textOf('new-key'));
  });

  test('a start and the commands that do more than look refuse another one (audit 9)', async () => {
    const dir = testFolder();
    const file = join(dir, 'closeloop.yaml');
    const options = { config: file, data: dir, connectors: [vendor.builtIn] };
    writeFileSync(file, textOf('demo-key'));
    expect(await start({ ...options, role: 'worker', once: true })).toBe(0);
    writeFileSync(file, `${textOf('demo-key', 12, elsewhere)}secretsKey: ${Buffer.alloc(32, 1).toString('base64')}\n`);
    // What seals the data is another matter: it was derived from the same API key before.
    await expect(start({ ...options, role: 'worker', once: true })).rejects.toMatchObject(refused);
    await expect(collectOnce({ ...options, json: true })).rejects.toMatchObject(refused);
  });
});
