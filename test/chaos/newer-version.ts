import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const rooms = ['core', 'connectors', 'worker', 'standins', 'package.json', 'closeloop.schema.json'];
const journeySchema = 'worker/journey/journey.ts';

/** A field of journeys that only the newer version knows. An older version that saves such a journey must keep it. */
export const newField = 'ofNewerVersion';

/**
 * A copy of this checkout in `dir` that is a version further on: its journeys carry one more field. Returns the path of its
 * command.
 */
export function makeNewerVersion(dir: string): string {
  mkdirSync(dir, { recursive: true });
  for (const room of rooms) cpSync(join(root, room), join(dir, room), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const file = join(dir, journeySchema);
  const today = readFileSync(file, 'utf8');
  const begin = /^export const Journey = z\.\w+\(\{\n/m;
  if (!begin.test(today)) throw new Error(`${journeySchema} holds no schema named Journey any more`);
  writeFileSync(
    file,
    today.replace(begin, (line) => `${line}  ${newField}: z.string().default('kept'),\n`),
  );
  return join(dir, 'worker/closeloop.js');
}
