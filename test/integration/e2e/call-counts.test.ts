import { beforeEach, expect, test, vi } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { runHere } from '../../support/run-here.ts';
import { type StandinAccount, standinAccounts } from '../../support/standin-accounts.ts';

// A thousand journeys, both ends and Redis on one machine, which may be a busy one.
vi.setConfig({ testTimeout: 240_000 });

const redis = useRedis();
// Each has a service of its own, whose requests begin with the same ids.
beforeEach(() => redis.handle.client.flushall());
const closings = 1_000;

interface Story {
  vendor: string;
  what: string;
  open: keyof typeof standinAccounts;
  /** What of an answer is written. Left out: all that has its place there. */
  writes?: (places: StandinAccount['writeBack']) => object;
  /** Some ten above the calls where a thousand records are read, planned and asked about within seconds: on a slow machine they are read again. */
  atMost: number;
  /** Their customers are asked later, and each is decided about again then. */
  waits?: true;
  /** How many of the customers answer. Left out: all. */
  answered?: number;
}
const [together, waiting, someAnswered] = [
  'a thousand closings together',
  'a thousand closings that wait together',
  'a thousand closings together, of which 300 are answered',
];
const marked: Story['writes'] = ({ grade }) => ({ grade, note: true, tags: true });
const noted: Story['writes'] = ({ grade }) => ({ grade, note: true });
const tagged: Story['writes'] = (places) => ({ ...places, tags: true });
const stories: Story[] = [
  { vendor: 'Zendesk', what: together, open: 'zendesk', writes: marked, atMost: 55 },
  { vendor: 'Zendesk', what: waiting, open: 'zendesk', writes: marked, atMost: 65, waits: true },
  { vendor: 'HubSpot', what: together, open: 'hubspot', writes: noted, atMost: 66 },
  { vendor: 'HubSpot', what: waiting, open: 'hubspot', writes: noted, atMost: 110, waits: true },
  // Reads no tickets by their ids, and writes on one at a time.
  { vendor: 'Freshdesk', what: someAnswered, open: 'freshdesk', atMost: 450, answered: 300 },
  // 67 searches to plan, 67 to ask, 67 for contacts, 300 writes, and batches that leave half full on a busy machine.
  { vendor: 'Intercom', what: someAnswered, open: 'intercom', atMost: 560, answered: 300 },
  { vendor: 'Shopify', what: together, open: 'shopify', writes: tagged, atMost: 120 },
  { vendor: 'WooCommerce', what: together, open: 'woocommerce', atMost: 70 },
];

test.each(stories)(
  '$vendor is called at most $atMost times for $what, until the answers are on the records',
  async ({ vendor, open, writes = (places) => places, atMost, waits = false, answered = closings }) => {
    const [service, account] = [await startFeedbackStandin({ seed: true }), await standinAccounts[open]('thousand')];
    const { settings, writeBack, contact, agent, standin } = account;
    const ids: (string | number)[] = [];
    for (let n = 0; n < closings; n++)
      ids.push(await account.add({ name: `Customer ${n}`, email: `customer-${n}@example.com` }));
    const rule = { name: 'all', campaign: 12, contact, fields: { Agent: agent }, ...(waits && { delay: '20s' }) };
    const source = { ...settings, writeBack: writes(writeBack), rules: [rule] };
    const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources: { thousand: ${JSON.stringify(source)} }
`;
    const { app, told, contextOf } = await runHere(redis, text);
    const { lists } = contextOf('thousand').store;
    account.listen(`${app.url}/hooks/thousand`);
    await account.close(ids);
    await until(async () => (await lists.counts()).asked === closings);
    const requests = service.standin.requests();
    expect(requests).toHaveLength(closings);
    for (const { id } of requests.slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
    await app.engine.collecting.now();
    await until(async () => (await lists.counts()).written === answered);
    await standin.idle();
    const calls = standin.totalCalls();
    process.stdout.write(
      `${vendor}${waits ? ', waiting' : ''}: ${calls} calls ${JSON.stringify(standin.callCounts())}\n`,
    );
    // On a starved machine Redis may answer late: the vendor is told to come again, and does.
    const errors = told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
    expect(errors).toEqual([]);
    // Its own writes have told the loop of nothing new.
    expect((await lists.counts()).written).toBe(answered);
    expect(account.gradeOn(ids[0] ?? 0)).toBe('4');
    await app.close();
    await Promise.all([service.close(), account.stop()]);
    expect(calls).toBeLessThanOrEqual(atMost);
  },
);
