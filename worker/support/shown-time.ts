/** Instants in a text, as journeys, errors and logs hold them. */
export const instants = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

/**
 * Text for people with every instant in it on the clock of the account, as `--since` takes it: `2026-11-21T11:30:00+02:00`.
 * Machines are given UTC.
 */
export function inZone(text: string, timeZone: string): string {
  return text.replaceAll(instants, (written) => shown(new Date(written), timeZone));
}

/** The day that it is at an instant in the zone, YYYY-MM-DD. */
export function daysIn(timeZone: string): (at: Date) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  return (at) => format.format(at);
}

function shown(at: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  // "2026-11-21 11:30:00 GMT+02:00"; in UTC without an offset.
  const [day = '', time = '', offset = ''] = format.format(at).split(' ');
  return `${day}T${time}${offset === 'GMT' ? '+00:00' : offset.replace(/^GMT/, '').replace('−', '-')}`;
}
