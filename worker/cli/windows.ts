import { styleText } from 'node:util';
import { CloseloopError, messageOf, refusal } from '../../core/errors.ts';
import { createFeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { countryCode } from '../../core/schedule/countries.ts';
import { type OpenDay, openDays } from '../../core/schedule/open-days.ts';
import { recipientPlace } from '../../core/schedule/recipient-place.ts';
import { type MessageHours, messageWindows } from '../../core/schedule/send-time.ts';
import { dateText, isZone, wallTime } from '../../core/schedule/wall-clock.ts';
import { doubtsAbout } from '../../core/schedule/window-doubts.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import type { Rule } from '../config/rule.ts';
import { hoursIn, stretchesOf } from '../support/rule-weeks.ts';
import { livePorts } from './live-ports.ts';
import { print, say } from './output.ts';
import { type CommandOptions, readConfig } from './runtime.ts';

interface WindowsOptions extends CommandOptions {
  source?: string;
  rule?: string;
  /** The recipient's zone. Left out: the account's. */
  zone?: string;
  /** The country of the recipient's address: its holidays hold, and its clock if the whole country has one clock. */
  country?: string;
  /** The first day, 2026-11-23; left out: today. */
  from?: string;
  weeks: number;
  /** Left out: now. */
  now?: Date;
}

/** The coming weeks of one rule. */
interface Drawn {
  source: string;
  rule: Rule;
  campaign: Campaign;
  hours: MessageHours;
  zone: string;
  days: OpenDay[];
}

/** Shows for each rule when it may ask in the coming weeks. Returns 1 if a rule has no open hour, or if its campaign can't be read. */
export async function windows(options: WindowsOptions): Promise<number> {
  const config = await readConfig(options, { uses: 'service' });
  const service = createFeedbackClient(config.feedback, livePorts);
  const recipient = { timeZone: options.zone, country: options.country };
  const zone = zoneIn(options, config);
  const first = dayIn(options, zone);
  let code = 0;
  const inEach = chosenRules(config, options).flatMap((one) =>
    campaignNumbers([one.rule]).map((id) => ({ ...one, id })),
  );
  for (const { source, rule, id } of inEach) {
    try {
      const campaign = await service.campaign(id);
      const hours = hoursIn(rule, campaign, recipient, config);
      const days = openDays(hours, zone, first, options.weeks * 7);
      if (days.every(({ open }) => open.length === 0)) code = 1;
      const drawn = { source, rule, campaign, hours, zone, days };
      print(options, forMachines(drawn), [...picture(drawn), '']);
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      code = 1;
      say(`${source}, rule "${rule.name}": ${messageOf(error)}`);
    }
  }
  return code;
}

function chosenRules({ sources }: Config, { source, rule }: WindowsOptions): { source: string; rule: Rule }[] {
  const all = sources.flatMap(({ name, rules }) => rules.map((one) => ({ source: name, rule: one })));
  const chosen = all.filter(
    (one) => (source ?? one.source) === one.source && (rule ?? one.rule.name) === one.rule.name,
  );
  if (chosen.length > 0) return chosen;
  const names = all.map((one) => `${one.source}: "${one.rule.name}"`).join(', ');
  throw refusal(`There is no such rule; there are ${names}.`);
}

/** The zone whose clock is drawn. For a country with several clocks this is the account's zone. */
function zoneIn({ zone, country }: WindowsOptions, { feedback }: Config): string {
  if (zone !== undefined && !isZone(zone)) throw refusal(`--zone "${zone}" is not a time zone like America/New_York`);
  if (country !== undefined && countryCode(country) === undefined)
    throw refusal(`--country "${country}" is not a country like US or Estonia`);
  return recipientPlace({ timeZone: zone, country }, feedback.timeZone).zone;
}

function dayIn({ from, now = new Date() }: WindowsOptions, zone: string): string {
  const today = dateText(wallTime(zone, now.getTime()).date);
  if (from === undefined) return today;
  if (/^\d{4}-\d\d-\d\d$/.test(from) && !Number.isNaN(Date.parse(from))) return from;
  throw refusal(`--from must be a day like ${today}`);
}

function forMachines({ source, rule, campaign, hours, zone, days }: Drawn): object {
  return {
    source,
    rule: rule.name,
    campaign: campaign.id,
    zone,
    windows: messageWindows(hours).windows.map(({ name }) => name),
    warnings: doubtsAbout(hours).map(({ problem }) => problem),
    days,
  };
}

/** A sign for every half an hour. */
const signs = 48;
const signMs = 1_800_000;

function picture({ source, rule, campaign, hours, zone, days }: Drawn): string[] {
  const isText = hours.sms !== undefined;
  const what = `campaign ${campaign.id} ${campaign.name} (${campaign.type})`;
  return [
    styleText('bold', `${source}, rule "${rule.name}": ${what}`),
    ...messageWindows(hours).windows.map(({ name }) => `  ${name}`),
    ...doubtsAbout(hours).map(({ problem, remedy }) => styleText('yellow', `  ! ${problem}: ${remedy}`)),
    ...(isText && campaign.type === 'mixed' ? ['  (an e-mail keeps to the other hours alone)'] : []),
    '',
    `${' '.repeat(12)}${['0', '3', '6', '9', '12', '15', '18', '21'].map((hour) => hour.padEnd(6)).join('')}  ${zone}`,
    ...days.map((day) => row(day, zone, hours.accountZone)),
  ];
}

function row(day: OpenDay, zone: string, accountZone: string): string {
  const at = ({ from, until }: OpenDay['open'][number], on: string) => `${clock(from, on)}–${clock(until, on)}`;
  const open = day.open.map((one) => at(one, zone)).join(', ') || 'closed';
  const there =
    zone === accountZone || day.open.length === 0
      ? ''
      : ` (${day.open.map((one) => at(one, accountZone)).join(', ')} ${accountZone})`;
  const notes = [
    ...(day.holiday === undefined ? [] : [day.holiday]),
    ...(day.clockChange === undefined ? [] : [changeInWords(day.clockChange, zone)]),
  ];
  const note = notes.length === 0 ? '' : `  ${notes.join('; ')}`;
  const weekday = `${day.weekday.charAt(0).toUpperCase()}${day.weekday.slice(1)}`;
  return `${weekday} ${day.date.slice(5)}   ${bar(day, zone)}  ${open}${there}${note}`;
}

function bar(day: OpenDay, zone: string): string {
  const spans = stretchesOf(day, zone);
  const isOpen = (sign: number) => spans.some(([from, until]) => from <= sign * signMs && sign * signMs < until);
  return Array.from({ length: signs }, (_, sign) => (isOpen(sign) ? '█' : '·')).join('');
}

function clock(at: Date, zone: string): string {
  const { ms } = wallTime(zone, at.getTime());
  return new Date(ms).toISOString().slice(11, ms % 60_000 === 0 ? 16 : 19);
}

function changeInWords({ at, minutes }: NonNullable<OpenDay['clockChange']>, zone: string): string {
  const before = new Date(at.getTime() - 1);
  const from = new Date(wallTime(zone, before.getTime()).ms + 1).toISOString().slice(11, 16);
  return `clocks go ${minutes > 0 ? 'forward' : 'back'}: ${from} becomes ${clock(at, zone)}`;
}
