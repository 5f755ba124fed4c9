import type { Visitor } from './guard.ts';
import { type Content, type Html, html } from './html.ts';

export interface Page {
  title: string;
  /** The address of the section that the page belongs to. */
  section?: string;
  body: Content;
}

interface Noted extends Page {
  /** Shown above everything else. */
  notice?: string | undefined;
  /** Left out while the counts are unknown. */
  followUps?: FollowUpCounts | undefined;
}

/** The numbers of follow-ups that are not done. */
export interface FollowUpCounts {
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

/** A whole page. A visitor who has to log in first sees no links to other pages. */
export function layout({ title, section, body, notice, followUps }: Noted, visitor: Visitor | undefined): Html {
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
${visitor && html`<nav aria-label="Pages"><ul>${menuOf(followUps).map((one) => link(one, one.at === section))}</ul></nav>`}
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

interface MenuItem {
  at: string;
  name: string;
  count?: Content;
}

/** The menu. While follow-ups are open their entry comes first. */
function menuOf({ open, overdue }: FollowUpCounts = { open: 0, overdue: 0 }): MenuItem[] {
  // Without open follow-ups their entry stands behind the pages that managers read.
  if (open === 0) return sections.toSpliced(3, 0, followUpSection);
  const words = overdue > 0 ? `open, ${overdue} overdue` : 'open';
  const count = html` <span class="${overdue > 0 ? 'count bad' : 'count'}">${open}<span class="unseen"> ${words}</span></span>`;
  return [{ ...followUpSection, count }, ...sections];
}

function link({ at, name, count }: MenuItem, isHere: boolean): Html {
  return isHere
    ? html`<li><a class="tab" href="${at}" aria-current="page">${name}${count}</a></li>`
    : html`<li><a class="tab" href="${at}">${name}${count}</a></li>`;
}
