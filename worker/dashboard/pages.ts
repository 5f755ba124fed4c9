import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { DashboardSettings } from '../config/dashboard.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { type Visitor, visitorOf } from './guard.ts';
import { type Content, type Html, html, textOf } from './html.ts';
import { type Tab, tab } from './views/forms.ts';

/** The parts of the process that the pages show and act on. */
export interface DashboardOptions {
  /** A reload replaces the engine. */
  engine: () => Engine;
  config: () => Config;
  /** The users who may log in, among other settings. A reload replaces them. */
  settings: () => DashboardSettings;
  redis: RedisClient;
  /** The installation's key. */
  seal: Seal;
  /** The loop's clock. */
  now: () => Date;
  log: Log;
}

interface Page {
  title: string;
  /** The address of the section that the page belongs to. */
  section?: string;
  body: Content;
}

/** The numbers of follow-ups that are not done. */
interface FollowUpCounts {
  open: number;
  overdue: number;
}

const followUpSection = { at: '/follow-ups', name: 'Follow-up' } as const;
const sections: readonly MenuItem[] = [
  { at: '/', name: 'Overview' },
  { at: '/answers', name: 'Answers' },
  { at: '/grades', name: 'Grades' },
  { at: '/journeys', name: 'Journeys' },
  { at: '/why', name: 'Why' },
  { at: '/people', name: 'People' },
  { at: '/operations', name: 'Operations' },
  { at: '/settings', name: 'Settings' },
];

/** The section that an address belongs to: its pages, and the forms on them. */
export function sectionOf(address: string): MenuItem {
  const path = address.replace(/^\/many\//, '/journeys/').replace(/^\/sources\//, '/operations/');
  return [...sections, followUpSection].findLast(({ at }) => path.startsWith(at)) ?? followUpSection;
}

/** A whole page. A visitor who has to log in first sees no links to other pages. */
export function layout(
  { title, section, body }: Page,
  visitor: Visitor | undefined,
  { notice, followUps }: { notice?: string | undefined; followUps?: FollowUpCounts | undefined } = {},
): Html {
  // A bundler would split a template that contains the literal end tag of a script, and would import a helper for it.
  const script = 'script';
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · closeloop</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<script type="module" src="/assets/live.js"></${script}>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">closeloop</a>
${visitor && html`<nav aria-label="Pages"><ul>${menuOf(followUps).map((one) => tab({ ...one, isHere: one.at === section }, 'page'))}</ul></nav>`}
${visitor?.session && html`<p class="who">${visitor.name}${visitor.role === 'read' && ' (may look)'} <a href="/logout">Log out</a></p>`}
</header>
<main id="main" tabindex="-1">
${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

type MenuItem = Omit<Tab, 'isHere'>;

/** The menu. While follow-ups are open their entry comes first. */
function menuOf({ open, overdue }: FollowUpCounts = { open: 0, overdue: 0 }): MenuItem[] {
  // Without open follow-ups their entry stands behind the pages that managers read.
  if (open === 0) return sections.toSpliced(3, 0, followUpSection);
  const words = overdue > 0 ? `open, ${overdue} overdue` : 'open';
  const count = html` <span class="${overdue > 0 ? 'count bad' : 'count'}">${open}<span class="unseen"> ${words}</span></span>`;
  return [{ at: followUpSection.at, name: html`${followUpSection.name}${count}` }, ...sections];
}

const common = Symbol('common');

/** The parts that every page has. */
interface Common {
  /** Shown above everything else, if set. */
  notice: string | undefined;
  /** The numbers of follow-ups for the menu. */
  followUps: () => Promise<FollowUpCounts>;
}

export function decoratePages(app: FastifyInstance, parts: Common): void {
  app.decorate(common, parts);
}

/** Sends a whole page. */
export async function show(reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> {
  const { notice, followUps } = reply.server.getDecorator<Common>(common);
  const visitor = visitorOf(reply.request);
  // After an error the counts are left out, as Redis itself may be the cause.
  const counts = visitor && status < 500 ? await followUps() : undefined;
  return await reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(textOf(layout(page, visitor, { notice, followUps: counts })));
}
