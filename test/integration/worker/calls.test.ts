import { expect, test } from 'vitest';
import { send } from '../../../core/connector/send.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { livePorts } from '../../../worker/cli/live-ports.ts';
import { startLoop, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { ToyVendor } from '../../support/toy-connector.ts';
import { visitorOf } from '../../support/worker/dashboard/visitor.ts';

const redis = useRedis();

test('the calls of a journey, to the service and to its vendor, stand on its page: whom, what, how it ended, and how often it was tried', async () => {
  const vendor = Object.assign(new ToyVendor(), { account: 'calls' });
  const loop = await startLoop(redis, { source: 'calls', vendor, general: 'dashboard: { port: 0 }' });
  const address = { is: 'http://127.0.0.1:9' };
  vendor.beforeWriteBack = async () => {
    const as = { to: 'Toy acme', operation: 'PUT /records/{id}' };
    await send(livePorts.fetch, address.is, { method: 'PUT' }, { timeoutMs: 1_000, as }).catch((cause: unknown) => {
      throw new CloseloopError('down', { kind: 'transient', retryAfterMs: 100 }, { outcome: 'never-sent', cause });
    });
  };
  await loop.post(loop.vendor.close('c1').delivery);
  await loop.journey('c1.1', 'asked');
  loop.feedback.standin.answer({ contact: 'c1@example.com', grade: 5, comment: 'Quick!' });
  const calls = async () => {
    const journey = (await loop.store.get('c1.1')) ?? expect.fail('no journey');
    return (await loop.store.queries.callsOf(journey)).map(({ to, operation, end, tries }) => [
      to,
      operation,
      end,
      tries,
    ]);
  };
  const asking = [
    ['Feedback service', 'GET /contacts/:contact', 404, 1],
    ['Feedback service', 'POST /appeals/ (create)', 201, 1],
  ];
  // While the vendor is away.
  const failing = await until(async () => {
    const all = await calls();
    return all.some(([, , end]) => end === 'never-sent') && all;
  });
  expect(failing).toEqual(expect.arrayContaining(asking));
  const { get } = visitorOf(loop.app);
  const page = async () => (await get('/journeys/calls/c1.1')).text.replace(/\s+/g, ' ');
  expect(await page()).toContain('<span class="state bad">no connection</span>');
  address.is = loop.feedback.url;
  await loop.journey('c1.1', 'written');
  const all = await calls();
  expect(all.filter(([to]) => to === 'Feedback service').map(([, operation]) => operation)).toEqual(
    expect.arrayContaining(['GET /contacts/:contact', 'POST /appeals/ (create)', 'GET /appeals/campaigns/12']),
  );
  const [[, , end, tries] = []] = all.filter(([to]) => to === 'Toy acme');
  expect([end, Number(tries) > 1]).toEqual([404, true]);
  expect(await page()).toMatch(/data-label="Call"[^>]*>PUT \/records\/\{id\}<.*?data-label="Tries"[^>]*>\d+</);
  // Not a word of what was sent.
  expect(JSON.stringify(all)).not.toMatch(/c1|example|Quick/);
});

test('a call that serves many journeys stands with each of them, and a call for one with that one alone', async () => {
  const vendor = Object.assign(new ToyVendor(), { account: 'many-calls' });
  const loop = await startLoop(redis, { source: 'many-calls', vendor });
  const ids = Array.from({ length: 12 }, (_, i) => `m${i}`);
  await loop.closeAll(ids);
  for (const id of ids) await loop.journey(`${id}.1`, 'asked');
  for (const id of ids) loop.feedback.standin.answer({ contact: `${id}@example.com`, grade: 5 });
  for (const id of ids) {
    const journey = await loop.journey(`${id}.1`, 'written');
    const operations = (await loop.store.queries.callsOf(journey)).map(({ operation }) => operation);
    expect(operations.filter((one) => one.includes('create'))).toHaveLength(1);
    expect(operations.filter((one) => one.includes('(get)')).length).toBeLessThanOrEqual(1);
    expect(operations.length).toBeLessThan(8);
  }
});
