import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type DashboardUser, needsLogin } from '../config/dashboard.ts';
import { localAddress, loginAt } from './addresses.ts';
import { Audit } from './audit.ts';
import { Cookie, formToken, nameOf, type Visitor, visitorOf } from './guard.ts';
import { type Html, html } from './html.ts';
import { type Attempt, LoginLimit } from './login-limit.ts';
import { type DashboardOptions, show } from './pages.ts';
import { isPassword } from './password.ts';
import { Sessions } from './sessions.ts';
import { actingForm, hidden } from './views/forms.ts';

const Form = z.object({
  name: z.string().trim().max(200).catch(''),
  password: z.string().max(1_000).catch(''),
});
const Query = z.object({ to: z.string().max(4_000).catch('/') });

type Options = Pick<DashboardOptions, 'redis' | 'seal' | 'settings' | 'log'>;

/** The visitor where the configuration names no users: then a person on this machine needs no login. */
const anybody: Visitor = { name: 'somebody on this machine', role: 'act', contacts: true };

/** Sessions and login attempts run in real time, even where the clock of the loop is simulated. */
function sessionsOf(options: Options): { sessions: Sessions; cookie: Cookie } {
  const cookie = new Cookie('closeloop-session', options.settings().publicUrl);
  return { sessions: new Sessions({ ...options, now: () => new Date() }), cookie };
}

/** Finds the visitor who sends a request; undefined: the visitor has to log in first. */
export function identifier(options: Options) {
  const { sessions, cookie } = sessionsOf(options);
  return async (request: FastifyRequest): Promise<Visitor | undefined> => {
    if (!needsLogin(options.settings())) return anybody;
    // A page that refreshes itself must not keep a session alive; a person who opens a page does.
    const isUsed = (request.headers['sec-fetch-mode'] ?? 'navigate') === 'navigate';
    return await sessions.find(cookie.of(request) ?? '', { isUsed });
  };
}

/** `/login` and `/logout`. */
export function showLogin(app: FastifyInstance, options: Options): void {
  const { sessions, cookie } = sessionsOf(options);
  const logins = new Logins(options);
  const page = async (reply: FastifyReply, shown: { name?: string; wrong?: string }, status = 200) => {
    const body = loginView({ ...shown, to: toOf(reply.request), csrf: formToken(reply) });
    return await show(reply, { title: 'Log in', body }, status);
  };

  app.get('/login', { config: { access: 'anybody' } }, async (request, reply) => {
    return visitorOf(request) ? await reply.redirect(toOf(request), 303) : await page(reply, {});
  });

  app.post('/login', { config: { access: 'anybody' } }, async (request, reply) => {
    const { name, password } = Form.parse(request.body ?? {});
    const result = await logins.attempt({ name, password, address: request.ip });
    if (result.outcome === 'wrong')
      return await page(reply, { name, wrong: 'The name or the password is wrong.' }, 401);
    if (result.outcome === 'too many') {
      const { waitMs } = result;
      const wrong = `Too many attempts. Try again in ${Math.ceil(waitMs / 60_000)} minutes.`;
      return await page(reply.header('retry-after', Math.ceil(waitMs / 1_000)), { name, wrong }, 429);
    }
    await sessions.end(cookie.of(request) ?? '');
    cookie.set(reply, await sessions.begin(result.user));
    return await reply.redirect(toOf(request), 303);
  });

  app.get('/logout', async (_request, reply) => {
    return await show(reply, { title: 'Log out?', body: logoutView(formToken(reply)) });
  });

  app.post('/logout', { config: { access: 'read' } }, async (request, reply) => {
    await sessions.end(cookie.of(request) ?? '');
    await logins.note(nameOf(request), 'logged out');
    cookie.set(reply, '');
    return await reply.redirect('/login', 303);
  });
}

/** The address that the person wanted before the login. */
function toOf({ query }: FastifyRequest): string {
  return localAddress(Query.parse(query).to);
}

type LoginOutcome =
  | { outcome: 'right'; user: DashboardUser }
  | { outcome: 'wrong' }
  | { outcome: 'too many'; waitMs: number };

/**
 * Checks login attempts. Attempts are limited, passwords are compared in constant time, and the audit log gets the user's name, never the
 * typed text.
 */
export class Logins {
  readonly #options: Options;
  readonly #limit: LoginLimit;
  readonly #audit: Audit;

  constructor(options: Options) {
    this.#options = options;
    this.#limit = new LoginLimit(options);
    this.#audit = new Audit(options.redis, 'audit-logins');
  }

  /** @throws CloseloopError transient while this process checks too many passwords at once */
  async attempt({ password, ...attempt }: Attempt & { password: string }): Promise<LoginOutcome> {
    const user = this.#options.settings().users.find(({ name }) => name === attempt.name);
    // A person may have typed a password into the field of the name, so only names of configured users are logged.
    const who = user?.name ?? 'somebody unknown';
    const waitMs = await this.#limit.count(attempt);
    if (waitMs > 0) {
      await this.note(who, 'login refused: too many attempts');
      return { outcome: 'too many', waitMs };
    }
    const compared = user ?? this.#standIn(attempt.name);
    const isRight = compared !== undefined && (await this.#isPassword(password, compared, attempt));
    if (!user || !isRight) {
      await this.note(who, 'login failed');
      return { outcome: 'wrong' };
    }
    await this.#limit.wasRight(attempt);
    await this.note(who, 'logged in');
    return { outcome: 'right', user };
  }

  async note(who: string, what: string): Promise<void> {
    this.#options.log.info({ user: who }, what);
    await this.#audit.note({ at: new Date(), who, what, about: 'the page' });
  }

  async #isPassword(password: string, user: DashboardUser, attempt: Attempt): Promise<boolean> {
    try {
      return await isPassword(password, user.password);
    } catch (error) {
      await this.#limit.takeBack(attempt);
      throw error;
    }
  }

  /**
   * The user whose password is compared for an unknown name, always the same user for the same name: neither time nor cost shows that the name
   * is unknown.
   */
  #standIn(name: string): DashboardUser | undefined {
    const { users } = this.#options.settings();
    const number = Buffer.from(this.#options.seal.digest(`no user ${name}`), 'base64url').readUInt32BE();
    return users[number % users.length];
  }
}

interface Login {
  csrf: string;
  /** The address that the person goes to after the login. */
  to: string;
  /** The name that the person typed in the failed attempt. */
  name?: string;
  /** Why the attempt failed. */
  wrong?: string;
}

export function loginView({ csrf, to, name = '', wrong }: Login): Html {
  return html`${wrong !== undefined && html`<p class="notice bad" role="alert" id="wrong">${wrong}</p>`}
<form class="login" method="post" action="${loginAt(to)}">
${hidden('csrf', csrf)}
<label for="name">Name</label>
<input id="name" name="name" value="${name}" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="1000" autocomplete="current-password">
<p class="actions"><button class="main-button">Log in</button></p>
</form>`;
}

function logoutView(csrf: string): Html {
  return html`<p>This browser sees nothing more of it until somebody logs in again.</p>
${actingForm({ at: '/logout', csrf, button: 'Log out', back: '/' })}`;
}
