// biome-ignore-all lint/suspicious/noThenProperty: nobody awaits a fault; the word is the contract's.
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, FaultQueue } from '../../../../standins/kit/faults.ts';
import type { StandinRequest } from '../../../../standins/kit/message.ts';
import { serve } from '../../../../standins/kit/server.ts';

/** A server that counts the work it did. */
async function counter() {
  const faults = new FaultQueue();
  const seen: StandinRequest[] = [];
  const server = await serve(
    (req) => {
      seen.push(req);
      return { status: 200, body: { work: seen.length } };
    },
    { faults },
  );
  onTestFinished(() => server.close());
  return { ...server, faults, seen };
}

/** What a client sees: a status, or that the connection broke or never answered. */
async function outcome(url: string, init: RequestInit = {}): Promise<number | 'broken' | 'silent'> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(30_000), ...init })).status;
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'silent' : 'broken';
  }
}

describe('serve', () => {
  test('hands on the raw path, the query, lower-case headers and the bytes', async () => {
    const { url, seen } = await counter();
    await fetch(`${url}/a%2Bb/c+d?x=1&x=2`, { method: 'POST', headers: { 'X-Name': 'v' }, body: 'ä' });
    const [req] = seen;
    expect({
      ...req,
      query: req?.query.getAll('x'),
      headers: req?.headers['x-name'],
      raw: req?.raw.toString(),
    }).toEqual({
      method: 'POST',
      path: '/a%2Bb/c+d',
      query: ['1', '2'],
      headers: 'v',
      raw: 'ä',
    });
  });

  test('answers 500 with JSON when the stand-in throws', async () => {
    const server = await serve(() => Promise.reject(new Error('oh')));
    onTestFinished(() => server.close());
    const response = await fetch(server.url);
    expect([response.status, await response.json()]).toEqual([500, { detail: 'The stand-in broke: Error: oh' }]);
  });

  test('ends open and delayed requests when it closes', async () => {
    const { url, faults, close } = await counter();
    faults.add({ delayMs: 3_600_000 });
    const pending = outcome(url, { signal: AbortSignal.timeout(50_000) });
    while (faults.list().length > 0) await new Promise((resolve) => setImmediate(resolve));
    await close();
    expect(await pending).toBe('broken');
  });
});

describe('a fault', () => {
  const rows: [name: string, fault: Fault, seen: (number | string)[], workDone: number][] = [
    ['answers a status instead of working, once', { status: 429, headers: { 'retry-after': '1' } }, [429, 200], 1],
    ['is used as often as it says', { status: 503, times: 2 }, [503, 503, 200], 1],
    ['cuts the connection before any work', { then: 'cut' }, ['broken', 200], 1],
    ['works and then cuts', { then: 'work-then-cut' }, ['broken', 200], 2],
    ['works and then never answers', { then: 'work-then-hang' }, ['silent', 200], 2],
    ['delays and then works', { delayMs: 5 }, [200, 200], 2],
    ['works though the client left during the delay', { delayMs: 400 }, ['silent', 200], 2],
    ['leaves other methods alone', { method: 'POST', status: 500 }, [200, 200], 2],
    ['leaves other paths alone', { path: '^/other$', status: 500 }, [200, 200], 2],
    ['hits the path it names', { path: '^/th', status: 500 }, [500, 200], 1],
  ];
  test.for(rows)('%s', async ([, fault, expected, workDone]) => {
    const { url, faults, seen } = await counter();
    faults.add(fault);
    const outcomes: (number | string)[] = [];
    for (const one of expected) {
      // Patience runs out soon only where silence is what we wait for.
      const signal = AbortSignal.timeout(one === 'silent' ? 200 : 30_000);
      outcomes.push(await outcome(`${url}/this`, { signal }));
    }
    await expect.poll(() => seen.length, { timeout: 30_000 }).toBe(workDone);
    expect(outcomes).toEqual(expected);
  });

  test('delays no longer than until it is cleared, and then works', async () => {
    const { url, faults, seen } = await counter();
    faults.add({ delayMs: 3_600_000 });
    const pending = outcome(url, { signal: AbortSignal.timeout(50_000) });
    while (faults.list().length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toHaveLength(0);
    faults.clear();
    expect([await pending, seen.length]).toEqual([200, 1]);
  });

  test('can be ordered, listed and cleared over HTTP, first in first out', async () => {
    const { url, faults } = await counter();
    const order = (body: unknown): Promise<number | string> =>
      outcome(`${url}/_control/faults`, { method: 'POST', body: JSON.stringify(body) });
    expect(await order({ status: 500 })).toBe(201);
    expect(await order({ status: 502, times: 3 })).toBe(201);
    expect(await (await fetch(`${url}/_control/faults`)).json()).toEqual([
      { status: 500, times: 1 },
      { status: 502, times: 3 },
    ]);
    expect([await outcome(url), await outcome(url)]).toEqual([500, 502]);
    await fetch(`${url}/_control/faults`, { method: 'DELETE' });
    expect(faults.list()).toEqual([]);
    expect(await outcome(url)).toBe(200);
  });

  test.for([
    ['an unknown key', { state: 500 }],
    ['a broken expression', { path: '(' }],
    ['no JSON', undefined],
  ])('is refused for %s', async ([, body]) => {
    const { url } = await counter();
    expect(await outcome(`${url}/_control/faults`, { method: 'POST', body: JSON.stringify(body) ?? '{' })).toBe(400);
  });

  test('answers the body and headers it names', async () => {
    const { url, faults } = await counter();
    faults.add({ status: 429, headers: { 'retry-after': '7' }, body: { detail: 'slow down' } });
    const response = await fetch(url);
    expect([response.headers.get('retry-after'), await response.json()]).toEqual(['7', { detail: 'slow down' }]);
  });
});
