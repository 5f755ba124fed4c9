import { type Channel, channelInWords, channelsAt } from '../reports/channels.ts';
import { csv } from '../reports/csv.ts';
import { rateOf } from '../reports/grades.ts';
import type { Period } from '../reports/period.ts';
import { byChannel, storedCounts } from '../reports/stored-counts.ts';
import type { RuntimeOptions } from './runtime.ts';
import type { ServiceAccount } from './service.ts';
import { bar, table } from './table.ts';
import { withStored } from './with-stored.ts';

interface HoursOptions extends RuntimeOptions {
  campaign?: number | undefined;
}

/** How many of the customers whom closeloop asked in an hour of the day have answered, by channel: evidence for windows. */
export async function reportHours(
  options: HoursOptions,
  period: Period,
  { format, service, timeZone }: { format: 'table' | 'csv' | 'json' } & Pick<ServiceAccount, 'service' | 'timeZone'>,
): Promise<number> {
  const asking = { timeZone, now: new Date(), campaign: options.campaign };
  const [counts, channels] = await Promise.all([
    withStored(options, ({ sources }) => storedCounts(sources(), period, asking)),
    channelsAt(service),
  ]);
  const rows = byChannel(counts.hours, channels).flatMap(({ channel, hours }) =>
    hours.map(({ hour, asked, responses: answered }) => {
      return { channel, hour, asked, answered, rate: rateOf(asked, answered) ?? 0 };
    }),
  );
  if (format === 'json') for (const row of rows) process.stdout.write(`${JSON.stringify({ ...period, ...row })}\n`);
  else if (rows.length === 0) process.stderr.write(`closeloop asked nobody from ${period.since} to ${period.until}.\n`);
  else process.stdout.write(format === 'csv' ? csv(cellsOf(rows)) : tableOf(rows, period, timeZone));
  return 0;
}

interface Row {
  channel: Channel;
  hour: number;
  asked: number;
  answered: number;
  rate: number;
}

const head = ['channel', 'hour', 'asked', 'answered', 'rate'];

function cellsOf(rows: readonly Row[]): string[][] {
  const body = rows.map(({ channel, hour, asked, answered, rate }) => {
    return [channel, ...[hour, asked, answered, Math.round(rate * 10_000) / 10_000].map(String)];
  });
  return [head, ...body];
}

function tableOf(rows: readonly Row[], { since, until }: Period, timeZone: string): string {
  const highest = Math.max(...rows.map(({ rate }) => rate), 0.01);
  const body = rows.map(({ channel, hour, asked, answered, rate }) => [
    channelInWords(channel),
    `${String(hour).padStart(2, '0')}:00`,
    ...[asked, answered].map(String),
    `${Math.round(rate * 100)} %`,
    bar(rate / highest),
  ]);
  return `${since} to ${until}, by the hour in which closeloop asked, on the clock of ${timeZone}\n\n${table([[...head, ''], ...body])}`;
}
