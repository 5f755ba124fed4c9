import type { RunningProcess } from '../../operations/processes.ts';
import type { AuditEntry } from '../audit.ts';
import { type Html, html } from '../html.ts';
import { time } from '../times.ts';

interface Settings {
  processes: readonly RunningProcess[];
  entries: readonly AuditEntry[];
  logins: readonly AuditEntry[];
  timeZone: string;
}

export function settingsView({ processes, entries, logins, timeZone }: Settings): Html {
  return html`<h2>Processes</h2>
${processes.length === 0 ? html`<p>No other process tells of itself.</p>` : processTable(processes, timeZone)}
<h2>What people did here</h2>
${entries.length === 0 ? html`<p>Nothing yet.</p>` : auditTable('What people did here', entries, timeZone)}
${
  logins.length > 0 &&
  html`<h2>Logins</h2>
${auditTable('Logins', logins, timeZone)}`
}`;
}

function processTable(processes: readonly RunningProcess[], timeZone: string): Html {
  return html`<div class="wide" role="region" aria-label="Processes" tabindex="0"><table>
<thead><tr><th scope="col">Process</th><th scope="col">Role</th><th scope="col">Version</th><th scope="col">Configuration</th><th scope="col">Since</th></tr></thead>
<tbody>${processes.map(
    ({ host, pid, role, version, configuration, startedAt }) =>
      html`<tr><th scope="row">${host} ${pid}</th><td>${role}</td><td>${version}</td><td>${configuration}</td><td>${time(startedAt, timeZone)}</td></tr>`,
  )}</tbody></table></div>`;
}

function auditTable(name: string, entries: readonly AuditEntry[], timeZone: string): Html {
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">About</th></tr></thead>
<tbody>${entries.map(
    ({ at, who, what, about }) =>
      html`<tr><td>${time(at, timeZone)}</td><td>${who}</td><td>${what}</td><td class="ref">${about}</td></tr>`,
  )}</tbody></table></div>`;
}
