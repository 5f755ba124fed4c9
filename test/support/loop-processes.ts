import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { JourneyStore } from '../../worker/journey/store.ts';
import type { RedisClient } from '../../worker/redis/client.ts';
import { testFolder } from './folder.ts';
import { until } from './loop.ts';
import type { TestRedis } from './redis.ts';
import { sealOf } from './seal.ts';

const Line = z.union([z.object({ started: z.string() }), z.object({ wrote: z.string() })]);

export interface Worker {
  child: ChildProcess;
  /** Where deliveries go; empty for a worker. */
  url: string;
  /** SIGKILL: no goodbye. */
  kill(): Promise<void>;
}

interface WorldOptions {
  /** By the name of a source; left out: one source with one rule. */
  rules?: Readonly<Record<string, string>>;
  /** More of the policy. */
  policy?: string;
  /** Of every record; left out: each has a customer of its own. */
  customer?: { email: string; phone: string };
  /** So many jobs of a step of a source at once in each worker, all of which are held before they ask, until the test lets them. */
  barrier?: { jobsAtOnce: number };
}

/**
 * What killed processes hold ends by itself: their jobs within ten seconds, people and campaigns within some minutes. That time is over
 * now; no worker may be alive.
 */
export async function locksEnd(client: RedisClient): Promise<void> {
  const campaigns = (await client.keys('{cl}:lock:*')).filter((key) => !key.endsWith(':generation'));
  for (const key of [...campaigns, ...(await client.keys('{cl*}:*lock'))]) await client.del(key);
  for (const active of await client.keys('{cl*}:*:active')) {
    const [queue, jobs] = [active.replace(/active$/, ''), await client.lrange(active, 0, -1)];
    if (jobs.length > 0) await client.sadd(`${queue}stalled`, ...jobs);
    await client.del(`${queue}stalled-check`);
  }
}

/**
 * Closed records of a toy vendor, the service's stand-in, and processes of the loop that may be killed: for one test.
 * @param source which the store is of, and deliveries are for
 */
export async function startWorld(redis: TestRedis, source: string, ids: readonly string[], options: WorldOptions = {}) {
  const {
    rules = { [source]: '{ name: all, campaign: 12, contact: customer.email }' },
    policy,
    customer,
    barrier,
  } = options;
  const feedback = await startFeedbackStandin({ seed: true });
  const dir = testFolder();
  const [config, records] = [join(dir, 'closeloop.yaml'), join(dir, 'records.json')];
  const closedAt = new Date();
  writeFileSync(records, JSON.stringify(ids.map((id) => ({ id, closedAt, customer }))));
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn, timeoutMs: 1000 }
policy: { sms: { from: "00:00", until: "24:00" }${policy === undefined ? '' : `, ${policy}`} }
http: { port: 0 }
lookup: { after: 50ms }
collect: { every: 200ms }
sources:
${Object.entries(rules)
  .map(([name, rule]) => `  ${name}: { connector: toy, secret: good, rules: [${rule}] }`)
  .join('\n')}
`,
  );
  const children = new Set<ChildProcess>();
  /** Records that a grade was put on, in order, by any process. */
  const wrote: string[] = [];

  onTestFinished(async () => {
    const ends = [...children].map((child) => once(child, 'close'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ends);
    await feedback.close();
  });

  const seal = await sealOf(redis.handle.client);
  const storeOf = (name: string) => new JourneyStore(redis.handle.client, name, { now: () => new Date(), seal });

  /** @param env more of its environment: where it is killed (`killedAt`) */
  const start = async (role: 'intake' | 'worker' | 'all', env: Record<string, string> = {}): Promise<Worker> => {
    const started = JSON.stringify({
      role,
      redis: redis.socket,
      config,
      records,
      ...(role !== 'intake' && { barrier }),
    });
    const entry = join(import.meta.dirname, 'worker-process.ts');
    const child = spawn(process.execPath, [entry, started], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    });
    children.add(child);
    let url: string | undefined;
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = Line.parse(JSON.parse(text));
      if ('started' in line) url = line.started;
      else wrote.push(line.wrote);
    });
    const ended = once(child, 'close').then(() => children.delete(child));
    const begun = await until(() => (child.exitCode === null ? (url !== undefined && { url }) || undefined : { url }));
    if (begun.url === undefined) throw new Error(`the ${role} process ended before it started`);
    return {
      child,
      url: begun.url,
      kill: async () => {
        child.kill('SIGKILL');
        await ended;
      },
    };
  };

  return {
    standin: feedback.standin,
    store: storeOf(source),
    storeOf,
    wrote,
    start,
    locksEnd: () => locksEnd(redis.handle.client),
    /** Tells an intake of closings, in one delivery; `key` makes it another webhook about the same. */
    async post(url: string, closed: readonly string[], key = '', to = source): Promise<Response> {
      return await fetch(`${url}/hooks/${to}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-toy-secret': 'good' },
        body: JSON.stringify(closed.map((id) => ({ kind: 'closed', id, at: closedAt, key: `${id}${key}` }))),
      });
    },
  };
}
