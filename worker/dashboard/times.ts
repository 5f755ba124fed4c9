import { minutesInWords } from '../../core/schedule/duration.ts';
import { instants } from '../support/shown-time.ts';
import { type Html, html } from './html.ts';

/** An instant in a time zone for people: `Tue 24 Nov 2026, 09:30:05`. The `datetime` attribute has it in UTC for programs. */
export function time(at: Date, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${inWords(at, timeZone)}</time>`;
}

/** An instant to the minute without the year: `Tue 24 Nov, 09:30`. The tooltip shows the whole instant. */
export function moment(at: Date, timeZone: string): Html {
  const short = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  });
  return html`<time datetime="${at.toISOString()}" title="${inWords(at, timeZone)}">${short.format(at)}</time>`;
}

/** The sentence with every instant converted to the time zone. */
export function sentence(text: string, timeZone: string): Html {
  // The parts at odd indexes are the instants.
  return html`${text.split(instants).map((part, i) => (i % 2 === 0 ? part : time(new Date(part), timeZone)))}`;
}

/** The time since `at`: "4 hours ago"; after two weeks, the date. The tooltip shows the instant. */
export function ago(at: Date, now: Date, timeZone: string): Html {
  const minutes = Math.floor((now.getTime() - at.getTime()) / 60_000);
  const text = minutes > fortnight ? dayOf(at, timeZone) : minutes < 1 ? 'just now' : `${minutesInWords(minutes)} ago`;
  return html`<time datetime="${at.toISOString()}" title="${inWords(at, timeZone)}">${text}</time>`;
}

const fortnight = 14 * 24 * 60;

function dayOf(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short', year: 'numeric' }).format(at);
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

/** Formatters are cached: making one takes longer than a hundred uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();
