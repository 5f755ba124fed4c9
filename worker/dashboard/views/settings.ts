import type { OpenDay } from '../../../core/schedule/open-days.ts';
import type { RunningProcess } from '../../operations/processes.ts';
import type { LastCheck } from '../../preflight/last-check.ts';
import { stretchesOf } from '../../support/rule-weeks.ts';
import type { AuditEntry } from '../audit.ts';
import { type Content, type Html, html } from '../html.ts';
import { time } from '../times.ts';
import { table } from './table.ts';

export interface ShownRule {
  source: string;
  name: string;
  sentence: string;
  /** For each of the rule's campaigns the coming days, or why they can't be shown. */
  weeks: readonly { campaign: number; days?: readonly OpenDay[]; why?: string }[];
}

interface Settings {
  /** The sources in test mode. */
  tests: readonly string[];
  rules: readonly ShownRule[];
  check: LastCheck | undefined;
  processes: readonly RunningProcess[];
  entries: readonly AuditEntry[];
  logins: readonly AuditEntry[];
  timeZone: string;
}

export function settingsView({ tests, rules, check, processes, entries, logins, timeZone }: Settings): Html {
  return html`${tests.map((why) => html`<p class="notice">${why}</p>`)}
<h2>Rules</h2>
<p class="quiet">The first rule of a source that fits a closing decides. Hours in ${timeZone}.</p>
${rules.map((rule) => ruleView(rule, timeZone, rules.length <= fewRules))}
<h2>Last check</h2>
${checkView(check, timeZone)}
<h2>Processes</h2>
${processes.length === 0 ? html`<p>No other process tells of itself.</p>` : processTable(processes, timeZone)}
<h2>What people did here</h2>
${entries.length === 0 ? html`<p>Nothing yet.</p>` : auditTable('What people did here', entries, timeZone)}
${logins.length > 0 && html`<h2>Logins</h2>\n${auditTable('Logins', logins, timeZone)}`}`;
}

/** With up to so many rules their weeks are shown open; with more rules a person opens each week. */
const fewRules = 2;

function ruleView({ source, name, sentence, weeks }: ShownRule, timeZone: string, isOpen: boolean): Html {
  const all = weeks.map(({ campaign, days, why }) =>
    days
      ? weekTable(`${source}, ${name}, campaign ${campaign}`, days, timeZone)
      : html`<p class="notice">The hours of campaign ${campaign} can't be shown: ${why}</p>`,
  );
  const summary = html`<summary>When it may ask in the coming week</summary>`;
  return html`<section class="rule"><h3>${source}: ${name}</h3>
<p>${sentence}</p>
${isOpen ? html`<details open>${summary}${all}</details>` : html`<details>${summary}${all}</details>`}</section>`;
}

function weekTable(name: string, days: readonly OpenDay[], timeZone: string): Html {
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table class="week">
<thead><tr><th scope="col">Day</th><th scope="col">Hours</th><th scope="col"><span class="hours" aria-hidden="true"><span>0</span><span>6</span><span>12</span><span>18</span><span>24</span></span><span class="unseen">Picture</span></th></tr></thead>
<tbody>${days.map((day) => dayRow(day, timeZone))}</tbody></table></div>`;
}

function dayRow(day: OpenDay, timeZone: string): Html {
  const { date, weekday, holiday, clockChange } = day;
  const open = stretchesOf(day, timeZone);
  const hours = open.map(([from, until]) => `${clock(from)}–${clock(until)}`).join(', ');
  const notes = [holiday, clockChange && `clocks go ${clockChange.minutes > 0 ? 'forward' : 'back'}`];
  return html`<tr><th scope="row">${weekday.charAt(0).toUpperCase()}${weekday.slice(1)} ${date.slice(5)}</th>
<td>${hours === '' ? 'closed' : hours}${notes.map((note) => note && html` <span class="quiet">${note}</span>`)}</td>
<td><svg viewBox="0 0 1440 60" preserveAspectRatio="none" aria-hidden="true"><rect class="closed" width="1440" height="60"></rect>${open.map(stretch)}</svg></td></tr>`;
}

function stretch([from, until]: readonly [number, number]): Content {
  return html`<rect class="open" x="${from / minuteMs}" width="${(until - from) / minuteMs}" height="60"></rect>`;
}

const minuteMs = 60_000;

function clock(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

function checkView(check: LastCheck | undefined, timeZone: string): Html {
  if (check === undefined)
    return html`<p class="notice">Nobody has run <code>closeloop check</code> yet: it looks at keys, campaigns, fields and webhooks.</p>`;
  const { at, only, findings } = check;
  const heading = html`<p><code>closeloop check${only !== undefined && ` --source ${only}`}</code>, ${time(at, timeZone)}</p>`;
  if (findings.length === 0) return html`${heading}<p class="notice good">It found nothing.</p>`;
  return html`${heading}<ul class="notices">${findings.map(
    (one) =>
      html`<li class="notice ${one.level === 'error' && 'bad'}"><p><strong>${one.level}: ${one.source}: ${one.at}</strong></p><p>${one.problem}</p><p class="quiet">${one.remedy}</p></li>`,
  )}</ul>`;
}
function processTable(processes: readonly RunningProcess[], timeZone: string): Html {
  return table({
    name: 'Processes',
    columns: ['Process', 'Role', 'Version', 'Configuration', 'Since'].map((name) => ({ name })),
    rows: processes.map(({ host, pid, role, version, configuration, startedAt }) => [
      ...[`${host} ${pid}`, role, version, configuration],
      time(startedAt, timeZone),
    ]),
  });
}

function auditTable(name: string, entries: readonly AuditEntry[], timeZone: string): Html {
  return table({
    name,
    columns: [{ name: 'When' }, { name: 'Who' }, { name: 'What' }, { name: 'About', kind: 'ref' }],
    rows: entries.map(({ at, who, what, about }) => [time(at, timeZone), who, what, about]),
  });
}
