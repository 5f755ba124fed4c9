import { z } from 'zod';
import { isLoopbackHost, isSafeAddress } from '../../core/address.ts';
import { AddressRange, Period } from './values.ts';

/** A password's scrypt hash, which the configuration stores in place of the password. */
export interface PasswordHash {
  /** The hash as the configuration has it. */
  text: string;
  /** scrypt's parameters: the logarithm of its cost, and its parallelization. */
  ln: number;
  p: number;
  salt: Buffer;
  key: Buffer;
}

/** 16 bytes of salt and 32 bytes of hash, both in base64 without "=". */
const form = /^\$scrypt\$ln=(1[4-8]),r=8,p=([1-8])\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** The PHC string format. The error message quotes nothing, as a person may have written the password itself. */
export const WrittenPasswordHash = z
  .string()
  .regex(form, {
    error: ({ input }) =>
      String(input).startsWith('$scrypt$')
        ? 'is cut off or changed: put the line that "closeloop dashboard password" prints in quotes'
        : 'must be a line that "closeloop dashboard password" prints, never the password itself',
  })
  .transform(parsed);

/** Writes the hash as the configuration holds it. */
export function passwordHashText({ ln, p, salt, key }: Omit<PasswordHash, 'text'>): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=8,p=${p}$${text(salt)}$${text(key)}`;
}

function parsed(text: string): PasswordHash {
  const [, ln, p, salt = '', key = ''] = form.exec(text) ?? [];
  return {
    text,
    ln: Number(ln),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}

/** A user's role on the page: only look, or act as well. */
const dashboardRoles = ['read', 'act'] as const;
export type DashboardRole = (typeof dashboardRoles)[number];

const Origin = z
  .string()
  .refine(
    (text) => isSafeAddress(text, 'origin'),
    'must be an https address without a path, like https://closeloop.example.com',
  )
  .transform((url) => new URL(url).origin);

const RequestUrl = z
  .string()
  .refine(
    (text) => text.includes('{request}') && isSafeAddress(text.replaceAll('{request}', '1')),
    'must be an https address with {request} in it, like https://feedback.example.com/requests/{request}',
  );

const User = z.strictObject({
  name: z
    .string()
    .regex(/^\w[\w .@-]{0,63}$/, 'must be a name of letters, digits and . @ - _')
    .describe('As they log in, and as the list of what people did names them'),
  role: z.enum(dashboardRoles).describe('read: they look; act: they also pause, replay, cancel, …'),
  contacts: z
    .boolean()
    .default(false)
    .describe("Of role read: whether they see customers' addresses in full. Left out: masked. Who acts sees them"),
  password: WrittenPasswordHash.describe(
    'Of their password: the line that "closeloop dashboard password" prints, in quotes',
  ),
});
export type DashboardUser = z.output<typeof User>;

const Sessions = z.strictObject({
  idle: Period.prefault('1h').describe('A login ends when no page was opened for this long'),
  longest: Period.prefault('12h').describe('A login ends after this long, whatever was done'),
});

export const Dashboard = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('Address to listen on; one that other machines reach needs users and publicUrl'),
    port: z.int().min(0).max(65_535).optional().describe('Left out: 8082, or any free port where that is taken'),
    publicUrl: Origin.optional().describe(
      'Address that people open, where a reverse proxy with TLS passes the page on: https://closeloop.example.com',
    ),
    trustProxy: z
      .array(AddressRange)
      .default([])
      .describe('Reverse proxies whose X-Forwarded-For tells who logs in. Left out: nobody is believed'),
    requestUrl: RequestUrl.optional().describe(
      "Address of a feedback request in the service's web app, with {request} for its id: a journey's page links there",
    ),
    users: z
      .array(User)
      .default([])
      .describe('Who may log in. Left out: everybody on this machine sees the page and acts, without a login'),
    sessions: Sessions.prefault({}).describe('How long a login holds'),
  })
  .refine(({ host, users }) => isLoopbackHost(host) || users.length > 0, {
    path: ['users'],
    message:
      'must name somebody where "host" is an address that other machines reach: whoever sees the page sees customers ("closeloop dashboard password" makes the hash of a password); or set host to 127.0.0.1',
  })
  .refine(({ host, publicUrl }) => isLoopbackHost(host) || publicUrl !== undefined, {
    path: ['publicUrl'],
    message:
      'is missing: where "host" is an address that other machines reach, it is the https address that people open (a reverse proxy adds TLS)',
  })
  .refine(({ publicUrl, users }) => publicUrl === undefined || users.length > 0, {
    path: ['users'],
    message: 'must name somebody where "publicUrl" is set: the page is not shown to others without a login',
  })
  .refine(({ users }) => new Set(users.map(({ name }) => name)).size === users.length, {
    path: ['users'],
    message: 'must not hold the same name twice',
  });
export type DashboardSettings = z.output<typeof Dashboard>;

/**
 * The settings after a reload: the process keeps its address from the start, and takes over the new users and length of logins.
 */
export function reloadedDashboard(
  atStart: false | DashboardSettings,
  now: false | DashboardSettings,
): false | DashboardSettings {
  return atStart && now ? { ...atStart, users: now.users, sessions: now.sessions } : atStart;
}

/** Whether the page needs a login. */
export function needsLogin({ host, publicUrl, users }: DashboardSettings): boolean {
  return users.length > 0 || publicUrl !== undefined || !isLoopbackHost(host);
}
