import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { needsLogin } from '../config/dashboard.ts';
import { nameOf, type Visitor, visitorOf } from './access.ts';
import { localAddress } from './addresses.ts';
import { cookieOf, setCookie } from './cookies.ts';
import { Csrf } from './csrf.ts';
import { Logins } from './logins.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { Sessions } from './sessions.ts';
import { loginView, logoutView } from './views/login.ts';

const cookie = 'closeloop-session';

const Form = z.object({
  name: z.string().trim().max(200).catch(''),
  password: z.string().max(1_000).catch(''),
});
const Query = z.object({ to: z.string().max(4_000).catch('/') });

type Options = Pick<DashboardOptions, 'redis' | 'seal' | 'settings' | 'log'>;

/** On this machine no login is needed where the configuration names no users. */
const anybody: Visitor = { name: 'somebody on this machine', role: 'act' };

/** Real time: sessions and attempts are of people, also where the loop's clock is another. */
const now = () => new Date();

/** Who sends a request; undefined: somebody who has to log in first. */
export function identifier({ redis, seal, settings }: Options) {
  const sessions = new Sessions({ redis, seal, settings, now });
  return async (request: FastifyRequest): Promise<Visitor | undefined> => {
    if (!needsLogin(settings())) return anybody;
    const id = cookieOf(request, cookie);
    // That a page renews itself is not a person's doing.
    const isUsed = (request.headers['sec-fetch-mode'] ?? 'navigate') === 'navigate';
    return id === undefined ? undefined : await sessions.find(id, { isUsed });
  };
}

/** `/login` and `/logout`. */
export function showLogin(app: FastifyInstance, options: Options): void {
  const csrf = new Csrf(options.seal);
  const sessions = new Sessions({ ...options, now });
  const logins = new Logins({ ...options, now });
  const page = async (reply: FastifyReply, shown: { name?: string; wrong?: string }, status = 200) => {
    const body = loginView({ ...shown, to: toOf(reply.request), csrf: csrf.tokenFor(reply.request, reply) });
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
    const before = cookieOf(request, cookie);
    if (before !== undefined) await sessions.end(before);
    setCookie(reply, cookie, await sessions.begin(result.user));
    return await reply.redirect(toOf(request), 303);
  });

  app.get('/logout', async (request, reply) => {
    return await show(reply, { title: 'Log out?', body: logoutView(csrf.tokenFor(request, reply)) });
  });

  app.post('/logout', { config: { access: 'read' } }, async (request, reply) => {
    await sessions.end(cookieOf(request, cookie) ?? '');
    await logins.note(nameOf(request), 'logged out');
    setCookie(reply, cookie, '');
    return await reply.redirect('/login', 303);
  });
}

/** Where the person wanted to go. */
function toOf({ query }: FastifyRequest): string {
  return localAddress(Query.parse(query).to);
}
