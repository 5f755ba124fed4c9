import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A function that was entered; each appears once for every file that called it, in the order of the first calls. */
const Entry = z.strictObject({
  file: z.string(),
  /** Which function of the file (functions.ts). */
  index: z.number(),
  /** The file of ours that called it, with nothing or only a library in between. */
  from: z.string().optional(),
});
export type Entry = z.output<typeof Entry>;

export function readRecord(path: string): Entry[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => Entry.parse(JSON.parse(line)));
}

/** What is measured: what runs at a customer's. */
export function isOurs(path: string): boolean {
  return /^(core|connectors|worker)\/.*\.ts$/.test(path);
}
