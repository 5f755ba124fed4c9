import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { changedPaths, needsRestart } from '../config/changes.ts';
import type { Config } from '../config/config.ts';
import { reloadedDashboard } from '../config/dashboard.ts';
import { testLines } from '../config/test-mode.ts';
import { Rounds } from '../pipeline/rounds.ts';
import { sharedAccounts } from '../preflight/shared-accounts.ts';
import { alertsOf } from './alerts-of.ts';
import type { App } from './app.ts';
import { checkAccount, dataKeyOf, type Runtime, type RuntimeOptions, readConfig } from './runtime.ts';

const refused = 'the configuration could not be reloaded: the process goes on with the one that it has';
const remedy = 'mend the file ("closeloop check"), then send SIGHUP again';

interface ReloadingOptions {
  file: RuntimeOptions;
  runtime: Runtime;
  log: Log;
}

/**
 * Reads the configuration again at each SIGHUP, one reading after the other; signals that come during a reading cause one further
 * reading. A file that is wrong, or gone, changes nothing and is logged.
 */
export class Reloading {
  readonly #options: ReloadingOptions;
  readonly #startedWith: Config;
  readonly #rounds: Rounds;
  #app: App | undefined;
  #isAsked = false;

  constructor(options: ReloadingOptions) {
    this.#options = options;
    this.#startedWith = options.runtime.config;
    this.#rounds = new Rounds(
      (isStopped) => this.#whileAsked(isStopped),
      (error) => options.log.warn({ why: messageOf(error) }, refused),
    );
  }

  /** The process has started: a reload that was asked for before begins now. */
  begin(app: App): void {
    this.#app = app;
    this.#rounds.begin();
  }

  ask(): void {
    this.#isAsked = true;
    if (this.#app) this.#rounds.begin();
  }

  /** Begins no further reload; a reload that is under way ends within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await this.#rounds.stop(graceMs);
  }

  async #whileAsked(isStopped: () => boolean): Promise<void> {
    while (this.#app && this.#isAsked && !isStopped()) {
      this.#isAsked = false;
      await this.#reload(this.#app).catch((error: unknown) => (isStopped() ? undefined : this.#refuse(error)));
    }
  }

  async #reload(app: App): Promise<void> {
    const { file, runtime, log } = this.#options;
    const read = await readConfig(file);
    const changed = changedPaths(runtime.config.written, read.written);
    if (changed.length === 0) return log.info({}, 'the configuration was read again: nothing has changed');
    const { redis, http, admin, dashboard, secretsKey } = this.#startedWith;
    const before = runtime.config;
    const config = { ...read, redis, http, admin, secretsKey, dashboard: reloadedDashboard(dashboard, read.dashboard) };
    for (const { problem, remedy: why } of sharedAccounts(config.sources))
      log.warn({ why: problem, remedy: why }, 'sources');
    await dataKeyOf({ ...runtime, config });
    await checkAccount({ ...runtime, config });
    runtime.config = config;
    try {
      await app.reload();
    } catch (error) {
      runtime.config = before;
      throw error;
    }
    const atStart = changedPaths(this.#startedWith.written, read.written).filter(needsRestart);
    for (const why of testLines(config)) log.warn({ why }, 'TEST');
    if (atStart.length > 0) log.warn({ settings: atStart }, 'these settings count from the next start on');
    log.info({ changed: changed.filter((path) => !needsRestart(path)) }, 'the configuration was reloaded');
  }

  async #refuse(error: unknown): Promise<void> {
    const { runtime, log } = this.#options;
    const why = messageOf(error);
    log.error({ why, remedy }, refused);
    await alertsOf(runtime, log)
      .raise({ kind: 'to-do', source: 'closeloop', why: `${refused}: ${why}`, remedy })
      .catch((failure: unknown) => log.warn({ why: messageOf(failure) }, 'the alert could not be noted'));
  }
}
