import { isIP } from 'node:net';
import { z } from 'zod';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';

/* Kinds of values that several sections of the configuration have. */

/** A duration that is longer than none. */
export const Period = Duration.refine((ms) => ms > 0, 'must be longer than 0');

export const RecordExpression = ExpressionSource.meta({
  description: 'JSONata over the record as the connector presents it',
});

/** An IP address, or a range of IP addresses as address/bits. */
export const AddressRange = z.string().refine((text) => {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isPrefix && more.length === 0;
}, 'must be an address like 10.0.0.7, or a range like 10.0.0.0/8');

/** For `superRefine` of a list whose entries have names. @param what the word for an entry, in the message */
export const distinctNames =
  (what: string) =>
  (entries: readonly { name: string }[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [i, { name }] of entries.entries()) {
      const message = `is used by another ${what}`;
      if (seen.has(name)) context.addIssue({ code: 'custom', path: [i, 'name'], message });
      seen.add(name);
    }
  };

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
