import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { StoredJourney } from './evidence.ts';

const root = resolve(import.meta.dirname, '../../..');
const rooms = ['core', 'connectors', 'worker', 'standins', 'package.json', 'closeloop.schema.json'];

/**
 * Journeys that the newer version has saved, over the whole run: none may lose its field to an older version, unless its person
 * is forgotten: what the older one doesn't know may tell of them, and has to go.
 */
export class FieldWatch {
  readonly #seen = new Set<string>();
  readonly dropped = new Set<string>();

  look(journeys: readonly Pick<StoredJourney, 'id' | 'source' | 'ofNewerVersion' | 'erasedAt'>[]): void {
    for (const { id, ofNewerVersion, erasedAt } of journeys) {
      if (erasedAt) continue;
      if (ofNewerVersion !== undefined) this.#seen.add(id);
      else if (this.#seen.has(id)) this.dropped.add(id);
    }
  }

  get size(): number {
    return this.#seen.size;
  }
}

/** A field of journeys that only the newer version knows. An older version that saves such a journey must keep it. */
export const newField = 'ofNewerVersion';

/** What a newer version has otherwise, in one place of one file. */
export interface Change {
  file: string;
  at: RegExp;
  /** Instead of what `at` finds. */
  becomes: string;
}

/** Journeys carry one more field. */
const oneMoreField: Change = {
  file: 'worker/journey/journey.ts',
  at: /^const fields = \{\n/m,
  becomes: `const fields = {\n  ${newField}: z.string().default('kept'),\n`,
};

/** A copy of this checkout in `dir` that is a version further on. Returns the path of its command. */
export function makeNewerVersion(dir: string, changes: readonly Change[] = [oneMoreField]): string {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const room of rooms) cpSync(join(root, room), join(dir, room), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  for (const { file, at, becomes } of changes) {
    const path = join(dir, file);
    const today = readFileSync(path, 'utf8');
    if (!at.test(today)) throw new Error(`${file} holds no ${at} any more`);
    writeFileSync(
      path,
      today.replace(at, () => becomes),
    );
  }
  return join(dir, 'worker/cli/closeloop.js');
}
