import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect, type RedisAddress } from '../../../worker/redis/connection.ts';
import { createReplicated, hasReplica } from '../../../worker/redis/replicated.ts';
import { shopConfiguration } from '../../support/configurations.ts';
import { testFolder } from '../../support/folder.ts';
import { logged } from '../../support/installation.ts';
import { type Loop, startLoop, until } from '../../support/loop.ts';
import { background } from '../../support/processes.ts';
import { startService } from '../../support/service.ts';
import { startSentinel, startServer } from './servers.ts';

/** A loop on this Redis, until the test ends. */
async function loopOn(address: RedisAddress, options: Partial<Parameters<typeof startLoop>[1]> = {}): Promise<Loop> {
  const handle = connect(address, () => undefined);
  const loop = await startLoop({ handle, socket: '' }, { source: 'desk', ...options });
  onTestFinished(async () => {
    await loop.close();
    await handle.close();
  });
  return loop;
}

test('a replica that does not keep up: a delivery is not acknowledged before it is there', async () => {
  const { name, sentinel, replica, stop } = await startSentinel();
  onTestFinished(stop);
  const loop = await loopOn({ sentinel: { name, nodes: [sentinel.url] } });
  const first = loop.vendor.close('a').delivery;
  // As a vendor does: again, where a machine with too much to do was too late.
  await until(async () => (await loop.post(first)).status === 202);
  replica.freeze();
  const { delivery } = loop.vendor.close('b');
  const refused = await loop.post(delivery);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  replica.thaw();
  await until(async () => (await loop.post(delivery)).status === 202);
  await loop.journey('b.1', 'asked');
});

test('a replica that does not keep up: nobody is asked before the intent is there', async () => {
  const { name, sentinel, replica, stop } = await startSentinel();
  onTestFinished(stop);
  const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
  const loop = await loopOn({ sentinel: { name, nodes: [sentinel.url] } }, { rule });
  expect((await loop.post(loop.vendor.close('a').delivery)).status).toBe(202);
  await loop.journey('a.1', 'waiting');
  replica.freeze();
  await loop.hoursPass(1);
  const lines = async () => (await loop.store.trace('a.1')).map(({ text }) => text);
  await until(async () => (await lines()).some((text) => /nothing was sent: No replica/.test(text)));
  expect(loop.feedback.standin.requests()).toEqual([]);
  replica.thaw();
  await loop.journey('a.1', 'asked');
  expect(loop.feedback.standin.requests()).toHaveLength(1);
});

test('a replica that does not keep up: the first start waits for it, says so, and goes on', async () => {
  const { master, replica, stop } = await startSentinel();
  onTestFinished(stop);
  const dir = testFolder();
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, shopConfiguration({ url: master.url }, 'http://127.0.0.1:9'));
  replica.freeze();
  const running = background(['start', '--config', config, '--data', dir]);
  onTestFinished(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  const [waiting] = await logged(running, 'waiting for a replica of Redis');
  expect(waiting?.why).toMatch(/^No replica of Redis took a write/);
  expect(running.output()).not.toContain('"started"');
  replica.thaw();
  await running.says(/"started"/);
  expect(await running.stop()).toBe(0);
});

test.for([
  ['found by its field', 40],
  ['found by its contact, time and values', 12],
] as const)('a power cut takes the last moments from the disk: nobody is asked twice (%s)', async ([, campaign]) => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const fields = campaign === 12 ? ', fields: { Store: ticket.id }' : '';
  const rule = `{ name: all, campaign: ${campaign}, contact: customer.email, delay: 1h, throttle: 30d${fields} }`;
  const feedback = await startService();
  feedback.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
  const loop = await loopOn({ url: server.url }, { rule, feedback });
  const ids = Array.from({ length: 10 }, (_, i) => `p${i}`);
  for (const id of ids) expect((await loop.post(loop.vendor.close(id).delivery)).status).toBe(202);
  for (const id of ids) await loop.journey(`${id}.1`, 'waiting');
  const [file, copy] = [join(server.dir, 'appendonlydir'), join(server.dir, 'copy')];
  cpSync(file, copy, { recursive: true });
  await loop.hoursPass(1);
  for (const id of ids) await loop.journey(`${id}.1`, 'asked');
  await server.kill();
  rmSync(file, { recursive: true });
  cpSync(copy, file, { recursive: true });
  await server.start();
  // As if they had never been asked; and then they turn out to have been.
  await loop.hoursPass(0);
  for (const id of ids) await loop.journey(`${id}.1`, 'asked');
  expect(loop.feedback.standin.requests().map(({ email }) => email)).toHaveLength(ids.length);
  expect(JSON.stringify(await loop.store.trace('p0.1'))).toMatch(
    /no journey knows of it[\s\S]*asked: feedback request/,
  );
});

test('writes are waited for in rounds: who comes during one shares the next', async () => {
  const { master, stop } = await startSentinel();
  onTestFinished(stop);
  const handle = connect({ url: master.url }, () => undefined);
  onTestFinished(() => handle.close());
  const replicated = createReplicated(() => handle.client);
  const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await master.admin.info('commandstats'))?.[1] ?? 0);
  await replicated('{a}');
  const before = await waits();
  await Promise.all(Array.from({ length: 100 }, () => replicated('{a}')));
  expect((await waits()) - before).toBeLessThanOrEqual(2);
});

test.each([
  ['none', 'role:master\r\nconnected_slaves:0\r\n', false],
  ['one that keeps up', 'slave0:ip=::1,port=1,state=online,offset=7,lag=1\r\n', true],
  ['one that has been silent for long', 'slave0:ip=::1,port=1,state=online,offset=7,lag=11\r\n', false],
  ['one that is only being filled', 'slave0:ip=::1,port=1,state=wait_bgsave,offset=0,lag=0\r\n', false],
])('a server with replicas: %s', (_, info, expected) => {
  expect(hasReplica(info)).toBe(expected);
});
