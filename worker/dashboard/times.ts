import { minutesInWords } from '../../core/schedule/duration.ts';
import { instants } from '../support/shown-time.ts';
import { type Html, html } from './html.ts';

const clock = { hour: '2-digit', minute: '2-digit' } as const;
const date = { day: 'numeric', month: 'short' } as const;
const styles = {
  /** `Tue 24 Nov 2026, 09:30:05` */
  whole: { weekday: 'short', ...date, year: 'numeric', ...clock, second: '2-digit' },
  /** `Tue 24 Nov, 09:30` */
  short: { weekday: 'short', ...date, ...clock },
  /** `24 Nov 2026` */
  day: { ...date, year: 'numeric' },
} as const;

/** Formatters are cached: making one takes longer than a hundred uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function inWords(at: Date, timeZone: string, style: keyof typeof styles = 'whole'): string {
  const key = `${style} ${timeZone}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { timeZone, ...styles[style] });
  formats.set(key, format);
  return format.format(at);
}

/** An instant in a time zone for people, to the second. The `datetime` attribute has it in UTC for programs. */
export function time(at: Date, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${inWords(at, timeZone)}</time>`;
}

/** An instant as a given text ('4 hours ago'). The tooltip shows date and time. */
function shortTime(at: Date, timeZone: string, text: string): Html {
  return html`<time datetime="${at.toISOString()}" title="${inWords(at, timeZone)}">${text}</time>`;
}

/** An instant to the minute without the year. */
export function moment(at: Date, timeZone: string): Html {
  return shortTime(at, timeZone, inWords(at, timeZone, 'short'));
}

/** The sentence with every instant converted to the time zone. */
export function sentence(text: string, timeZone: string): Html {
  // The parts at odd indexes are the instants.
  return html`${text.split(instants).map((part, i) => (i % 2 === 0 ? part : time(new Date(part), timeZone)))}`;
}

const fortnight = 14 * 24 * 60;

/** The time since `at`: "4 hours ago"; after two weeks, the date. */
export function ago(at: Date, now: Date, timeZone: string): Html {
  const minutes = Math.floor((now.getTime() - at.getTime()) / 60_000);
  if (minutes > fortnight) return shortTime(at, timeZone, inWords(at, timeZone, 'day'));
  return shortTime(at, timeZone, minutes < 1 ? 'just now' : `${minutesInWords(minutes)} ago`);
}
