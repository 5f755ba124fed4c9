// A real Redmine for the suite: its database on this machine for what the suite asks synchronously, and a proxy that counts and breaks calls.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'closeloop';

/** Where it runs (`url`, the keys by `admin`, `agent` and `noRights`), and the file of its database. */
const Started = z.object({
  url: z.string(),
  keys: z.object({ admin: z.string(), agent: z.string(), noRights: z.string() }),
  database: z.string(),
});
const { url, keys, database } = Started.parse(JSON.parse(process.env.REDMINE ?? '{}'));

export { keys, url };

const db = new DatabaseSync(database, { timeout: 20_000 });
export const run = (sql: string, ...values: SQLInputValue[]) => void db.prepare(sql).run(...values);
export const rows = (sql: string, ...values: SQLInputValue[]) =>
  db.prepare(sql).all(...values) as Record<string, string | number | null>[];
export const one = (sql: string, ...values: SQLInputValue[]) => rows(sql, ...values)[0];

/** As an administrator. */
export async function call(method: string, path: string, body?: object) {
  const headers = { 'x-redmine-api-key': keys.admin, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const made: Record<string, string> = {
  'Feedback score': 'float',
  'Feedback at': 'string',
  'Feedback status': 'string',
};
const rolePermissions = String(one("select permissions from roles where name = 'closeloop'")?.permissions);

export const fieldId = (name: string) => Number(one('select id from custom_fields where name = ?', name)?.id);

/** Fields, rights and a closed project, as at the begin of each test. */
export async function prepare(): Promise<void> {
  for (const [name, format] of Object.entries(made)) {
    if (one('select id from custom_fields where name = ?', name)) continue;
    const { id: _, ...like } = one("select * from custom_fields where name = 'Feedback short'") ?? {};
    const all = { ...like, name, field_format: format, max_length: null };
    const names = Object.keys(all);
    run(`insert into custom_fields (${names}) values (${names.map(() => '?')})`, ...Object.values(all));
    run('insert into custom_fields_trackers select ?, id from trackers', fieldId(name));
  }
  for (const [name, format] of [
    ['Feedback score', 'float'],
    ['Feedback grade', 'int'],
  ] as const) {
    run('update custom_fields set field_format = ?, possible_values = null where name = ?', format, name);
  }
  run("delete from workflows where type = 'WorkflowPermission'");
  run(
    "update roles set permissions = ? where name = 'closeloop'",
    rolePermissions.includes('set_notes_private') ? rolePermissions : `${rolePermissions}- :set_notes_private\n`,
  );
  if (!one("select id from projects where identifier = 'over'")) {
    const { project } = await call('POST', '/projects.json', {
      project: { name: 'Over', identifier: 'over', is_public: false, enabled_module_names: ['issue_tracking'] },
    });
    const role = one("select id from roles where name = 'closeloop'")?.id;
    const agent = one("select id from users where login = 'closeloop'")?.id;
    await call('POST', `/projects/${project.id}/memberships.json`, {
      membership: { user_id: agent, role_ids: [role] },
    });
    run("update projects set status = 5 where identifier = 'over'");
  }
}

/** A new issue, as its form makes it. */
export async function open(subject: string, email: string, project = 1): Promise<string> {
  const issue = {
    project_id: project,
    tracker_id: 1,
    subject,
    custom_fields: [{ id: fieldId('Customer e-mail'), value: email }],
  };
  return String((await call('POST', '/issues.json', { issue })).issue.id);
}
export const setStatus = (id: string, status: number) =>
  call('PUT', `/issues/${id}.json`, { issue: { status_id: status } });

/** `closed_on` has whole seconds in answers: the next closing has to be in another one. */
export async function afterItsSecond(id: string): Promise<void> {
  const closedAt = one('select closed_on from issues where id = ?', id)?.closed_on;
  const until = Math.floor(Date.parse(`${closedAt}Z`) / 1000) * 1000 + 1_050;
  await pause(Math.max(0, until - Date.now()));
}

/** Closed within one second: by the API no machine is fast enough. */
export async function closeAtOnce(count: number, subject: string, email: string): Promise<string[]> {
  const first = await open(subject, email);
  await setStatus(first, 5);
  const { id: _, ...like } = one('select * from issues where id = ?', first) ?? {};
  const names = Object.keys(like);
  const at = new Date().toISOString().replace('T', ' ').slice(0, 19);
  const ids = [];
  db.exec('begin immediate');
  for (let i = 0; i < count; i++) {
    run(
      `insert into issues (${names}) values (${names.map(() => '?')})`,
      ...Object.values({ ...like, closed_on: `${at}.${String(i).padStart(6, '0')}` }),
    );
    const id = String(one('select last_insert_rowid() as id')?.id);
    run('update issues set root_id = id where id = ?', id);
    run(
      "insert into custom_values (customized_type, customized_id, custom_field_id, value) values ('Issue', ?, ?, ?)",
      id,
      fieldId('Customer e-mail'),
      email,
    );
    ids.push(id);
  }
  db.exec('commit');
  await call('DELETE', `/issues/${first}.json`);
  return ids;
}

/** What a field holds; null for nothing. */
export function valueOn(id: string, name: string): string | null {
  const found = one(
    "select value from custom_values where customized_type = 'Issue' and customized_id = ? and custom_field_id = ?",
    id,
    fieldId(name),
  );
  return found?.value == null || found.value === '' ? null : String(found.value);
}
export const journalsOn = (id: string) =>
  rows(
    "select notes, private_notes from journals where journalized_type = 'Issue' and journalized_id = ? and notes <> ''",
    id,
  );
export const historyOn = (id: string) =>
  rows(
    "select property, prop_key, old_value, value from journal_details where journal_id in (select id from journals where journalized_type = 'Issue' and journalized_id = ?)",
    id,
  );

/** The workflow makes a field read-only for everybody: Redmine takes a value with a 204, and drops it. */
export const makeReadOnly = (name: string) =>
  run(
    "insert into workflows (tracker_id, role_id, old_status_id, new_status_id, type, field_name, rule) select t.id, r.id, s.id, 0, 'WorkflowPermission', ?, 'readonly' from trackers t, roles r, issue_statuses s",
    String(fieldId(name)),
  );

export async function startProxy() {
  const proxy = {
    url: '',
    calls: 0,
    broken: undefined as ((response: ServerResponse) => void) | undefined,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  const server = createServer(async (request, response) => {
    proxy.calls++;
    if (proxy.broken) return proxy.broken(response);
    const body = await buffer(request);
    const {
      host: _,
      connection: __,
      'content-length': ___,
      'transfer-encoding': ____,
      'accept-encoding': _____,
      ...headers
    } = request.headers;
    const real = await fetch(`${url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const type = real.headers.get('content-type');
    response
      .writeHead(real.status, type === null ? {} : { 'content-type': type })
      .end(Buffer.from(await real.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return proxy;
}
