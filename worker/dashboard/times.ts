import { type Html, html } from './html.ts';

/** An instant on a clock of people: `Tue 24 Nov 2026, 09:30:05`; machines find it in UTC. */
export function time(at: Date, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${inWords(at, timeZone)}</time>`;
}

function inWords(at: Date, timeZone: string): string {
  const known = formats.get(timeZone);
  const format = known ?? new Intl.DateTimeFormat('en-GB', { timeZone, ...fields });
  if (!known) formats.set(timeZone, format);
  return format.format(at);
}

const fields = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

/** Making one takes longer than a hundred uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();
