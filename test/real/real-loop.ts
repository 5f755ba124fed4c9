import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { command } from '../support/processes.ts';
import type { TestRedis } from '../support/redis.ts';
import { runCloseloop } from '../system/chaos/processes.ts';

/** What the system itself shows of an answer. */
interface Written {
  grade: number | undefined;
  comment: string | undefined;
  /** Whether the record says when the customer answered. */
  hasTime: boolean;
  /** Those that closeloop has added. */
  notes: { text: string; isPrivate: boolean }[];
}

/** How people work with the records of a system, through its own interface. */
export interface RealSystem {
  /** Of a customer with this address: an open one. @returns its id */
  add(subject: string, email: string): Promise<string>;
  close(id: string): Promise<void>;
  /** So that its closing does not count any more: reopened, cancelled. */
  withdraw(id: string): Promise<void>;
  /** What a colleague changes on it besides. */
  edit(id: string, subject: string): Promise<void>;
  isEdited(id: string, subject: string): Promise<boolean>;
  /** Undefined where there is no such record any more. */
  written(id: string): Promise<Written | undefined>;
  merge?(id: string, into: string): Promise<void>;
  remove?(id: string): Promise<void>;
}

interface RealLoop {
  redis: TestRedis;
  system: RealSystem;
  /** Where closeloop listens, which the system's webhooks know. */
  port: number;
  /** The source's section of the configuration, without its rules. */
  source: string;
  /** The customer's address in a rule. */
  contact: string;
  /** So many closings are asked about and answered. */
  closings: number;
  /** So many closings at least no webhook tells of: half of them happen while closeloop is down, and some systems tell again later. */
  foundByPoll: number;
}

/** Of each kind that is not asked, or not written. */
const few = 3;
/** Between a closing and its request: long enough to withdraw it. */
const delayMs = 20_000;
const campaign = 40;
const logs = resolve(import.meta.dirname, '../../.closeloop/real');

interface Closing {
  n: number;
  id: string;
  email: string;
}

/**
 * The whole loop on a real system: its people close records, edit, merge, reopen and delete them, customers answer, and closeloop, a
 * process of its own, is killed in the middle of each step. Everybody is asked once, and finds their answer on their own record.
 */
export async function playRealLoop(options: RealLoop): Promise<void> {
  const loop = await openLoop(options);
  const { system, closings: count } = options;
  const { merge, remove } = system;
  const closings = await loop.add(count);
  const part = Math.floor(count / 4);
  const [heard, interrupted, unheard] = [
    closings.slice(0, part),
    closings.slice(part, 2 * part),
    closings.slice(2 * part),
  ];
  const reopened = await loop.add(few);
  const removed = remove ? await loop.add(few) : [];
  const removedLater = remove ? await loop.add(few) : [];
  // Of one customer each: the record that is left has both.
  const left = merge ? await loop.add(few) : [];
  const merged = await loop.add(left.length, left);
  const asked = [...closings, ...left, ...removedLater];

  await loop.each([...heard, ...left, ...removedLater], ({ id }) => system.close(id));
  await loop.each(reopened, async ({ id }) => {
    await system.close(id);
    await system.withdraw(id);
  });
  await loop.each(removed, async ({ id }) => {
    await system.close(id);
    await remove?.(id);
  });
  await loop.each(merged, async ({ id, email }) => {
    await system.close(id);
    await merge?.(id, left.find((one) => one.email === email)?.id ?? '');
  });
  // A webhook came before the poll. After a kill a poll may come first, as the job of a webhook that was under way waits half a minute.
  await eventually(async () => {
    const { journeys, poll } = await loop.status();
    return Object.values(journeys).reduce((sum, count) => sum + count, 0) > poll.missed;
  });
  // In the middle of what webhooks tell, and before what only a poll can find.
  await Promise.all([loop.kill(), loop.each(interrupted, ({ id }) => system.close(id))]);
  await loop.kill(() => loop.each(unheard, ({ id }) => system.close(id)));

  // In the middle of asking, and in the middle of writing; colleagues go on working.
  await eventually(() => loop.requestsOf(closings).length >= count / 2);
  await Promise.all([loop.kill(), loop.each(closings, ({ n, id }) => system.edit(id, `Mended ${n}`))]);
  await eventually(() => loop.requestsOf(asked).length >= asked.length);
  await loop.each(removedLater, async ({ id }) => await remove?.(id));
  await loop.answer([...heard, ...removedLater]);
  await eventually(async () => ((await loop.status()).journeys.written ?? 0) > 0);
  await Promise.all([loop.kill(), loop.answer([...interrupted, ...unheard])]);
  await eventually(async () => {
    const { written = 0, answered = 0 } = (await loop.status()).journeys;
    return written >= count && answered === 0;
  });

  expect(loop.addressesOf(loop.requestsOf([...asked, ...reopened, ...removed]))).toEqual(loop.addressesOf(asked));
  for (const closing of closings) await loop.expectWritten(closing);
  for (const { id } of removedLater) {
    const { grade, notes = [] } = (await system.written(id)) ?? {};
    expect({ grade, notes }).toEqual({ grade: undefined, notes: [] });
  }
  const { missed } = (await loop.status()).poll;
  expect(missed).toBeGreaterThanOrEqual(options.foundByPoll);
}

/** closeloop, the service and the records, and what a test does with them. It ends with the test; the logs stay if that fails. */
async function openLoop({ redis, system, port, source, contact }: RealLoop) {
  const feedback = await startFeedbackStandin({ seed: true });
  const customFields = [{ name: 'closeloop' }];
  feedback.standin.addCampaign({ account: 'acme', id: campaign, name: 'Loop', type: 'email', customFields });
  const dir = join(logs, `loop-${process.pid}-${port}`);
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'closeloop.yaml');
  const rule = `{ name: all, campaign: ${campaign}, contact: ${contact}, delay: ${delayMs / 1_000}s }`;
  const general = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
secretsKey: ${Buffer.alloc(32, 1).toString('base64')}
http: { port: ${port}, publicUrl: "http://127.0.0.1:${port}" }
poll: { every: 5s, headStart: 5s }
collect: { every: 500ms }
lookup: { after: 1s }
sources:
  desk:
`;
  writeFileSync(config, `${general}${source.trim().replace(/^/gm, '    ')}\n    rules: [${rule}]\n`);
  const start = async () => {
    const process = runCloseloop({ role: 'all', name: 'closeloop', config, logs: dir });
    await process.started;
    return process;
  };
  let closeloop = await start();
  onTestFinished(async ({ task }) => {
    await closeloop.kill();
    await feedback.close();
    if (task.result?.state !== 'fail') rmSync(dir, { recursive: true });
  });

  // People work side by side.
  const side = pLimit(4);
  const each = <T, R>(of: readonly T[], act: (one: T) => Promise<R>) => Promise.all(of.map((one) => side(act, one)));
  const requestsOf = (of: readonly Closing[]) => {
    const emails = new Set(of.map(({ email }) => email));
    return feedback.standin.requests({}).filter(({ email }) => email !== null && emails.has(email));
  };
  let last = 0;
  return {
    each,
    requestsOf,
    addressesOf: (of: readonly { email: string | null }[]) => of.map(({ email }) => email).sort(),
    /** Records of customers of their own, or of these. */
    async add(count: number, of: readonly Closing[] = []): Promise<Closing[]> {
      const begun = Array.from({ length: count }, (_, n) => {
        last += 1;
        return { n: last, email: of[n]?.email ?? `customer-${last}@example.com` };
      });
      return await each(begun, async (one) => ({ ...one, id: await system.add(`Broken ${one.n} 😀`, one.email) }));
    },
    /** Kills closeloop, and starts it again after this has happened. */
    async kill(meanwhile?: () => Promise<unknown>): Promise<void> {
      expect(closeloop.isAlive()).toBe(true);
      await closeloop.kill();
      await meanwhile?.();
      closeloop = await start();
    },
    /** Their customers do, once. */
    async answer(of: readonly Closing[]): Promise<void> {
      for (const closing of of) {
        const [{ id = 0 } = {}] = requestsOf([closing]);
        await eventually(() => requestsOf([closing])[0]?.sentAt);
        feedback.standin.answer({ request: id, ...answerOf(closing) });
      }
    },
    /** The answer of its customer and a note about it, once, which only staff see; and what a colleague had changed. */
    async expectWritten(closing: Closing): Promise<void> {
      const { grade, comment } = answerOf(closing);
      const note = { text: expect.stringContaining(comment), isPrivate: true };
      expect(await system.written(closing.id)).toEqual({ grade, comment, hasTime: true, notes: [note] });
      expect(await system.isEdited(closing.id, `Mended ${closing.n}`)).toBe(true);
    },
    /** As `closeloop status` says it: how many journeys are written, and how many closings no webhook had told of. */
    async status(): Promise<Status> {
      const { out } = await command(['status', '--config', config, '--json']);
      return Status.parse(JSON.parse(out.trim().split('\n')[0] ?? ''));
    },
  };
}

const Status = z.object({
  journeys: z.record(z.string(), z.number()),
  poll: z.object({ missed: z.number() }),
});
type Status = z.output<typeof Status>;

/** Looks now and then, as a look may be a process. The test's own time-out ends a search in vain. */
async function eventually<T>(find: () => Promise<T> | T): Promise<void> {
  while (!(await find())) await sleep(500);
}

function answerOf({ n }: Closing): { grade: number; comment: string } {
  return { grade: 1 + (n % 5), comment: `Thanks for ${n}: <b>“good”</b> & 😀` };
}
