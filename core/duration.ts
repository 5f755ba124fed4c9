import { z } from 'zod';

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** "2h", "30d", "1h30m", "500ms" → milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(ms|[smhdw]))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhdw])/g)) ms += Number(count) * (units[unit ?? ''] ?? 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** A duration in the configuration, in milliseconds once parsed. */
export const Duration = z
  .string()
  .refine((text) => parseDuration(text) !== undefined, 'must be a duration like "2h", "90s", "30d" or "1h30m"')
  .transform((text) => parseDuration(text) ?? 0);
