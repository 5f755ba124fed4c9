import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { formatDuration, units } from './duration.ts';

/** Ten years: a longer duration must be a typing mistake. */
const longestMs = 3_660 * 86_400_000;
/** Each unit at most once, the largest first: "30m2h" is refused, as closeloop can't be sure of its meaning. */
const shape = new RegExp(`^${units.map(([unit]) => `(?:(\\d{1,15})${unit})?`).join('')}$`);
const expected = 'must be a duration like "90s", "15m", "2h", "1h30m" or "30d", of at most ten years';

/**
 * "2h", "30d", "1h30m", "500ms" → milliseconds.
 * @throws CloseloopError config for anything else
 */
export function parseDuration(text: string): number {
  const ms = read(text);
  if (ms === undefined) throw new CloseloopError(`"${text}" ${expected}`, { kind: 'config' });
  return ms;
}

/** A duration in the configuration; milliseconds once parsed. */
export const Duration = z
  .string({ error: expected })
  .transform((text, context) => {
    const ms = read(text);
    if (ms !== undefined) return ms;
    const meant = meantBy(text);
    context.addIssue({ code: 'custom', message: meant === undefined ? expected : `${expected}: write "${meant}"` });
    return z.NEVER;
  })
  .meta({ title: 'duration', description: 'A duration: 90s, 15m, 2h, 1h30m, 30d' });

/** How long an answer has to stay unchanged: a duration, or 0. */
export const Settle = z.union([z.literal(0), Duration]);

function read(text: string): number | undefined {
  const found = shape.exec(text.trim());
  if (found === null || text.trim() === '') return undefined;
  const ms = units.reduce((sum, [, size], index) => sum + Number(found[index + 1] ?? 0) * size, 0);
  return ms <= longestMs ? ms : undefined;
}

const spelled: Readonly<Record<string, RegExp>> = {
  w: /^(?:w|wks?|weeks?)$/,
  d: /^(?:d|days?)$/,
  h: /^(?:h|hrs?|hours?)$/,
  m: /^(?:m|mins?|minutes?)$/,
  s: /^(?:s|secs?|seconds?)$/,
  ms: /^(?:ms|msecs?|milliseconds?)$/,
};

/** Suggests the right form of a duration in other words: "3 days", "1.5 hours", "2h, 30 min" and ISO 8601's "PT90M". */
function meantBy(text: string): string | undefined {
  const lower = text.trim().toLowerCase();
  const words = lower.replace(/^pt(?=\d)/, '');
  const part = /(\d{1,15}(?:[.,]\d{1,6})?)\s*([a-z]+)(?:\s*(?:,|and)?\s*)/y;
  let ms = 0;
  while (part.lastIndex < words.length) {
    const [, count = '', word = ''] = part.exec(words) ?? [];
    const [, size] = units.find(([name]) => spelled[name]?.test(word)) ?? [];
    if (size === undefined) return undefined;
    ms += Number(count.replace(',', '.')) * size;
  }
  return ms > 0 && ms <= longestMs ? formatDuration(ms) : undefined;
}
