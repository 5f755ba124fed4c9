import { closest, distance } from 'fastest-levenshtein';

/** The known name closest to a misspelt name; empty when no known name is near. */
export function suggestion(written: string, known: readonly string[]): string {
  if (written === '' || known.length === 0) return '';
  const small = written.toLowerCase();
  const near = closest(
    small,
    known.map((one) => one.toLowerCase()),
  );
  const found = known.find((one) => one.toLowerCase() === near);
  // A transposition of two letters counts as two edits.
  const isNear = distance(small, near) <= Math.max(small.length < 4 ? 1 : 2, Math.floor(small.length / 3));
  // Accepts "Monday" for "mon".
  const meant = isNear ? found : known.find((one) => one.length > 2 && small.startsWith(one.toLowerCase()));
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}
