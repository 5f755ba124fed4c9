import type { FastifyInstance } from 'fastify';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import type { OpenDay } from '../../core/schedule/open-days.ts';
import { dateText, wallTime } from '../../core/schedule/wall-clock.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import type { Rule } from '../config/rule.ts';
import { testLines } from '../config/test-mode.ts';
import { type RunningProcess, runningProcesses } from '../operations/processes.ts';
import type { CampaignCache } from '../pipeline/open-service.ts';
import { type LastCheck, lastCheck } from '../preflight/last-check.ts';
import { comingDays, stretchesOf } from '../support/rule-weeks.ts';
import { Audit, type AuditEntry } from './audit.ts';
import { type Content, type Html, html } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import { serviceThere } from './readings.ts';
import { ruleInWords } from './rule-in-words.ts';
import { time } from './times.ts';
import { named, table } from './views/table.ts';

const shownEntries = 100;
const shownDays = 7;

/** `/settings`: the rules in words with their hours, the findings of `check`, the running processes, and the audit log. */
export function showSettings(
  app: FastifyInstance,
  { redis, config, engine, now }: Pick<DashboardOptions, 'redis' | 'config' | 'engine' | 'now'>,
): void {
  const audit = new Audit(redis);
  app.get('/settings', async (_request, reply) => {
    const [processes, entries, logins, check, rules] = await Promise.all([
      runningProcesses(redis),
      audit.last(shownEntries),
      new Audit(redis, 'audit-logins').last(shownEntries),
      lastCheck(redis),
      rulesOf(config(), { engine }, now()),
    ]);
    const { timeZone } = config().feedback;
    const body = settingsView({ tests: testLines(config()), rules, check, processes, entries, logins, timeZone });
    return await show(reply, { title: 'Settings', section: '/settings', body });
  });
}

async function rulesOf(config: Config, { engine }: Pick<DashboardOptions, 'engine'>, now: Date): Promise<ShownRule[]> {
  const { problem } = await serviceThere({ engine });
  const { pipelines } = engine();
  const { timeZone } = config.feedback;
  const first = dateText(wallTime(timeZone, now.getTime()).date);
  const all = config.sources.flatMap(({ name: source, rules }) => rules.map((rule) => ({ source, rule })));
  return await Promise.all(
    all.map(async ({ source, rule }) => {
      const cache = pipelines.get(source)?.context.campaigns;
      const campaigns = await campaignsOf(rule, problem === undefined ? cache : undefined);
      const names = new Map(campaigns.flatMap(({ id, campaign }) => (campaign ? [[id, campaign.name] as const] : [])));
      const weeks = campaigns.map(({ id, campaign, why = problem ?? 'it is not known here' }) => {
        try {
          if (!campaign) return { campaign: id, why };
          return { campaign: id, days: comingDays(rule, campaign, config, { first, count: shownDays }) };
        } catch (error) {
          if (!(error instanceof CloseloopError)) throw error;
          return { campaign: id, why: messageOf(error) };
        }
      });
      return { source, name: rule.name, sentence: ruleInWords(rule, names), weeks };
    }),
  );
}

/** The rule's campaigns as they were last read; `why` says why a campaign can't be shown. */
async function campaignsOf(rule: Rule, cache: CampaignCache | undefined) {
  return await Promise.all(
    campaignNumbers([rule]).map(async (id) => {
      try {
        return { id, campaign: await cache?.get(id) };
      } catch (error) {
        if (!(error instanceof CloseloopError)) throw error;
        return { id, why: messageOf(error) };
      }
    }),
  );
}

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
    columns: ['Process', 'Role', 'Version', 'Configuration', 'Since'],
    rows: processes.map(({ host, pid, role, version, configuration, startedAt }) => [
      ...[`${host} ${pid}`, role, version, configuration],
      time(startedAt, timeZone),
    ]),
  });
}

function auditTable(name: string, entries: readonly AuditEntry[], timeZone: string): Html {
  return table({
    name,
    columns: ['When', 'Who', 'What', named('About')],
    rows: entries.map(({ at, who, what, about }) => [time(at, timeZone), who, what, about]),
  });
}
