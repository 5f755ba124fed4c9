import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** A request that a connector has sent to a stand-in. */
export const Recorded = z.object({
  method: z.string(),
  /** Raw, without the query. */
  path: z.string(),
  /** `a=b&c=d`; empty for none. */
  query: z.string(),
  /** Content type. */
  type: z.string().optional(),
  /** As text. */
  body: z.string().optional(),
});
export type Recorded = z.output<typeof Recorded>;

/** What the processes of a run have written down (record.ts), each different request once. */
export function readRecorded(folder: string): Recorded[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  const distinct = new Set(lines.filter((line) => line !== ''));
  return [...distinct].map((line) => Recorded.parse(JSON.parse(line)));
}
