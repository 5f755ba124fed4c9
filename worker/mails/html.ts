import { type Content, type Html, html, textOf as markupOf, webAddress } from '../dashboard/html.ts';
import { figureOf, nameOf } from '../dashboard/views/figures.ts';
import { rangeOf } from '../reports/cells.ts';
import { resultOf } from '../reports/grades.ts';
import type { MailComment, MailFigures, OpenFollowUp, Result } from './figures.ts';
import {
  aboutComment,
  answersOf,
  changeOf,
  cut,
  followUpsInWords,
  footer,
  inWords,
  isOfFew,
  labelOf,
  nobodyAsked,
  ofFew,
  openInWords,
  othersInWords,
  subjectOf,
} from './text.ts';

/*
 * The HTML part of a mail: tables and inline styles, as some mail programs support nothing else; no script, no picture, no address that is
 * fetched. The head holds colours for a dark screen, for the programs that read styles there.
 */

const barHeight = 44;

/** Styles for a dark screen. Each class overrides a colour of its element. */
const dark = `
@media (prefers-color-scheme: dark) {
  .page { background-color: #12151b !important; }
  .card { background-color: #1b2029 !important; border-color: #343c4a !important; }
  .line { border-color: #343c4a !important; }
  .text { color: #e6eaf2 !important; }
  .quiet { color: #a3aec2 !important; }
  .link { color: #8fb4ff !important; }
  .up { color: #6cd49a !important; }
  .down { color: #ff9aa2 !important; }
  .bar { background-color: #3a4b73 !important; }
  .now { background-color: #8fb4ff !important; }
  .unhappy { border-left-color: #ff9aa2 !important; }
  .happy { border-left-color: #6cd49a !important; }
}
@media (max-width: 620px) {
  .outer { padding: 8px !important; }
  .inner { padding-left: 16px !important; padding-right: 16px !important; }
}`;

export function htmlOf(figures: MailFigures): string {
  const { name, every, period, scope, results, others, unhappy, happy } = figures;
  const followUps = followUpsInWords(figures);
  const body = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${subjectOf(figures)}</title>
<style>STYLE</style></head>
<body class="page" style="margin:0;padding:0;background-color:#f6f7f9">
<div style="display:none;max-height:0;overflow:hidden">${preheader(figures)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background-color:#f6f7f9"><tr><td class="outer" align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">
<tr><td style="padding:0 4px 16px">
<h1 class="text" style="margin:0;font-size:22px;line-height:28px;color:#1a2130">${name}</h1>
<p class="quiet" style="margin:4px 0 0;font-size:15px;line-height:22px;color:#566176">${inWords(every, period)}${scope !== undefined && ` · ${scope}`}</p>
</td></tr>
${results.length === 0 && card(html`<p class="text" style="${plain}">${nobodyAsked(every)}</p>`)}
${results.map((one) => card(resultView(one, every)))}
${others > 0 && html`<tr><td class="quiet" style="padding:0 4px 16px;font-size:14px;line-height:20px;color:#566176">${othersInWords(others)}</td></tr>`}
${unhappy.length > 0 && card(commentsView('Unhappy customers', 'unhappy', unhappy))}
${happy.length > 0 && card(commentsView('Happy customers', 'happy', happy))}
${followUps.length > 0 && card(followUpsView(figures, followUps))}
<tr><td class="quiet" style="padding:4px 4px 0;font-size:12px;line-height:18px;color:#566176">${footer}</td></tr>
</table></td></tr></table></body></html>
`;
  // The template has no values inside styles; this constant text is put in afterwards.
  return markupOf(body).replace('<style>STYLE</style>', () => `<style>${dark}</style>`);
}

const plain = 'margin:0;font-size:15px;line-height:22px;color:#1a2130';
const small = 'margin:0;font-size:14px;line-height:20px;color:#566176';
const heading = 'margin:0 0 12px;font-size:16px;line-height:22px;color:#1a2130';

/** The text that lists of mails show beside the subject. */
function preheader({ results, every }: MailFigures): string {
  const [first] = results;
  return first ? `${changeOf(first, every).words}. ${answersOf(first, every)}.` : nobodyAsked(every);
}

function card(content: Html): Html {
  return html`<tr><td style="padding:0 0 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="background-color:#ffffff;border:1px solid #d9dee6;border-radius:10px;border-collapse:separate"><tr><td class="inner" style="padding:20px 24px">
${content}
</td></tr></table></td></tr>`;
}

function resultView(result: Result, every: MailFigures['every']): Html {
  const { row } = result;
  const { words, by } = changeOf(result, every);
  const tone = by > 0 ? 'up' : by < 0 ? 'down' : 'quiet';
  const color = by > 0 ? '#136c3a' : by < 0 ? '#a61b29' : '#566176';
  return html`<h2 class="text" style="${heading}">${row.name}</h2>
${
  row.measure !== null &&
  html`<p class="text" style="margin:0;font-size:32px;line-height:38px;font-weight:700;color:#1a2130">${figureOf(resultOf(row.now, row.measure), row.measure)} <span class="quiet" style="font-size:15px;font-weight:400;color:#566176">${nameOf(row.measure)}${row.measure === 'avg' && ` of ${row.scale.at(-1) ?? '–'}`}${isOfFew(result) && ` · ${ofFew}`}</span></p>
<p class="${tone}" style="margin:2px 0 0;font-size:15px;line-height:22px;color:${color}">${words}</p>`
}
<p class="text" style="${plain};padding-top:4px">${answersOf(result, every)}</p>
${chart(result, every)}`;
}

/** A bar for each period, the last one in the colour of the present. */
function chart({ row, trend }: Result, every: MailFigures['every']): Content {
  const range = rangeOf(row);
  if (range === undefined || trend.filter(({ figure }) => figure !== null).length < 2) return undefined;
  const [low, high] = range;
  const told = trend.map(({ period, figure }) => `${labelOf(every, period)} ${figureOf(figure, row.measure)}`);
  const columns = trend.map(({ period, figure }, i) => {
    const share = figure === null ? 0 : Math.min(1, Math.max(0, (figure - low) / (high - low)));
    const height = figure === null ? 1 : Math.max(2, Math.round(share * barHeight));
    const isNow = i === trend.length - 1;
    return html`<td width="16%" align="center" valign="bottom" style="padding:0 4px;vertical-align:bottom">
<div class="${isNow ? 'text' : 'quiet'}" style="font-size:12px;line-height:16px;color:${isNow ? '#1a2130' : '#566176'}">${figureOf(figure, row.measure)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td class="${isNow ? 'now' : 'bar'}" height="${height}" style="height:${height}px;line-height:${height}px;font-size:1px;background-color:${isNow ? '#1d4fc4' : '#c3d0ee'};border-radius:3px 3px 0 0">&nbsp;</td></tr></table>
<div class="quiet" style="padding-top:4px;font-size:12px;line-height:16px;color:#566176;white-space:nowrap">${labelOf(every, period)}</div></td>`;
  });
  return html`<table role="img" aria-label="${nameOf(row.measure)} ${every} by ${every}: ${told.join(', ')}" width="100%" cellpadding="0" cellspacing="0" style="margin-top:16px;table-layout:fixed"><tr>${columns}</tr></table>`;
}

function commentsView(title: string, tone: 'unhappy' | 'happy', comments: readonly MailComment[]): Html {
  const color = tone === 'unhappy' ? '#a61b29' : '#136c3a';
  return html`<h2 class="text" style="${heading}">${title}</h2>
${comments.map(
  (
    one,
    i,
  ) => html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top:${i === 0 ? 0 : 14}px"><tr><td class="${tone}" style="padding:0 0 0 12px;border-left:3px solid ${color}">
<p class="text" style="${plain}">${linesOf(cut(one.comment))}</p>
<p class="quiet" style="${small}">${aboutComment(one)}${link(one.url, `Open the ${one.noun}`, ' · ')}</p>
</td></tr></table>`,
)}`;
}

function followUpsView({ open }: MailFigures, lines: readonly string[]): Html {
  return html`<h2 class="text" style="${heading}">Follow-ups</h2>
${lines.map((line) => html`<p class="text" style="${plain}">${line}</p>`)}
${open.length > 0 && html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top:12px">${open.map(openView)}</table>`}`;
}

function openView(one: OpenFollowUp): Html {
  const at = webAddress(one.url);
  const shown =
    at === undefined ? one.record : html`<a class="link" href="${at}" style="color:#1d4fc4">${one.record}</a>`;
  const { tone, color } = one.isOverdue ? { tone: 'down', color: '#a61b29' } : { tone: 'quiet', color: '#566176' };
  return html`<tr><td class="line text" style="padding:8px 12px 8px 0;border-top:1px solid #d9dee6;font-size:14px;line-height:20px;color:#1a2130;white-space:nowrap" valign="top">${shown}</td>
<td class="line ${tone}" width="100%" style="padding:8px 0;border-top:1px solid #d9dee6;font-size:14px;line-height:20px;color:${color}" valign="top">${openInWords(one)}</td></tr>`;
}

function link(url: string | undefined, words: string, before: string): Content {
  const at = webAddress(url);
  return at !== undefined && html`${before}<a class="link" href="${at}" style="color:#1d4fc4">${words}</a>`;
}

function linesOf(text: string): Content {
  return text.split(/\r?\n/).map((line, i) => (i === 0 ? line : html`<br>${line}`));
}
