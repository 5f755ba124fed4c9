import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Path, pathText } from './problem.ts';

/** Sections that a process reads only when it starts. */
const startSections = ['redis', 'http', 'admin', 'dashboard', 'secretsKey'] as const;

/** Parts of these sections that a reload does change: a user who was removed must lose access at once. */
const reloadedParts = ['dashboard.users', 'dashboard.sessions'];

/** The paths at which two configurations differ: `sources.support.rules[0].delay`. The values are left out, as they may be secrets. */
export function changedPaths(before: unknown, now: unknown): string[] {
  return [...differing(before, now, [])].map(pathText);
}

/** Whether a change at this path takes effect only at the next start. */
export function needsRestart(path: string): boolean {
  const isIn = (section: string) =>
    path === section || path.startsWith(`${section}.`) || path.startsWith(`${section}[`);
  return startSections.some(isIn) && !reloadedParts.some(isIn);
}

/** A fingerprint: equal for two files that say the same, whatever their comments and the order of their sections. */
export function fingerprintOf(written: unknown): string {
  return createHash('sha256').update(JSON.stringify(written, inOrder)).digest('hex').slice(0, 12);
}

function* differing(before: unknown, now: unknown, at: Path): Generator<Path> {
  if (isDeepStrictEqual(before, now)) return;
  if (!isSection(before) || !isSection(now) || Array.isArray(before) !== Array.isArray(now)) {
    yield at;
    return;
  }
  const old = new Map(Object.entries(before));
  const young = new Map(Object.entries(now));
  for (const key of new Set([...old.keys(), ...young.keys()])) {
    yield* differing(old.get(key), young.get(key), [...at, Array.isArray(now) ? Number(key) : key]);
  }
}

function isSection(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isSection(value) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
