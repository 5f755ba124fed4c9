import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Recorded } from './recorded.ts';

/*
 * Loaded ahead of everything in a process (`node --import file:///…/record.ts?<folder>`): writes down every request that
 * a stand-in in it takes, but for orders to the stand-in itself. One file per process.
 */
const folder = fileURLToPath(new URL(decodeURIComponent(new URL(import.meta.url).search.slice(1))));
const file = join(folder, `${process.pid}.jsonl`);

/** What standins/kit/server.ts publishes. */
const Taken = z.object({
  method: z.string(),
  path: z.string(),
  query: z.instanceof(URLSearchParams),
  headers: z.record(z.string(), z.string().optional()),
  raw: z.instanceof(Uint8Array),
});

subscribe('closeloop:standin-request', (message) => {
  const { method, path, query, headers, raw } = Taken.parse(message);
  if (path.startsWith('/_control/')) return;
  const body = raw.length === 0 ? undefined : Buffer.from(raw).toString('utf8');
  const type = headers['content-type'];
  const recorded: Recorded = {
    method,
    path,
    query: query.toString(),
    ...(type !== undefined && { type }),
    ...(body !== undefined && { body }),
  };
  appendFileSync(file, `${JSON.stringify(recorded)}\n`);
});
