import type { CampaignType } from '../../core/contact.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { type Counts, countsKeptMs, sumOf } from '../journey/hourly-counts.ts';
import type { JourneyStore } from '../journey/store.ts';
import { instantsOf, type Period } from './period.ts';

const dayMs = 86_400_000;

interface Counted {
  store: Pick<JourneyStore, 'queries'>;
}

/** How many customers were asked in an hour of the day, and how many of them have answered. */
export interface HourOfDay extends Pick<Counts, 'asked' | 'responses'> {
  /** 0 to 23, on the account's clock. */
  hour: number;
}

interface StoredCounts {
  byCampaign: Map<number, Counts>;
  /** By the hour of the day on the account's clock, for one campaign or all. Hours in which nobody was asked are left out. */
  byHour: HourOfDay[];
  /** The same by campaign, several for an hour. */
  hours: CampaignHour[];
}

/** Counts of closeloop's own journeys of these days, over all sources; they reach 400 days back. */
export async function storedCounts(
  sources: readonly Counted[],
  period: Period,
  { campaign, ...clock }: { timeZone: string; now: Date; campaign?: number | undefined },
): Promise<StoredCounts> {
  const time = timeOf(period, clock);
  const all = (await Promise.all(sources.map(({ store }) => store.queries.countsBetween(time)))).flat();
  const byCampaign = Map.groupBy(all, (one) => one.campaign);
  const hourOf = hoursIn(clock.timeZone);
  const hours = all
    .filter((one) => campaign === undefined || campaign === one.campaign)
    .map(({ at, campaign: id, asked, responses }) => ({ campaign: id, hour: hourOf(at), asked, responses }));
  return {
    byCampaign: new Map([...byCampaign].map(([id, counts]) => [id, sumOf(counts)])),
    byHour: byHour(hours),
    hours,
  };
}

interface CampaignHour extends HourOfDay {
  campaign: number;
}

function byHour(all: readonly HourOfDay[]): HourOfDay[] {
  const sum = (some: readonly HourOfDay[], of: 'asked' | 'responses') =>
    some.reduce((total, one) => total + one[of], 0);
  return [...Map.groupBy(all, ({ hour }) => hour)]
    .map(([hour, some]) => ({ hour, asked: sum(some, 'asked'), responses: sum(some, 'responses') }))
    .filter(({ asked }) => asked > 0)
    .sort((a, b) => a.hour - b.hour);
}

export interface ChannelHours {
  channel: Channel;
  hours: HourOfDay[];
}

/** By channel and hour, the channel most asked through first. */
export function byChannel(all: readonly CampaignHour[], channels: ReadonlyMap<number, CampaignType>): ChannelHours[] {
  const askedIn = (hours: readonly HourOfDay[]) => hours.reduce((sum, { asked }) => sum + asked, 0);
  return [...Map.groupBy(all, ({ campaign }): Channel => channels.get(campaign) ?? 'unknown')]
    .map(([channel, some]) => ({ channel, hours: byHour(some) }))
    .filter(({ hours }) => hours.length > 0)
    .sort((a, b) => askedIn(b.hours) - askedIn(a.hours));
}

/** The hour of the day of an instant. Each instant is formatted once, as that takes longer than all else. */
function hoursIn(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' });
  const known = new Map<number, number>();
  return (at) => {
    const hour = known.get(at) ?? Number(format.format(at));
    known.set(at, hour);
    return hour;
  };
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

/** What customers are asked through: their campaign's. `unknown`: the service does not name the campaign any more. */
export type Channel = CampaignType | 'unknown';

const words: Readonly<Record<Channel, string>> = {
  sms: 'text message',
  email: 'e-mail',
  mixed: 'text message or e-mail',
  widget: 'web widget',
  external: 'a channel of your own',
  unknown: 'an unknown channel',
};

/** For a sentence: "asked by e-mail". */
export const channelInWords = (channel: Channel): string => words[channel];

/** Each campaign's channel, by the campaign's number. */
export async function channelsAt(service: Pick<FeedbackClient, 'campaigns'>): Promise<Map<number, CampaignType>> {
  const channels = new Map<number, CampaignType>();
  for await (const { id, type } of service.campaigns()) channels.set(id, type);
  return channels;
}
