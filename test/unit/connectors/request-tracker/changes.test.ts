import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { SourceEvent } from '../../../../core/connector/contract.ts';
import { recorded } from '../../../support/connectors/request-tracker/replay.ts';

const { key, hooks } = z
  .object({
    key: z.string(),
    hooks: z.array(z.object({ headers: z.record(z.string(), z.string()), body: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('./recorded/hooks.json', import.meta.url), 'utf8')));

const signed = { pollOnly: false, webhookSecrets: ['another-key', key] };
const delivered = ({ headers, body }: (typeof hooks)[number], afterMs = 1_000) => {
  const receivedAt = new Date(Number(headers['x-rt-timestamp']) * 1_000 + afterMs);
  return { method: 'POST', url: 'https://closeloop.example/hooks/rt', headers, raw: Buffer.from(body), receivedAt };
};
const brief = (event: SourceEvent) => ({ ...event, at: event.at.toISOString() });

test('what a scrip sent is signed over its time and body', () => {
  const { source } = recorded('poll', signed);
  for (const hook of hooks) {
    expect(source.verify(delivered(hook))).toEqual({ ok: true });
    expect(source.verify(delivered(hook, 301_000))).toEqual({ ok: false, why: 'stale' });
    expect(source.verify(delivered({ ...hook, body: `${hook.body} ` }))).toEqual({ ok: false, why: 'mismatch' });
  }
});

test('a delivery is a closing by its transaction, or a change', async () => {
  const { source } = recorded('poll', signed);
  const said = await Promise.all(hooks.map((hook) => source.events(delivered(hook))));
  const resolved = { certain: true, closing: '63', key: '63', what: 'status resolved, was new' };
  expect(said.flatMap((one) => (one.ok ? one.events.map(brief) : []))).toEqual([
    { kind: 'closed', recordId: '3', at: '2026-11-24T00:16:34.000Z', ...resolved },
    {
      kind: 'changed',
      recordId: '7',
      at: '2026-11-24T00:18:44.000Z',
      key: '150',
      what: 'status deleted, was resolved',
    },
    { kind: 'changed', recordId: '4', at: '2026-11-24T00:18:48.000Z', key: '157', what: 'status open, was resolved' },
  ]);
});

test('without a scrip nothing is a delivery', async () => {
  const { source } = recorded('poll');
  expect(hooks.map((hook) => source.verify(delivered(hook)))).toContainEqual({ ok: false, why: 'unsigned' });
});

const since = new Date('2026-11-26T00:00:00.500Z');

test('a poll begins by time, in the one form that is not misread, and early enough for every zone', async () => {
  const { source, sent } = recorded('poll');
  const { events, cursor } = (await source.poll?.({ since })) ?? expect.fail('no poll');
  expect(sent[0]?.path).toContain("AND Created > '2026-11-25 09:00:00'&");
  expect(events.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
    ...['closed 86', 'changed 88', 'closed 89', 'closed 91', 'changed 93', 'closed 94', 'changed 96'],
    ...['closed 98', 'changed 100', 'closed 101', 'closed 102'],
  ]);
  // A merge changes no status, and sets off no scrip.
  expect(events).toContainEqual(expect.objectContaining({ recordId: '3', what: 'merged', mergedInto: '4' }));
  expect(JSON.parse(cursor)).toEqual({ v: 1, since: '2026-11-26T00:00:00.000Z', after: '102', settled: '102' });
});

const page = (first: number, count: number, at: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => ({
    id: `${first + n}`,
    ...{ ObjectId: '1', Type: 'Status', OldValue: 'open', NewValue: 'resolved', Created: at(n) },
  }));

test('it turns pages by id, and begins where changes were too young to be all', async () => {
  const young = '2026-11-26T22:50:00Z';
  const old = '2026-11-26T22:00:00Z';
  const pages = [page(101, 100, (n) => (n < 40 ? old : young)), page(201, 3, () => young), page(141, 63, () => young)];
  const { source, sent } = recorded('poll', {}, pages);
  const first = (await source.poll?.({ since })) ?? expect.fail('no poll');
  const second = (await source.poll?.({ cursor: first.cursor })) ?? expect.fail('no poll');
  await source.poll?.({ cursor: second.cursor });
  expect([first.done, second.done]).toEqual([false, true]);
  expect(sent.map(({ path }) => /AND (?:id|Created) > [^&]*/.exec(path)?.[0])).toEqual([
    "AND Created > '2026-11-25 09:00:00'",
    'AND id > 200',
    'AND id > 140',
  ]);
});
