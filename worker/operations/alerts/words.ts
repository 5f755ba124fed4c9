import { withoutUnseen } from '../../../core/visible-text.ts';
import type { AlertGroup, AnswerMessage, Digest, Message, SourceFigures } from './message.ts';

/** The page's path of a journey, by the journey's name for people, `support/41960.1`. Alerts and messages link to it as well. */
export function journeyPath(ref: string): string {
  const slash = ref.indexOf('/');
  return `/journeys/${ref.slice(0, slash)}/${encodeURIComponent(ref.slice(slash + 1))}`;
}

/* What people read: the same words in every format. */

const kindWords: Readonly<Record<AlertGroup['kind'], string>> = {
  paused: 'stopped',
  'given-up': 'given up',
  missed: 'webhooks missed',
  parked: 'waits for a person',
  'to-do': 'to do',
};

/** Longer texts are cut or refused by chats. */
const longest = 300;

/** Cuts a text, never within a character: chats refuse half a character. */
const cut = (text: string, most = longest): string =>
  text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;

/** "support: stopped", and how many others there are. */
export function titleOf(message: Message | AnswerMessage): string {
  if (message.type === 'answer') return answerTitleOf(message);
  if (message.type === 'digest') return `closeloop: the week until ${dayOf(message.until, message.timeZone)}`;
  const [first] = message.alerts;
  const more = message.alerts.length - 1;
  const heading = first === undefined ? 'nothing' : headingOf(first);
  // The heading of an alert without a source begins with closeloop itself.
  const title = heading.startsWith('closeloop: ') ? heading : `closeloop: ${heading}`;
  return `${title}${more > 0 ? `, and ${more} more` : ''}`;
}

export function headingOf({ source, kind, count }: AlertGroup): string {
  return `${source}: ${kindWords[kind]}${count > 1 ? ` (${count} times)` : ''}`;
}

/** The lines of an alert: what happened, what to do, and which journeys are affected. */
export function linesOf({ why, remedy, journeys, first, count }: AlertGroup): string[] {
  return [
    cut(why),
    `→ ${cut(remedy)}`,
    ...(journeys.length > 0 ? [`journeys: ${journeys.join(', ')}`] : []),
    ...(count > 1 ? [`since ${first}`] : []),
  ];
}

export function figuresOf({ asked, answered, rate, givenUp, parked, stopped }: SourceFigures): string[] {
  const share = rate === null ? '' : ` (${Math.round(rate * 100)} % of those asked)`;
  return [
    `asked ${asked} · answered ${answered}${share}`,
    ...(givenUp > 0 ? [`given up: ${givenUp} ("closeloop journeys list --state failed")`] : []),
    ...(parked > 0 ? [`waiting for a person: ${parked} ("closeloop journeys list --state parked")`] : []),
    ...(stopped.length > 0 ? [`stopped: ${stopped.map(cut).join('; ')}`] : []),
  ];
}

/** The address on the page for an alert: its journey, its source's journeys, or the overview. @param page the page's public address */
export function linkOf({ journeys, source }: Pick<AlertGroup, 'journeys' | 'source'>, page: string): string {
  const [first, ...others] = journeys;
  if (first === undefined) return `${page}/`;
  return `${page}${others.length === 0 ? journeyPath(first) : `/journeys?${new URLSearchParams({ source })}`}`;
}

/** A part of a message, with links where somebody can act. */
export interface Section {
  heading: string;
  lines: string[];
  links: { label: string; url: string }[];
}

/** The parts of a message. They link to the page if the page has a public address. */
export function sectionsOf(message: Message | AnswerMessage, page: string | undefined): Section[] {
  if (message.type === 'answer') return [answerSectionOf(message, page)];
  if (message.type === 'digest')
    return message.sources.map((one) => ({ heading: one.source, lines: figuresOf(one), links: [] }));
  return message.alerts.map((one) => ({
    heading: headingOf(one),
    lines: linesOf(one),
    links: page === undefined ? [] : [{ label: onThePage, url: linkOf(one, page) }],
  }));
}

const onThePage = 'On the page';

/** A customer may write more than a chat takes. */
const mostOfComment = 1_500;
const mostLinesOfComment = 30;
const longestName = 80;

/** Removes line breaks, which a subject can't have, and signs that would turn the direction of the text around. */
const nameOf = (text: string): string => cut(withoutUnseen(text.replace(/\s+/g, ' ')), longestName);

function answerTitleOf({ grade = 'a comment', customer }: AnswerMessage): string {
  return `closeloop: ${grade}${customer === undefined ? '' : ` from ${nameOf(customer)}`}`;
}

function answerSectionOf(message: AnswerMessage, page: string | undefined): Section {
  const { source, journey, record, url, rule, agent, isChanged } = message;
  return {
    heading: `${source}: ${nameOf(record)}`,
    lines: [
      ...wordsOf(message),
      ...(isChanged ? ['The customer has changed the answer since.'] : []),
      ...(agent === undefined ? [] : [`agent: ${nameOf(agent)}`]),
      `answer rule: ${nameOf(rule)}`,
      ...followUpLine(message),
    ],
    links: [
      ...(url === undefined ? [] : [{ label: 'The record', url }]),
      ...(page === undefined ? [] : [{ label: onThePage, url: `${page}${journeyPath(journey)}` }]),
    ],
  };
}

function followUpLine({ followUp, timeZone }: AnswerMessage): string[] {
  if (followUp === undefined) return [];
  const { to, dueAt } = followUp;
  return [`follow-up: for ${to === 'agent' ? 'the agent' : nameOf(to)}, due ${dayOf(dueAt, timeZone)} (${timeZone})`];
}

/** The customer's words, line by line. */
function wordsOf({ comment }: AnswerMessage): string[] {
  if (comment === null) return ['without words'];
  const lines = `“${cut(comment, mostOfComment)}”`.split(/[\r\n\u2028\u2029]+/);
  return lines.slice(0, mostLinesOfComment).map(withoutUnseen);
}

/** The line under the title. */
export function introductionOf(message: Message | AnswerMessage): string | undefined {
  return message.type === 'digest' ? weekOf(message) : undefined;
}

function weekOf({ from, until, timeZone }: Digest): string {
  return `${dayOf(from, timeZone)} to ${dayOf(until, timeZone)}`;
}

function dayOf(instant: string, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(instant),
  );
}
