import { formatDuration } from '../../core/schedule/duration.ts';
import type { CampaignChoice } from '../config/campaign-choice.ts';
import type { Rule } from '../config/rule.ts';

/** A rule in sentences, for people who do not read the configuration. @param names the known names of campaigns */
export function ruleInWords(rule: Rule, names: ReadonlyMap<number, string>): string {
  const sentences = [
    `${whoIsAsked(rule)} asked ${inCampaigns(rule.campaign, names)}`,
    `They are asked ${[`by ${contactsOf(rule)}`, delayOf(rule), ...hoursOf(rule)].join(', ')}`,
    ...limitsOf(rule),
  ];
  return `${sentences.join('. ')}.`;
}

function whoIsAsked({ when, sample }: Rule): string {
  const closes =
    when === undefined ? 'When a record closes that no earlier rule took' : `When a record closes and “${when}” holds`;
  return sample === undefined
    ? `${closes}, its customer is`
    : `${closes}, ${Math.round(sample * 1_000) / 10} % of the customers are`;
}

function inCampaigns(choice: CampaignChoice, names: ReadonlyMap<number, string>): string {
  const named = (id: number) => {
    const name = names.get(id);
    return name === undefined ? `campaign ${id}` : `“${name}” (campaign ${id})`;
  };
  if (typeof choice === 'number') return `in ${named(choice)}`;
  const each = Object.entries(choice).map(([language, id]) =>
    language === 'default' ? `in ${named(id)} in any other language` : `in ${named(id)} in the language ${language}`,
  );
  return listed(each);
}

function contactsOf({ contact }: Rule): string {
  return [contact].flat().join(', or else ');
}

function delayOf({ delay }: Rule): string {
  if (delay === undefined) return "after the campaign's own delay";
  return delay === 0 ? 'at once' : `${spanOf(delay)} after the closing`;
}

const weekdays = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

function hoursOf({ window, holidays }: Rule): string[] {
  const { from, until, days, zone } = window ?? {};
  const hours = [
    ...(days === undefined ? [] : [`on ${listed(days.map((day) => weekdays[day]))}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
  ];
  return [
    ...(hours.length === 0
      ? []
      : [`${hours.join(' ')} on the ${zone === 'recipient' ? "recipient's" : "account's"} clock`]),
    ...(holidays === 'ask' ? ['on public holidays, too'] : []),
  ];
}

function limitsOf({ throttle, cap, maxAge, again, test }: Rule): string[] {
  const caps = [
    ...(cap?.hour === undefined ? [] : [`${cap.hour} an hour`]),
    ...(cap?.day === undefined ? [] : [`${cap.day} a day`]),
  ];
  return [
    ...(throttle === undefined ? [] : [throttled(throttle)]),
    ...(caps.length === 0 ? [] : [`At most ${listed(caps)} are asked`]),
    ...(maxAge === undefined || maxAge === false
      ? []
      : [`Nobody is asked about a closing of more than ${spanOf(maxAge)} ago`]),
    again === 'never' ? 'A record is asked about once' : 'A record that closes again is asked about again',
    ...(test === undefined ? [] : ['It is a test: all requests go to the test contact, and none to a customer']),
  ];
}

function throttled({ period, otherwise }: NonNullable<Rule['throttle']>): string {
  const then = otherwise === 'defer' ? 'waits until that is over' : 'is not asked';
  return `Who was asked within the last ${spanOf(period)} ${then}`;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** "30 days", "1 hour"; a duration that is no whole number of anything as it is written. */
function spanOf(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms % one === 0) ?? [];
  if (unit === undefined || size === undefined) return formatDuration(ms);
  return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
}

function listed(all: readonly string[]): string {
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}
