// biome-ignore-all lint/suspicious/noThenProperty: nobody awaits a fault; the word is the contract's.
import { expect, onTestFinished, test } from 'vitest';
import { type Fault, FaultQueue } from '../../../../standins/kit/faults.ts';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { createWebhookSender, type SenderSettings } from '../../../../standins/kit/webhook-sender.ts';

/** A server that counts the work it did. */
async function counter(answer = (work: number): StandinResponse => ({ status: 200, body: { work } })) {
  const faults = new FaultQueue();
  const seen: StandinRequest[] = [];
  const server = await serve((req) => answer(seen.push(req)), { faults });
  onTestFinished(() => server.close());
  return { ...server, faults, seen };
}

/** What a client sees: a status, or that the connection broke or never answered. */
async function outcome(url: string, init: RequestInit = {}): Promise<number | 'broken' | 'silent'> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(50_000), ...init })).status;
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'silent' : 'broken';
  }
}

test.each<[says: string, fault: Fault, seen: (number | string)[], workDone: number]>([
  ['answers a status instead of working, once', { status: 429 }, [429, 200], 1],
  ['is used as often as it says', { status: 503, times: 2 }, [503, 503, 200], 1],
  ['cuts the connection before any work', { then: 'cut' }, ['broken', 200], 1],
  ['works and then cuts', { then: 'work-then-cut' }, ['broken', 200], 2],
  ['works and then never answers', { then: 'work-then-hang' }, ['silent', 200], 2],
  ['delays and then works', { delayMs: 5 }, [200, 200], 2],
  ['works though the client left during the delay', { delayMs: 400 }, ['silent', 200], 2],
  ['leaves other methods alone', { method: 'POST', status: 500 }, [200, 200], 2],
  ['leaves other paths alone', { path: '^/other$', status: 500 }, [200, 200], 2],
  ['hits the path it names', { path: '^/th', status: 500 }, [500, 200], 1],
])('a fault %s', async (_says, fault, expected, workDone) => {
  const { url, faults, seen } = await counter();
  faults.add(fault);
  const outcomes: (number | string)[] = [];
  for (const one of expected) {
    // Short only where the test expects no answer: a longer wait would prove no more.
    const signal = AbortSignal.timeout(one === 'silent' ? 200 : 30_000);
    outcomes.push(await outcome(`${url}/this`, { signal }));
  }
  await expect.poll(() => seen.length, { timeout: 30_000 }).toBe(workDone);
  expect(outcomes).toEqual(expected);
});

test.each([
  ['cleared, and then works', 'clear', 200, 1],
  ['the server closes, and then breaks', 'close', 'broken', 0],
] as const)('a fault delays no longer than until it is %s', async (_says, how, expected, work) => {
  const { url, faults, seen, close } = await counter();
  faults.add({ delayMs: 3_600_000 });
  const pending = outcome(url);
  while (faults.list().length > 0) await new Promise((resolve) => setImmediate(resolve));
  if (how === 'clear') faults.clear();
  else await close();
  expect([await pending, seen.length]).toEqual([expected, work]);
});

test('faults are ordered, listed and cleared over HTTP, first in first out, and answer what they name', async () => {
  const { url, faults } = await counter();
  const order = (body: string) => outcome(`${url}/_control/faults`, { method: 'POST', body });
  for (const wrong of ['{"state":500}', '{"path":"("}', '{']) expect(await order(wrong)).toBe(400);
  const busy = { status: 429, headers: { 'retry-after': '7' }, body: { detail: 'slow down' } };
  expect([await order(JSON.stringify(busy)), await order('{"status":502,"times":3}')]).toEqual([201, 201]);
  const listed = [
    { ...busy, times: 1 },
    { status: 502, times: 3 },
  ];
  expect(await (await fetch(`${url}/_control/faults`)).json()).toEqual(listed);
  const response = await fetch(url);
  expect([response.headers.get('retry-after'), await response.json()]).toEqual(['7', busy.body]);
  expect(await outcome(url)).toBe(502);
  await fetch(`${url}/_control/faults`, { method: 'DELETE' });
  expect([faults.list(), await outcome(url)]).toEqual([[], 200]);
});

test.each<[says: string, settings: SenderSettings, statuses: number[], bodies: string[], waits: number[]]>([
  ['waits as long as the vendor, scaled, and stops at a success', { pauseScale: 0.5 }, [503, 200], ['a0', 'a1'], [15]],
  ['gives up where the vendor does', {}, [500, 500, 500], ['a0', 'a1', 'a2'], [30, 30]],
  ['repeats what succeeded when told to', { duplicates: 1 }, [200, 200], ['a0', 'a0'], []],
])('a sender of webhooks %s', async (_says, settings, statuses, bodies, waits) => {
  const slept: number[] = [];
  const { url, seen } = await counter((work) => ({ status: statuses[work - 1] ?? 200 }));
  const pauseMs = (attempts: readonly unknown[]) => (attempts.length < 3 ? 30 : undefined);
  const ports = { fetch, random: () => 0.5, sleep: async (ms: number) => void slept.push(ms) };
  const sender = createWebhookSender({ timeoutMs: 9_000, pauseMs }, ports, settings);
  await sender.send((attempt) => ({ method: 'POST', url, headers: {}, body: `a${attempt}` }));
  expect([seen.map(({ raw }) => raw.toString()), slept]).toEqual([bodies, waits]);
});
