import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { requestTracker } from '../../../../connectors/request-tracker/request-tracker.ts';
import type { Source } from '../../../../core/connector/contract.ts';
import { openPorts } from '../../contract/bench.ts';

const Recording = z.object({
  exchanges: z.array(
    z.object({
      method: z.string(),
      path: z.string(),
      body: z.string().optional(),
      status: z.number(),
      answer: z.unknown(),
    }),
  ),
});

const address = 'https://rt.example.com/rt';
const folder = new URL('../../../unit/connectors/request-tracker/recorded/', import.meta.url);

export const written = { grade: 'Feedback grade', comment: 'Feedback comment', answeredAt: 'Feedback at', note: true };

/**
 * A source on what a Request Tracker 5.0.3 answered once (without links): each call has to be one of the recording, in its order.
 * @param pages in place of the recorded answers: their items, for lists that are longer than those
 * @returns `left`: the calls that were not made
 */
export function recorded(name: string, more: object = {}, pages: readonly object[][] = []) {
  const text = readFileSync(new URL(`${name}.json`, folder), 'utf8');
  const left = Recording.parse(JSON.parse(text)).exchanges;
  const waiting = [...pages];
  const sent: { method: string; path: string; body: unknown }[] = [];
  const { ports } = openPorts({
    now: () => new Date('2026-11-26T23:00:00Z'),
    fetch: async (url, { method = 'GET', body }) => {
      const path = decodeURIComponent(String(url).slice(`${address}/REST/2.0`.length).replaceAll('+', ' '));
      sent.push({ method, path, body: body?.startsWith('[') || body?.startsWith('{') ? JSON.parse(body) : body });
      const items = waiting.shift();
      if (items !== undefined) return new Response(JSON.stringify({ items }));
      const at = left.findIndex((one) => one.method === method && String(url).endsWith(one.path) && one.body === body);
      const [exchange] = at < 0 ? [] : left.splice(at, 1);
      if (exchange === undefined) throw new Error(`nobody recorded ${method} ${path} ${body}`);
      const { status, answer } = exchange;
      return new Response(answer === '' ? null : JSON.stringify(answer), { status });
    },
  });
  const settings = { address, token: '1-27-0123456789abcdef', pollOnly: true, writeBack: written, ...more };
  const source: Source = requestTracker.open(settings, ports);
  return { source, sent, left };
}
