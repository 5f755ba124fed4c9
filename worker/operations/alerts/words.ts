import { journeyPath } from '../page-addresses.ts';
import type { AlertGroup, Digest, Message, SourceFigures } from './message.ts';

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

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

/** "support: stopped", and how many others there are. */
export function titleOf(message: Message): string {
  if (message.type === 'digest') return `closeloop: the week until ${dayOf(message.until, message.timeZone)}`;
  const [first] = message.alerts;
  const more = message.alerts.length - 1;
  const heading = first === undefined ? 'nothing' : headingOf(first);
  // What concerns no source is of closeloop itself.
  const title = heading.startsWith('closeloop: ') ? heading : `closeloop: ${heading}`;
  return `${title}${more > 0 ? `, and ${more} more` : ''}`;
}

export function headingOf({ source, kind, count }: AlertGroup): string {
  return `${source}: ${kindWords[kind]}${count > 1 ? ` (${count} times)` : ''}`;
}

/** What happened, what to do, and which journeys are affected. */
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

/** Where the page shows what an alert is about: its journey, its source's journeys, or how things stand. @param page its public address */
export function linkOf({ journeys, source }: Pick<AlertGroup, 'journeys' | 'source'>, page: string): string {
  const [first, ...others] = journeys;
  if (first === undefined) return `${page}/`;
  return `${page}${others.length === 0 ? journeyPath(first) : `/journeys?${new URLSearchParams({ source })}`}`;
}

/** The sections of a message: headings with their lines, and of alerts a link, where the page has a public address. */
export function sectionsOf(
  message: Message,
  page: string | undefined,
): { heading: string; lines: string[]; link?: string }[] {
  if (message.type === 'digest') return message.sources.map((one) => ({ heading: one.source, lines: figuresOf(one) }));
  return message.alerts.map((one) => ({
    heading: headingOf(one),
    lines: linesOf(one),
    ...(page !== undefined && { link: linkOf(one, page) }),
  }));
}

/** The line under the title. */
export function introductionOf(message: Message): string | undefined {
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
