import { randomBytes } from 'node:crypto';
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { freePort } from '../../support/free-port.ts';
import { type Call, callsAs } from './call.ts';
import { copyInto, debianRoot, inside, makeDataFolder, runInside } from './debian-root.ts';
import { madeOnce } from './made-once.ts';
import { startServer } from './server.ts';

const script = join(import.meta.dirname, 'redmine/provision.rb');
const root = {
  packages: ['redmine', 'redmine-sqlite', 'puma', 'sqlite3'],
  // With ruby3.1 of the security updates Debian 12's own package can't be set up.
  updates: false,
  files: {
    'etc/redmine/default/database.yml':
      'production: { adapter: sqlite3, database: "<%= ENV[\'CLOSELOOP_DATABASE\'] %>", timeout: 20000 }\n',
    // No mail leaves this machine.
    'etc/redmine/default/configuration.yml': 'default:\n  email_delivery:\n    delivery_method: :test\n',
  },
  writable: ['var/cache/redmine/default', 'var/log/redmine/default', 'var/lib/redmine/default/files'],
};

const Made = z.object({
  /** Ids of the custom fields by their names. */
  fields: z.record(z.string(), z.number()),
  keys: z.object({ admin: z.string(), agent: z.string(), noRights: z.string() }),
  users: z.object({ customer: z.number(), agent: z.number() }),
  /** Ids by their names: New, In Progress, Resolved, Feedback, Closed, Rejected. */
  statuses: z.record(z.string(), z.number()),
});
type Made = z.output<typeof Made>;

export interface Redmine extends Pick<Made, 'fields' | 'users' | 'statuses'> {
  baseUrl: string;
  project: string;
  /** closeloop's own, with the rights that its page asks for. */
  agentKey: string;
  /** Of a colleague who may see nothing. */
  noRightsKey: string;
  /** An administrator's, who sees e-mail addresses and the kinds of custom fields. */
  adminKey: string;
  /** The file of its database. */
  database: string;
  /** An owner at work. */
  person: RedminePerson;
  log: string;
  stop(options?: { keepLog: boolean }): Promise<void>;
}

/** Redmine of Debian's packages, with its data as an owner has prepared it. */
export async function startRedmine(): Promise<Redmine> {
  const place = await debianRoot('redmine', root);
  const first = await firstData(place);
  const { keys, ...made } = Made.parse(JSON.parse(await readFile(join(first, 'made.json'), 'utf8')));
  const data = await makeDataFolder(place);
  await copyInto(data, join(first, 'redmine.db'), 'redmine.db');
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const puma = `cd /usr/share/redmine && exec puma -e production -t 1:5 -b tcp://127.0.0.1:${port} config.ru`;
  const server = await startServer({
    name: 'redmine',
    command: inside(place, settings(data.inside), ['sh', '-c', puma]),
    isReady: async () => (await fetch(`${baseUrl}/users/current.json`)).status === 401,
  });
  return {
    ...made,
    baseUrl,
    project: 'support',
    agentKey: keys.agent,
    noRightsKey: keys.noRights,
    adminKey: keys.admin,
    database: join(data.outside, 'redmine.db'),
    person: personOf(callsAs(baseUrl, { 'x-redmine-api-key': keys.admin }), made),
    log: server.log,
    async stop(options) {
      await server.stop(options);
      await rm(data.outside, { recursive: true });
    },
  };
}

function settings(folder: string): Record<string, string> {
  return {
    RAILS_ENV: 'production',
    REDMINE_LANG: 'en',
    REDMINE_INSTANCE: 'default',
    CLOSELOOP_DATABASE: `${folder}/redmine.db`,
  };
}

/** The database as an owner has prepared it, and what was made for that. */
async function firstData(place: string): Promise<string> {
  return await madeOnce('redmine-data', [place, await readFile(script, 'utf8')], async (draft) => {
    const data = await makeDataFolder(place);
    try {
      await copyInto(data, script, 'provision.rb');
      const passwords = {
        adminPassword: randomBytes(12).toString('hex'),
        agentPassword: randomBytes(12).toString('hex'),
      };
      const made = `${data.inside}/made.json`;
      const env = { ...settings(data.inside), CLOSELOOP_OUT: made };
      // The schema's file is root's. Three processes: the default data needs the columns that the migrations made.
      const steps = [
        'SCHEMA=/dev/null rake -s db:migrate',
        'rake redmine:load_default_data',
        `rails runner ${data.inside}/provision.rb`,
      ];
      await runInside(
        place,
        env,
        ['sh', '-c', `cd /usr/share/redmine && ${steps.join(' && ')}`],
        JSON.stringify(passwords),
      );
      for (const name of ['made.json', 'redmine.db']) await copyFile(join(data.outside, name), join(draft, name));
    } finally {
      await rm(data.outside, { recursive: true });
    }
  });
}

export type RedminePerson = ReturnType<typeof personOf>;

const Named = z.object({ id: z.number(), name: z.string() });
const Issue = z.object({
  issue: z.object({
    id: z.number(),
    subject: z.string(),
    status: Named.extend({ is_closed: z.boolean() }),
    closed_on: z.string().nullable(),
    updated_on: z.string(),
    custom_fields: z.array(Named.extend({ value: z.union([z.string(), z.array(z.string())]).nullable() })),
    journals: z
      .array(
        z.object({
          id: z.number(),
          user: Named,
          notes: z.string().nullable(),
          private_notes: z.boolean(),
          created_on: z.string(),
          details: z.array(
            z.object({ name: z.string(), old_value: z.string().nullish(), new_value: z.string().nullish() }),
          ),
        }),
      )
      .default([]),
  }),
});

interface NewIssue {
  subject: string;
  /** For the custom field "Customer e-mail". */
  customer: string;
}

/** What an administrator does on the web pages, through the same server's API. */
function personOf(call: Call, { fields, statuses }: Pick<Made, 'fields' | 'statuses'>) {
  const valuesOf = (values: Record<string, string>) =>
    Object.entries(values).map(([name, value]) => ({ id: fields[name] ?? missing(name), value }));
  const edit = async (id: string, change: object) => {
    await call(z.undefined(), 'PUT', `/issues/${id}.json`, { issue: change });
  };
  const setStatus = (id: string, name: string) => edit(id, { status_id: statuses[name] ?? missing(name) });
  const read = async (id: string) => (await call(Issue, 'GET', `/issues/${id}.json?include=journals`)).issue;
  return {
    /** Any other call of the API. */
    call,
    async addIssue({ subject, customer }: NewIssue): Promise<string> {
      const issue = {
        project_id: 'support',
        tracker_id: 1,
        subject,
        custom_fields: valuesOf({ 'Customer e-mail': customer }),
      };
      return String((await call(Issue, 'POST', '/issues.json', { issue })).issue.id);
    },
    /** By its name. */
    setStatus,
    close: (id: string) => setStatus(id, 'Closed'),
    reopen: (id: string) => setStatus(id, 'In Progress'),
    /** Any of its attributes, by their names in the API. */
    edit,
    async setFields(id: string, values: Record<string, string>): Promise<void> {
      await edit(id, { custom_fields: valuesOf(values) });
    },
    async comment(id: string, notes: string): Promise<void> {
      await edit(id, { notes, private_notes: true });
    },
    /** Not the newest one: SQLite gives its id to the next. */
    async remove(id: string): Promise<void> {
      await call(z.undefined(), 'DELETE', `/issues/${id}.json`);
    },
    async read(id: string) {
      const { subject, status, closed_on, updated_on, custom_fields } = await read(id);
      return {
        subject,
        status: status.name,
        isClosed: status.is_closed,
        closedAt: closed_on,
        updatedAt: updated_on,
        fields: Object.fromEntries(custom_fields.map(({ name, value }) => [name, value])),
      };
    },
    /** Each change, oldest first. */
    async changes(id: string) {
      const { journals } = await read(id);
      return journals.flatMap(({ user, created_on, details }) =>
        details.map((one) => ({ by: user.id, at: created_on, what: one.name, from: one.old_value, to: one.new_value })),
      );
    },
    /** Notes, oldest first. */
    async notes(id: string) {
      const written = (await read(id)).journals.filter(({ notes }) => notes !== null && notes !== '');
      return written.map(({ user, notes, private_notes }) => ({ by: user.id, text: notes, isPrivate: private_notes }));
    },
  };
}

function missing(name: string): never {
  throw new Error(`Redmine has nothing that is called "${name}"`);
}
