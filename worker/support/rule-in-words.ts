import { formatDuration } from '../../core/schedule/duration.ts';
import type { CampaignChoice } from '../config/campaign-choice.ts';
import type { Rule } from '../config/rule.ts';

/** One sentence of what a rule does, for people who do not read the configuration. @param names of campaigns, where they are known */
export function ruleInWords(rule: Rule, names: ReadonlyMap<number, string>): string {
  const parts = [
    `${closingsOf(rule)} are asked about ${inCampaigns(rule.campaign, names)}`,
    `through ${contactsOf(rule)}`,
    rule.delay === undefined ? "after the campaign's own delay" : afterDelay(rule.delay),
    ...hoursOf(rule),
    ...limitsOf(rule),
  ];
  return `${parts.join(', ')}.`;
}

function closingsOf({ when, sample }: Rule): string {
  const share = sample === undefined ? '' : `${Math.round(sample * 1_000) / 10} % of `;
  const which = when === undefined ? 'the closings that no earlier rule took' : `the closings where “${when}”`;
  const text = `${share}${which}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function inCampaigns(choice: CampaignChoice, names: ReadonlyMap<number, string>): string {
  const named = (id: number) => {
    const name = names.get(id);
    return name === undefined ? `campaign ${id}` : `campaign ${id} “${name}”`;
  };
  if (typeof choice === 'number') return `in ${named(choice)}`;
  const each = Object.entries(choice).map(([language, id]) =>
    language === 'default' ? `in ${named(id)} for other languages` : `in ${named(id)} for ${language}`,
  );
  return each.join(' and ');
}

function contactsOf({ contact }: Rule): string {
  return [contact].flat().join(', or else ');
}

function afterDelay(ms: number): string {
  return ms === 0 ? 'at once' : `${formatDuration(ms)} after the closing`;
}

function hoursOf({ window, holidays }: Rule): string[] {
  const { from, until, days, zone } = window ?? {};
  const hours = [
    ...(days === undefined ? [] : [`on ${days.join(', ')}`]),
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
    ...(caps.length === 0 ? [] : [`at most ${caps.join(' and ')}`]),
    ...(maxAge === undefined || maxAge === false ? [] : [`never about closings older than ${formatDuration(maxAge)}`]),
    again === 'never' ? 'once in the life of a record' : 'at each closing of a record',
    ...(test === undefined ? [] : ['as a test: to the test contact, and to no customer']),
  ];
}

function throttled({ period, otherwise }: NonNullable<Rule['throttle']>): string {
  const then = otherwise === 'defer' ? 'waits until that is over' : 'is not asked';
  return `and who was asked within ${formatDuration(period)} ${then}`;
}
