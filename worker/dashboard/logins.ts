import type { Log } from '../../core/ports.ts';
import type { DashboardSettings, DashboardUser } from '../config/dashboard.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { Audit } from './audit.ts';
import { type Attempt, LoginLimit } from './login-limit.ts';
import { isPassword } from './password.ts';

export type LoginOutcome =
  | { outcome: 'right'; user: DashboardUser }
  | { outcome: 'wrong' }
  | { outcome: 'too many'; waitMs: number };

interface LoginsOptions {
  redis: RedisClient;
  seal: Pick<Seal, 'digest'>;
  settings: () => Pick<DashboardSettings, 'users'>;
  now: () => Date;
  log: Log;
}

/** Attempts to log in: limited, compared in constant time, and noted with the name, never with what was typed. */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #limit: LoginLimit;
  readonly #audit: Audit;

  constructor(options: LoginsOptions) {
    this.#options = options;
    this.#limit = new LoginLimit(options);
    this.#audit = new Audit(options.redis);
  }

  /** @throws CloseloopError transient while too many passwords are checked in this process */
  async attempt({ password, ...attempt }: Attempt & { password: string }): Promise<LoginOutcome> {
    const user = this.#options.settings().users.find(({ name }) => name === attempt.name);
    // What was typed as a name may be a password: only names that are ours are noted.
    const note = (what: string) => this.note(user?.name ?? 'somebody unknown', what);
    const waitMs = await this.#limit.count(attempt);
    if (waitMs > 0) {
      await note('login refused: too many attempts');
      return { outcome: 'too many', waitMs };
    }
    const compared = user ?? this.#standIn(attempt.name);
    const isRight = compared !== undefined && (await this.#isPassword(password, compared, attempt));
    if (!user || !isRight) {
      await note('login failed');
      return { outcome: 'wrong' };
    }
    await this.#limit.wasRight(attempt);
    await note('logged in');
    return { outcome: 'right', user };
  }

  async #isPassword(password: string, { password: hash }: DashboardUser, attempt: Attempt): Promise<boolean> {
    try {
      return await isPassword(password, hash);
    } catch (error) {
      await this.#limit.takeBack(attempt);
      throw error;
    }
  }

  async note(who: string, what: string): Promise<void> {
    const { now, log } = this.#options;
    log.info({ user: who }, what);
    await this.#audit.noteLogin({ at: now(), who, what, about: 'the page' });
  }

  /** Whose password is compared for a name that nobody has, always the same for that name: neither time nor cost tells. */
  #standIn(name: string): DashboardUser | undefined {
    const { users } = this.#options.settings();
    const number = Buffer.from(this.#options.seal.digest(`no user ${name}`), 'base64url').readUInt32BE();
    return users[number % users.length];
  }
}
