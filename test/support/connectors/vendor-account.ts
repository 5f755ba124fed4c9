import type { Delivery, PreflightContext } from '../../../core/connector/contract.ts';
import type { Fault } from '../../../standins/kit/faults.ts';
import type { Breakage } from '../contract/sample.ts';

/* What the samples of the vendors have in common: an account at a stand-in that delivers to this process. */

export const hookUrl = 'https://closeloop.example/hooks/contract';

export const preflight: PreflightContext = {
  hookUrl,
  grades: [1, 2, 3, 4, 5],
  reads: [],
  answersWithinMs: 14 * 86_400_000,
};

let areReal = false;

/** Accounts that real closeloop processes work with have the real time: quotas come back, and nothing is closed in the future. */
export function useRealClocks(): void {
  areReal = true;
}

/** A clock that goes on with every look, by a whole second unless told otherwise: vendors' dates have whole seconds. */
export function leapingClock(leapMs = 1_000) {
  let time = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  let isStill = false;
  const now = (): Date => {
    if (areReal) return new Date();
    if (!isStill) time += leapMs;
    return new Date(time);
  };
  /** The records of `count` closings, all of one instant. */
  async function atOnce(count: number, close: () => Promise<{ recordId: string }>): Promise<string[]> {
    const ids: string[] = [];
    isStill = true;
    for (let n = 0; n < count; n++) ids.push((await close()).recordId);
    isStill = false;
    return ids;
  }
  return { now, atOnce };
}

/** Takes what a stand-in delivers. Answers 200, as the worker does. */
export function mailbox(now = () => new Date()) {
  const box: Delivery[] = [];
  const unread: Delivery[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { url, method, headers } = new Request(input, init);
    const raw = new Uint8Array(Buffer.from(String(init?.body)));
    const delivery = { url, method, headers: Object.fromEntries(headers), raw, receivedAt: now() };
    box.push(delivery);
    unread.push(delivery);
    return new Response();
  };
  return {
    fetch,
    /** The last one, of those that are meant. */
    taken(isMeant: (delivery: Delivery) => boolean = () => true): Delivery {
      const last = box.findLast(isMeant);
      if (last === undefined) throw new Error('the stand-in delivered nothing of the kind');
      return last;
    },
    /** What has come since the last time. */
    emptied: (): Delivery[] => unread.splice(0),
  };
}

export function posted(raw: Uint8Array, headers: Record<string, string>): Delivery {
  return { method: 'POST', url: hookUrl, headers, raw, receivedAt: new Date() };
}

/** On every call from now on. @param body of the vendor's errors; `unauthorized`: of those with 401 */
export function fault(how: Breakage, words: string, body: object, unauthorized = body): Fault {
  const always = { times: 1_000 };
  switch (how) {
    case '401':
      return { ...always, status: 401, body: unauthorized };
    case '429':
      return { ...always, status: 429, headers: { 'retry-after': '7' }, body };
    case '500':
      return { ...always, status: 500, body };
    case 'html':
      return { ...always, status: 200, headers: { 'content-type': 'text/html' }, body: `<html>${words}</html>` };
    case 'silent':
      return { ...always, delayMs: 3_600_000 };
  }
}

/** Brings a misconfiguration about, by its name. */
export async function plantOneOf(plants: Readonly<Record<string, () => unknown>>, what: string): Promise<void> {
  const act = plants[what];
  if (act === undefined) throw new Error(`nobody knows how to plant "${what}"`);
  await act();
}

/** As several vendors word their errors. */
export const bodyOf = (words: string): object => ({
  error: words,
  message: words,
  description: words,
  details: { value: [words] },
});
