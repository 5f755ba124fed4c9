import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { testFolder } from '../../support/folder.ts';
import { logged } from '../../support/installation.ts';
import { until } from '../../support/loop.ts';
import { background, command } from '../../support/processes.ts';
import { type Server, startServer } from '../redis-outages/servers.ts';

const secret = 'wcBackupSecretOfFortyLettersAndDigits012';
const page = readFileSync(resolve(import.meta.dirname, '../../../docs/backup.md'), 'utf8');

/** What the page has somebody type to copy Redis, on this server and into this folder. */
async function copyAsThePageSays(server: Server, copy: string): Promise<void> {
  const [, block = ''] = /```sh\n(redis-cli CONFIG[\s\S]*?)```/.exec(page) ?? expect.fail('the page has no such block');
  for (const line of block.trimEnd().split('\n')) {
    const [words = '', wanted] = line.split(/\s+# wait until it says /);
    const [tool, ...args] = words.split(' ');
    if (tool === 'redis-cli') {
      const say = async () => String(await server.admin.call(args[0] ?? '', ...args.slice(1)));
      if (wanted === undefined) expect(await say()).toBe('OK');
      else await until(async () => (await say()).includes(wanted));
    } else {
      expect([tool, args[0]]).toEqual(['cp', '-a']);
      execFileSync('cp', ['-a', join(server.dir, 'appendonlydir'), copy]);
    }
  }
}

test('a copy of a running Redis, restored into an empty one as docs/backup.md says: nobody is asked twice, nothing is lost', async () => {
  const dir = testFolder();
  const [feedback, shop] = await Promise.all([startFeedbackStandin({ seed: true }), startWooCommerceStandin()]);
  const customFields = [{ name: 'closeloop' }];
  feedback.standin.addCampaign({ account: 'acme', id: 41, name: 'Orders', type: 'email', customFields });
  const processes: ReturnType<typeof background>[] = [];
  const servers: Server[] = [];
  onTestFinished(async () => {
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await Promise.all([...servers.map((server) => server.stop()), feedback.close(), shop.close()]);
  });

  const file = join(dir, 'closeloop.yaml');
  const configure = ({ url }: Server) =>
    writeFileSync(
      file,
      `feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: ${url}
secretsKey: ${Buffer.alloc(32, 1).toString('base64')}
http: { port: 0, publicUrl: "http://127.0.0.1:8080" }
poll: { every: 1h }
collect: { every: 1h }
lookup: { after: 1s }
sources:
  shop:
    connector: woocommerce
    site: ${shop.url}
    consumerKey: ck_standin
    consumerSecret: cs_standin
    webhookSecrets: [${secret}]
    rules:
      - { name: later, when: order.meta.kind = "furniture", campaign: 41, contact: customer.email, delay: 2h }
      - { name: all, campaign: 41, contact: customer.email }
    writeBack: { grade: feedback_grade, note: true }
`,
    );
  const start = async () => {
    const running = background(['start', '--config', file, '--data', dir]);
    processes.push(running);
    await logged(running, 'started');
    return running;
  };
  const completed = async (name: string, meta: Record<string, string> = {}) => {
    const billing = { email: `${name}@example.com`, first_name: name, country: 'EE' };
    const { id } = shop.standin.addOrder({ billing, meta });
    await shop.standin.complete(id);
    return id;
  };
  const stateOf = async (id: number) => {
    const { out } = await command(['journeys', 'show', `shop/${id}.1`, '--config', file, '--json']);
    return /"state":"(\w+)"/.exec(out)?.[1];
  };
  const requestsOf = (name: string) => feedback.standin.requests({ contact: `${name}@example.com` });
  /** Settled: nothing of it goes on by itself. */
  const asked = async (name: string, id: number) => {
    await until(() => requestsOf(name).length > 0);
    await until(async () => (await stateOf(id)) === 'asked');
  };
  const collect = async () => {
    const { code, err } = await command(['collect', '--once', '--config', file, '--data', dir]);
    expect([code, err]).toEqual([0, expect.any(String)]);
  };
  const answered = async (name: string, id: number) => {
    const [{ id: request } = expect.fail('nobody was asked')] = await until(() => {
      const sent = requestsOf(name).filter(({ sentAt }) => sentAt);
      return sent.length > 0 && sent;
    });
    feedback.standin.answer({ request, grade: 5 });
    await collect();
    await until(() => shop.standin.order(id).notes.length > 0);
  };

  const lost = await startServer({ appendfsync: 'always' });
  servers.push(lost);
  configure(lost);
  const first = await start();
  const hooks = `${await first.says(/http:\/\/127\.0\.0\.1:\d+(?=\/hooks)/)}/hooks/shop`;
  shop.standin.addWebhook({ name: 'closeloop order.updated', topic: 'order.updated', url: hooks, secret });
  const [anna, bert] = [await completed('anna'), await completed('bert', { kind: 'furniture' })];
  await asked('anna', anna);
  await until(async () => (await stateOf(bert)) === 'waiting');

  const copy = join(dir, 'copy');
  await copyAsThePageSays(lost, copy);

  // What the copy does not know: an answer that is on its order already, and a customer who was asked.
  await answered('anna', anna);
  const carl = await completed('carl');
  await asked('carl', carl);
  first.child.kill('SIGKILL');
  await first.ended;
  await lost.stop();
  const dora = await completed('dora');

  const restored = await startServer({ appendfsync: 'always' });
  servers.push(restored);
  await restored.kill();
  const data = join(restored.dir, 'appendonlydir');
  rmSync(data, { recursive: true, force: true });
  execFileSync('cp', ['-a', copy, data]);
  await restored.start();
  configure(restored);
  await start();

  // Not one every eighteen seconds, as is usual.
  const backfill = ['backfill', '--source', 'shop', '--per-hour', '36000'];
  const today = new Date().toISOString().slice(0, 10);
  const found = await command([...backfill, '--since', today, '--config', file, '--data', dir]);
  expect([found.code, found.err]).toEqual([0, expect.any(String)]);
  await asked('dora', dora);
  await until(async () => (await stateOf(carl)) === 'asked');
  await answered('carl', carl);
  await until(async () => (await stateOf(carl)) === 'written' && (await stateOf(anna)) === 'written');
  expect(await stateOf(bert)).toBe('waiting');
  expect(['anna', 'bert', 'carl', 'dora'].map((name) => requestsOf(name).length)).toEqual([1, 0, 1, 1]);
  expect([anna, carl].map((id) => shop.standin.order(id).notes.length)).toEqual([1, 1]);
});
