import type { CampaignType } from '../../core/contact.ts';
import { type CountedHour, type Counts, countsKeptMs, sumOf } from '../journey/hourly-counts.ts';
import type { JourneyStore } from '../journey/store.ts';
import type { Channel } from './channels.ts';
import { instantsOf, type Period } from './period.ts';

const dayMs = 86_400_000;

interface Counted {
  store: Pick<JourneyStore, 'queries'>;
}

/** Counts of closeloop's own journeys of these days, by campaign and over all sources; they reach 400 days back. */
export async function storedCounts(
  sources: readonly Counted[],
  period: Period,
  { timeZone, now }: { timeZone: string; now: Date },
): Promise<Map<number, Counts>> {
  const time = timeOf(period, { timeZone, now });
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsBetween(time)));
  const campaigns = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...campaigns].map((id) => [id, sumOf(all.flatMap((one) => one.get(id) ?? []))]));
}

/** How many customers were asked in an hour of the day, and how many of them have answered. */
export interface HourOfDay extends Pick<Counts, 'asked' | 'responses'> {
  /** 0 to 23, on the account's clock. */
  hour: number;
}

/** How many customers were asked by campaign and hour of the day, on the account's clock, and how many of them have answered. */
export async function responsesByHour(
  sources: readonly Counted[],
  period: Period,
  { timeZone, now, campaign }: { timeZone: string; now: Date; campaign?: number | undefined },
): Promise<(HourOfDay & { campaign: number })[]> {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' });
  const time = timeOf(period, { timeZone, now });
  const by = (one: CountedHour) => `${one.campaign} ${format.format(one.at)}`;
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsBy(time, by)));
  return all.flatMap((counts) =>
    [...counts].flatMap(([key, { asked, responses }]) => {
      const [id, hour] = key.split(' ').map(Number);
      if (id === undefined || hour === undefined || asked === 0) return [];
      return campaign === undefined || campaign === id ? [{ campaign: id, hour, asked, responses }] : [];
    }),
  );
}

/** By hour alone; hours in which nobody was asked are left out. */
export function byHour(all: readonly HourOfDay[]): HourOfDay[] {
  return [...Map.groupBy(all, ({ hour }) => hour)]
    .map(([hour, some]) => ({
      hour,
      asked: some.reduce((sum, one) => sum + one.asked, 0),
      responses: some.reduce((sum, one) => sum + one.responses, 0),
    }))
    .sort((a, b) => a.hour - b.hour);
}

export interface ChannelHours {
  channel: Channel;
  hours: HourOfDay[];
}

/** By channel and hour, the channel most asked through first. */
export function byChannel(
  all: readonly (HourOfDay & { campaign: number })[],
  channels: ReadonlyMap<number, CampaignType>,
): ChannelHours[] {
  const askedIn = (hours: readonly HourOfDay[]) => hours.reduce((sum, { asked }) => sum + asked, 0);
  return [...Map.groupBy(all, ({ campaign }): Channel => channels.get(campaign) ?? 'unknown')]
    .map(([channel, some]) => ({ channel, hours: byHour(some) }))
    .sort((a, b) => askedIn(b.hours) - askedIn(a.hours));
}

/** Counts are stored for these days only, and a period may name any day: every hour of a period is read. */
function timeOf(period: Period, { timeZone, now }: { timeZone: string; now: Date }): { from: Date; until: Date } {
  const { from, until } = instantsOf(period, timeZone);
  const [earliest, latest] = [now.getTime() - 2 * countsKeptMs, now.getTime() + dayMs];
  return {
    from: new Date(Math.max(from.getTime(), earliest)),
    until: new Date(Math.min(until.getTime(), latest)),
  };
}
