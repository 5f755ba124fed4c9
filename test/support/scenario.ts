import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readEnvFile } from '../../worker/cli/env-file.ts';
import type { Journey, JourneyState } from '../../worker/journey/journey.ts';
import { JourneyStore } from '../../worker/journey/store.ts';
import { accountKey } from '../../worker/redis/keys.ts';
import { commandHere } from './command-here.ts';
import { freePort } from './free-port.ts';
import { until } from './loop.ts';
import { background, type Finished, type Running } from './processes.ts';
import type { TestRedis } from './redis.ts';
import { sealOf } from './seal.ts';
import { standinHere } from './standin-here.ts';

/** A request at the service, as its stand-in tells of it. */
const Request = z.object({
  id: z.number(),
  email: z.string().nullable(),
  status: z.string(),
  masked: z.boolean(),
  customFields: z.record(z.string(), z.unknown()),
});

const SetUp = z.object({
  done: z.array(
    z.object({
      what: z.string(),
      note: z.string().optional(),
      kept: z.object({ file: z.string() }).optional(),
    }),
  ),
});

const Poll = z.object({ source: z.string(), erasures: z.number(), poll: z.object({ missed: z.number() }).optional() });

/** Campaign of the scenarios: the service itself waits for an hour before it sends. */
const campaign = 112;
const hourMs = 3_600_000;

/**
 * What the scenarios of all vendors share: the loop in processes and closeloop's other commands on one configuration, and the
 * service's stand-in with a campaign. `env` is theirs, and may be added to.
 */
export async function openScenario(redis: TestRedis, source: string) {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-e2e-'));
  const config = join(dir, 'closeloop.yaml');
  const env: Record<string, string> = { FEEDBACK_API_KEY: 'demo-key' };
  const loops: Running[] = [];
  let running: Running[] = [];
  // Another service than an earlier scenario's.
  await redis.handle.client.del(accountKey);
  // As `check` wants it.
  await redis.handle.client.config('SET', 'appendfsync', 'always');
  const [port, service] = await Promise.all([freePort(), standinHere('feedback')]);
  const store = new JourneyStore(redis.handle.client, source, {
    now: () => new Date(),
    seal: await sealOf(redis.handle.client),
  });
  await service.control('POST', 'campaigns', {
    account: 'acme',
    id: campaign,
    name: 'After support',
    sendDelay: 60,
    customFields: [{ name: 'Store' }, { name: 'Agent' }, { name: 'closeloop' }],
  });

  const run = (...args: string[]): Promise<Finished> => commandHere([...args, '--config', config], env);

  /** What a command says as JSON, one object a line; the last one of this shape. @throws when it ends with another code */
  async function told<S extends z.ZodType>(schema: S, args: string[], code = 0): Promise<z.output<S>> {
    const ended = await run(...args, '--json');
    if (ended.code !== code) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.out}${ended.err}`);
    const lines = ended.out.trim().split('\n');
    const fits = lines.findLast((line) => schema.safeParse(JSON.parse(line)).success);
    return schema.parse(JSON.parse(fits ?? lines.at(-1) ?? ''));
  }

  const stop = async () => {
    const codes = await Promise.all(running.map((loop) => loop.stop()));
    running = [];
    return codes;
  };

  const requests = async () => z.array(Request).parse(await service.control('GET', `requests?campaign=${campaign}`));

  return {
    config,
    env,
    store,
    service,
    run,
    told,
    requests,
    hooks: `http://127.0.0.1:${port}/hooks/${source}`,

    /** `settings` is the source's section, without its rules' campaign and contact; `headStart` is the poll's. */
    configure: (settings: string, { headStart = '5s' } = {}) =>
      writeFileSync(
        config,
        `
feedback:
  baseUrl: ${service.url}/api
  apiKey: "\${FEEDBACK_API_KEY}"
  timeZone: Europe/Tallinn
  operations: { create: { body: { scheduled: null } } }    # so that the service adds its campaign's delay
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redis.socket} }
secretsKey: ${Buffer.alloc(32, 1).toString('base64')}
http: { port: ${port}, publicUrl: "http://127.0.0.1:${port}" }
collect: { every: 300ms }
poll: { every: 1s, headStart: ${headStart} }
lookup: { after: 1s }
sources:
  ${source}:
${settings}
`,
      ),

    /** Creates what is missing. What it did, and the environment takes the secrets that it kept beside the configuration. */
    async setUp() {
      const { done } = await told(SetUp, ['setup', '--yes']);
      for (const { kept } of done) if (kept !== undefined) Object.assign(env, readEnvFile(kept.file));
      return done.map(({ what }) => what);
    },

    async start(...roles: string[]): Promise<Running[]> {
      const started = roles.map((role) => background(['start', '--config', config, '--role', role], env));
      loops.push(...started);
      running.push(...started);
      await Promise.all(started.map((loop) => loop.says(/"started"/)));
      return started;
    },

    /** SIGTERM to all that run: their exit codes. */
    stop,

    /** What all loops have said so far, on both outputs. */
    logs: () => loops.map((loop) => loop.output() + loop.errors()).join('\n'),

    journey: (id: string, state: JourneyState): Promise<Journey> =>
      until(async () => {
        const journey = await store.get(id);
        return journey?.state === state ? journey : undefined;
      }),

    /** The trace as `journeys show` prints it, once `pattern` is in it. */
    trace: (id: string, pattern: RegExp): Promise<string> =>
      until(async () => {
        if (!(await store.trace(id)).some(({ text }) => pattern.test(text))) return undefined;
        return (await run('journeys', 'show', `${source}/${id}`)).out;
      }),

    request: (id: string | undefined) => until(async () => (await requests()).find((one) => String(one.id) === id)),

    /** The campaign's delay passes, and the customer answers what was sent. */
    async answer(request: string | undefined, answer: { grade: number; comment?: string }) {
      await service.control('POST', 'clock', { advanceMs: hourMs + 60_000 });
      await service.control('POST', 'answers', { request: Number(request), ...answer });
    },

    /** Closings that no webhook reported, and people who were erased, as `status` counts them. */
    async status() {
      const { poll, erasures } = await told(Poll, ['status'], running.length > 0 ? 0 : 1);
      return { missed: poll?.missed ?? 0, erasures };
    },

    async close() {
      await stop();
      await service.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** These texts occur in this order. @returns the first one that doesn't */
export function outOfOrder(text: string, parts: readonly string[]): string | undefined {
  let at = 0;
  return parts.find((part) => {
    at = text.indexOf(part, at) + 1;
    return at === 0;
  });
}
