import { randomBytes } from 'node:crypto';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { scrip } from '../../../connectors/request-tracker/preflight.ts';
import { freePort } from '../../support/free-port.ts';
import { type Call, callsAs } from './call.ts';
import { copyInto, debianRoot, inside, makeDataFolder, runInside } from './debian-root.ts';
import { madeOnce } from './made-once.ts';
import { startServer } from './server.ts';

const sources = join(import.meta.dirname, 'request-tracker');
const packages = [
  'request-tracker5',
  'rt5-db-sqlite',
  'rt5-standalone',
  'dbconfig-no-thanks',
  'sqlite3',
  'libplack-perl',
];

const Provisioned = z.object({
  tokens: z.object({ admin: z.string(), agent: z.string(), noRights: z.string() }),
  /** Ids of the custom fields by their names. */
  fields: z.record(z.string(), z.number()),
});
const Made = Provisioned.extend({ adminPassword: z.string(), agentPassword: z.string() });

export interface RequestTracker {
  /** The address of the web pages. The API is at `/REST/2.0` below this address. */
  baseUrl: string;
  queue: string;
  /** Ids of the custom fields by their names. */
  fields: Readonly<Record<string, number>>;
  /** closeloop's own user, with the rights that its page asks for. */
  agent: { user: string; password: string; token: string };
  /** Of a colleague who may see nothing. */
  noRightsToken: string;
  /** What the scrip signs with. */
  hookSecret: string;
  /** An owner at work, logged in as in a browser. */
  person: RequestTrackerPerson;
  log: string;
  stop(options?: { keepLog: boolean }): Promise<void>;
}

/** Request Tracker 5 of Debian's packages, with its data as an owner has prepared it. @param hook where the scrip tells of changes */
export async function startRequestTracker({ hook = '' }: { hook?: string } = {}): Promise<RequestTracker> {
  const root = await debianRoot('request-tracker', { packages, updates: true });
  const first = await firstData(root);
  const made = Made.parse(JSON.parse(await readFile(join(first, 'made.json'), 'utf8')));
  const data = await makeDataFolder(root);
  await copyInto(data, join(first, 'rt.db'), 'rt.db');
  await copyInto(data, join(sources, 'RT_SiteConfig.pm'), 'RT_SiteConfig.pm');
  const port = await freePort();
  const hookSecret = randomBytes(32).toString('hex');
  const baseUrl = `http://127.0.0.1:${port}`;
  const env = settings(data.inside, { port: String(port), hook, key: hookSecret });
  // Several workers: a hook may be answered by somebody who reads the ticket at once.
  const program = ['perl', '/usr/share/request-tracker5/libexec/rt-server'];
  const server = await startServer({
    name: 'request-tracker',
    command: inside(root, env, [
      ...program,
      '--listen',
      `127.0.0.1:${port}`,
      '--max-workers',
      '4',
      '--max-reqs-per-child',
      '100000',
    ]),
    isReady: async () => (await fetch(`${baseUrl}/REST/2.0/rt`)).status === 401,
  });
  return {
    baseUrl,
    queue: 'Support',
    fields: made.fields,
    agent: { user: 'closeloop', password: made.agentPassword, token: made.tokens.agent },
    noRightsToken: made.tokens.noRights,
    hookSecret,
    person: await logIn(baseUrl, made.adminPassword),
    log: server.log,
    async stop(options) {
      await server.stop(options);
      await rm(data.outside, { recursive: true });
    },
  };
}

/** What its configuration takes from the environment. It is the only one: nothing else is in the folder of further ones. */
function settings(folder: string, more: { port?: string; hook?: string; key?: string } = {}): Record<string, string> {
  const { port = '', hook = '', key = '' } = more;
  const configuration = { RT_SITE_CONFIG: `${folder}/RT_SiteConfig.pm`, RT_SITE_CONFIG_DIR: '/var/empty' };
  const values = {
    CLOSELOOP_DATABASE: `${folder}/rt.db`,
    CLOSELOOP_PORT: port,
    CLOSELOOP_HOOK: hook,
    CLOSELOOP_KEY: key,
  };
  return { ...configuration, ...values };
}

/** The database as an owner has prepared it, and what was made for that. */
async function firstData(root: string): Promise<string> {
  const script = await readFile(join(sources, 'provision.pl'), 'utf8');
  return await madeOnce('request-tracker-data', [root, script, scrip], async (draft) => {
    const data = await makeDataFolder(root);
    try {
      await copyInto(data, join(sources, 'RT_SiteConfig.pm'), 'RT_SiteConfig.pm');
      await copyInto(data, join(sources, 'provision.pl'), 'provision.pl');
      const env = settings(data.inside);
      await runInside(root, env, ['rt-setup-database-5', '--action', 'init', '--skip-create']);
      const passwords = {
        adminPassword: randomBytes(12).toString('hex'),
        agentPassword: randomBytes(12).toString('hex'),
      };
      const said = await runInside(
        root,
        env,
        ['perl', `${data.inside}/provision.pl`],
        JSON.stringify({ ...passwords, scrip }),
      );
      const made = Made.parse({ ...Provisioned.parse(JSON.parse(said)), ...passwords });
      await writeFile(join(draft, 'made.json'), JSON.stringify(made), { mode: 0o600 });
      await copyFile(join(data.outside, 'rt.db'), join(draft, 'rt.db'));
    } finally {
      await rm(data.outside, { recursive: true });
    }
  });
}

async function logIn(baseUrl: string, password: string) {
  const body = new URLSearchParams({ user: 'root', pass: password });
  const answer = await fetch(`${baseUrl}/NoAuth/Login.html`, { method: 'POST', body, redirect: 'manual' });
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  if (cookie === '') throw new Error(`Request Tracker let nobody in: ${answer.status}`);
  return personOf(callsAs(`${baseUrl}/REST/2.0`, { cookie }));
}

export type RequestTrackerPerson = ReturnType<typeof personOf>;

const Said = z.array(z.string());
const Rows = <S extends z.ZodType>(row: S) => z.object({ items: z.array(row) });
const Id = z.coerce.string();
const Ref = z.object({ id: Id });

const Ticket = z.object({
  id: Id,
  Subject: z.string(),
  Status: z.string(),
  Resolved: z.string(),
  LastUpdated: z.string(),
  Requestor: z.array(Ref),
  CustomFields: z.array(z.object({ name: z.string(), values: z.array(z.string()) })),
});

const Transaction = z
  .object({
    id: Id,
    Type: z.string(),
    Field: z.string(),
    OldValue: z.string(),
    NewValue: z.string(),
    Created: z.string(),
    Creator: Ref,
  })
  .transform((one) => ({
    id: one.id,
    type: one.Type,
    field: one.Field,
    from: one.OldValue,
    to: one.NewValue,
    at: one.Created,
    by: one.Creator.id,
  }));

const Attachment = z.object({ TransactionId: Id, Subject: z.string(), Content: z.string() });

interface NewTicket {
  subject: string;
  /** Its e-mail address. */
  customer: string;
  queue?: string;
  /** Its custom fields, by their names. */
  fields?: Record<string, string>;
}

/** What a person does on the web pages, through the same server's API. */
function personOf(call: Call) {
  const setStatus = async (id: string, status: string) => {
    await call(Said, 'PUT', `/ticket/${id}`, { Status: status });
  };
  const transactions = async (id: string) => {
    const fields = 'Type,Field,OldValue,NewValue,Created,Creator';
    return (await call(Rows(Transaction), 'GET', `/ticket/${id}/history?fields=${fields}&per_page=100`)).items;
  };
  return {
    /** Any other call of the API. */
    call,
    /** A customer's user; e-mail addresses of new tickets make one by themselves. */
    async addCustomer(
      email: string,
      more: { RealName?: string; Lang?: string; Timezone?: string; MobilePhone?: string },
    ) {
      await call(z.unknown(), 'POST', '/user', { Name: email, EmailAddress: email, Privileged: 0, ...more });
    },
    async addQueue(name: string): Promise<void> {
      await call(z.unknown(), 'POST', '/queue', { Name: name });
    },
    async addTicket({ subject, customer, queue = 'Support', fields = {} }: NewTicket): Promise<string> {
      const ticket = { Subject: subject, Requestor: customer, Queue: queue, CustomFields: fields };
      return (await call(Ref, 'POST', '/ticket', { ...ticket, Content: 'Please help.', ContentType: 'text/plain' })).id;
    },
    setStatus,
    resolve: (id: string) => setStatus(id, 'resolved'),
    reopen: (id: string) => setStatus(id, 'open'),
    async resolveAll(ids: readonly string[]): Promise<void> {
      await call(
        z.unknown(),
        'PUT',
        '/tickets/bulk',
        ids.map((id) => ({ id: Number(id), Status: 'resolved' })),
      );
    },
    /** Afterwards `id` leads to `into`. */
    async merge(id: string, into: string): Promise<void> {
      await call(Said, 'PUT', `/ticket/${id}`, { MergeInto: Number(into) });
    },
    async remove(id: string): Promise<void> {
      await call(z.undefined(), 'DELETE', `/ticket/${id}`);
    },
    /** Changes any of its attributes, by their names in the API: `Subject`, `Queue`, `Owner`, `CustomFields` … */
    async edit(id: string, change: object): Promise<void> {
      await call(Said, 'PUT', `/ticket/${id}`, change);
    },
    /** A private comment of their own. */
    async comment(id: string, content: string): Promise<void> {
      await call(Said, 'POST', `/ticket/${id}/comment`, { Content: content, ContentType: 'text/plain' });
    },
    /** The user, by the API's names: `Disabled`, `Timezone`, `Lang`, `EmailAddress` … */
    async changeUser(name: string, change: object): Promise<void> {
      await call(Said, 'PUT', `/user/${encodeURIComponent(name)}`, change);
    },
    /** The ticket that stands there now, which is another one after a merge. */
    async read(id: string) {
      const ticket = await call(Ticket, 'GET', `/ticket/${id}`);
      return {
        id: ticket.id,
        subject: ticket.Subject,
        status: ticket.Status,
        resolvedAt: ticket.Resolved,
        updatedAt: ticket.LastUpdated,
        customers: ticket.Requestor.map((one) => one.id),
        fields: Object.fromEntries(ticket.CustomFields.map(({ name, values }) => [name, values])),
      };
    },
    transactions,
    /** Its private comments, oldest first. */
    async comments(id: string) {
      const by = new Map(
        (await transactions(id)).filter(({ type }) => type === 'Comment').map((one) => [one.id, one.by]),
      );
      const fields = 'Subject,Content,TransactionId';
      const { items } = await call(Rows(Attachment), 'GET', `/ticket/${id}/attachments?fields=${fields}&per_page=100`);
      return items.flatMap(({ TransactionId, Subject, Content }) => {
        const writer = by.get(TransactionId);
        return writer === undefined ? [] : [{ by: writer, subject: Subject, content: Content }];
      });
    },
  };
}
