import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { DashboardSettings, DashboardUser } from '../config/dashboard.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import type { Visitor } from './guard.ts';

const idForm = /^[\w-]{43}$/;

/** A session as stored. Its key in Redis expires when nobody uses the session. */
const Session = z.object({
  user: z.string(),
  /** A digest of the user's password hash: changing the password ends the session. */
  password: z.string(),
  begunAt: z.coerce.date(),
});

interface SessionsOptions {
  redis: RedisClient;
  seal: Pick<Seal, 'digest'>;
  /** The present settings: a removed user is logged out at once. */
  settings: () => Pick<DashboardSettings, 'users' | 'sessions'>;
  now: () => Date;
}

/** The sessions of users who have logged in. Redis holds a keyed digest of a session's id, and the browser holds the id: neither shows the other. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** @returns the id, for the browser's cookie */
  async begin(user: DashboardUser): Promise<string> {
    const { redis, now, settings } = this.#options;
    const id = randomBytes(32).toString('base64url');
    const session = { user: user.name, password: this.#passwordOf(user), begunAt: now() };
    const { idle, longest } = settings().sessions;
    await redis.set(this.#keyOf(id), JSON.stringify(session), 'PX', Math.min(idle, longest));
    return id;
  }

  /** @param isUsed whether a person opened a page, which restarts the idle time */
  async find(id: string, { isUsed }: { isUsed: boolean }): Promise<Visitor | undefined> {
    if (!idForm.test(id)) return undefined;
    const { redis, now, settings } = this.#options;
    const key = this.#keyOf(id);
    const stored = await redis.get(key);
    if (stored === null) return undefined;
    const session = Session.parse(JSON.parse(stored));
    const { users, sessions } = settings();
    const user = users.find(({ name }) => name === session.user);
    const leftMs = session.begunAt.getTime() + sessions.longest - now().getTime();
    if (!user || this.#passwordOf(user) !== session.password || leftMs <= 0) {
      await redis.del(key);
      return undefined;
    }
    if (isUsed) await redis.pexpire(key, Math.min(sessions.idle, leftMs));
    const { role } = user;
    return { name: user.name, role, contacts: role === 'act' || user.contacts, session: key };
  }

  async end(id: string): Promise<void> {
    await this.#options.redis.del(this.#keyOf(id));
  }

  #keyOf(id: string): string {
    return `${globalTag}:session:${this.#options.seal.digest(`session ${id}`)}`;
  }

  #passwordOf({ password }: DashboardUser): string {
    return this.#options.seal.digest(`password ${password.text}`);
  }
}
