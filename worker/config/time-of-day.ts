import { z } from 'zod';

export const TimeOfDay = z
  .string({ error: ({ input }) => timeMistake(input) })
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: ({ input }) => timeMistake(input) });

/** @param like an example of a valid time, for the message */
export function timeMistake(written: unknown, like = '09:00'): string {
  const meant = timeMeant(String(written));
  const must = `must be a time of day like "${like}", in quotes`;
  return meant === undefined ? must : `${must}: write "${meant}"`;
}

/** Says how to write hours as a section where the file has a text such as `9-20`. Undefined where the file has a section. */
export function hoursMistake(written: unknown): string | undefined {
  if (typeof written === 'object' && written !== null) return undefined;
  const [, from = '', until = ''] =
    /^(.+?)\s*(?:-|–|—|\.\.|\bto\b|\buntil\b)\s*(.+)$/i.exec(typeof written === 'string' ? written.trim() : '') ?? [];
  const [opens, closes] = [timeMeant(from), timeMeant(until)];
  return opens === undefined || closes === undefined
    ? 'must be a section like { from: "09:00", until: "20:00" }'
    : `must be a section: write { from: "${opens}", until: "${closes}" }`;
}

/** Turns `9`, `9:00`, `0900`, `9.30`, `8 pm` and `24:00` into `HH:MM`. Undefined where the text is no time. */
function timeMeant(text: string): string | undefined {
  const [, hour = '', minute = '00', half] = /^(\d{1,2})(?:[:.]?([0-5]\d))?\s*([ap]m)?$/i.exec(text.trim()) ?? [];
  if (hour === '' || (half !== undefined && (Number(hour) > 12 || Number(hour) === 0))) return undefined;
  const shift = half?.toLowerCase() === 'pm' ? 12 : 0;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + shift;
  if (hours > 24 || (hours === 24 && minute !== '00')) return undefined;
  return `${String(hours % 24).padStart(2, '0')}:${minute}`;
}
