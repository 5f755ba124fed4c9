import { instants } from '../support/shown-time.ts';
import { type Html, html } from './html.ts';

/** An instant on a clock of people: `Tue 24 Nov 2026, 09:30:05`; machines find it in UTC. */
export function time(at: Date, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${inWords(at, timeZone)}</time>`;
}

/** A sentence with every instant in it on that clock. */
export function sentence(text: string, timeZone: string): Html {
  // Every other part is an instant.
  return html`${text.split(instants).map((part, i) => (i % 2 === 0 ? part : time(new Date(part), timeZone)))}`;
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
