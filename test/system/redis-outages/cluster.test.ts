import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { serve } from '../../../standins/kit/server.ts';
import { listJourneys } from '../../../worker/cli/journeys.ts';
import { replayJourneys } from '../../../worker/cli/repair.ts';
import { JourneyStore } from '../../../worker/journey/store.ts';
import { connect, type RedisHandle } from '../../../worker/redis/connection.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { useFolder } from '../../support/folder.ts';
import { startLoop, until } from '../../support/loop.ts';
import { sealOf } from '../../support/seal.ts';
import { ToyVendor } from '../../support/toy-connector.ts';
import { type RedisCluster, startCluster } from './servers.ts';

let cluster: RedisCluster;
let handle: RedisHandle;
const dir = useFolder();
beforeAll(async () => {
  cluster = await startCluster(3);
  handle = connect({ cluster: cluster.urls.slice(0, 1) }, () => undefined);
});
afterAll(async () => {
  await handle?.close();
  await cluster?.stop();
});
const redis = {
  get handle() {
    return handle;
  },
  socket: '',
};

function* names() {
  for (let i = 0; ; i++) yield `desk-${i}`;
}
const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000);

test('a cluster of three nodes: the whole loop, with sources on each of them', async () => {
  const sources = await cluster.onEachMaster(names(), tagOf);
  expect(sources).toHaveLength(3);
  const [source = '', ...others] = sources;
  const alerted: string[] = [];
  const alerts = await serve(({ raw }) => {
    alerted.push(raw.toString());
    return { status: 204 };
  });
  const vendor = new ToyVendor();
  const found = { kind: 'closed' as const, recordId: 'polled', at: minutesAgo(5), key: 'polled', what: 'toy poll' };
  vendor.pages = async (from) => ({
    events: 'cursor' in from ? [] : [found],
    cursor: 'end',
    done: true,
    reached: new Date(),
  });
  vendor.close('polled', { state: { is: 'closed', closing: 'one', closedAt: minutesAgo(5) } });
  for (const name of sources) await handle.client.hset(`${tagOf(name)}:poll`, 'since', minutesAgo(60).getTime());
  const loop = await startLoop(redis, {
    source,
    others,
    vendor,
    general: `poll: { every: 200ms }\nalerts: { url: "${alerts.url}/", secrets: [whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=] }`,
  });
  const seal = await sealOf(handle.client);
  const stores = sources.map((name) => new JourneyStore(handle.client, name, { now: () => new Date(), seal }));
  const reach = (id: string, state: string) =>
    Promise.all(
      stores.map((store) =>
        until(async () => {
          const journey = await store.get(id);
          return journey?.state === state && journey;
        }),
      ),
    );

  /** As a vendor does: again, where a machine with too much to do was too late. */
  const tell = (delivery: string, name = source) =>
    until(async () => (await loop.post(delivery, {}, name)).status === 202);

  // One customer, with a ticket in every source: the contact's lock and memory lie on a node of their own.
  const { delivery } = vendor.close('t', { personId: 'p-1' });
  const nobody = vendor.close('nobody', { customer: {} });
  for (const name of sources) {
    await tell(delivery, name);
    await tell(nobody.delivery, name);
  }
  await reach('t.1', 'asked');
  await reach('polled.1', 'asked');
  await reach('nobody.1', 'skipped');
  const requests = loop.feedback.standin.requests({ contact: 't@example.com' });
  expect(requests).toHaveLength(3);
  for (const { id } of requests) loop.feedback.standin.answer({ request: id, grade: 4 });
  await reach('t.1', 'written');

  // Commands that work beside it.
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, `${loop.text}\nredis: { cluster: [${cluster.urls.join(', ')}] }\n`);
  const beside = { config, data: dir, json: true, connectors: [vendor.builtIn] };
  const record = vendor.records.get('nobody') ?? expect.fail('no record');
  vendor.records.set('nobody', { ...record, customer: { email: 'late@example.com' } });
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await replayJourneys({ ...beside, state: 'skipped' })).toBe(0);
  await reach('nobody.1', 'asked');
  expect(await listJourneys({ ...beside, limit: 10 })).toBe(0);
  expect(write.mock.calls.join()).toMatch(/"planned anew","count":3[\s\S]*nobody\.1/);
  write.mockRestore();

  // An erasure goes through every source that knows the person.
  const erase = JSON.stringify({ plain: [{ kind: 'erase', at: new Date(), personIds: ['p-1'] }] });
  await tell(erase);
  for (const store of stores) await until(async () => (await store.get('t.1'))?.erasedAt);

  await until(() => alerted.length > 0);
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(JSON.stringify(loop.told)).not.toMatch(/CROSSSLOT|MOVED|non local key/);
  await loop.close();
  await alerts.close();
});
