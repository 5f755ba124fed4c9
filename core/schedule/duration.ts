export const units = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** The shortest text that `parseDuration` reads as these milliseconds: 5_400_000 → "1h30m". */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  let text = '';
  for (const [unit, size] of units) {
    // Weeks are not used, as people say 14 days and 30 days.
    if (unit === 'w' || rest < size) continue;
    text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text === '' ? '0s' : text;
}

/**
 * "90 minutes", "4 hours", "1 day": rounded down, for people.
 * @param from the number of minutes from which the text is in hours, and in days: by default two hours, and two days
 */
export function minutesInWords(minutes: number, from = { hours: 120, days: 2_880 }): string {
  const [count, unit] =
    minutes < from.hours
      ? [minutes, 'minute']
      : minutes < from.days
        ? [Math.floor(minutes / 60), 'hour']
        : [Math.floor(minutes / 1_440), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
