import { messageOf } from '../../core/errors.ts';
import type { Log, Ports } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import { isLostLock, probe } from '../redis/unavailable.ts';

const logEveryMs = 30_000;
const lostLock =
  'a job lost its lock, as this process stood still for seconds (a busy or suspended machine): another worker has the job, and nothing is done twice';

/** Every queue and worker reports the same lost connection again and again: it is logged once in half a minute. */
export class RedisWatch {
  readonly #redis: RedisClient;
  readonly #sleep: Ports['sleep'];
  readonly #log: Log;
  readonly #loggedAt = new Map<'lock' | 'redis', number>();
  #isAwaited = false;
  #isClosed = false;

  constructor(redis: RedisClient, { sleep }: Pick<Ports, 'sleep'>, log: Log) {
    this.#redis = redis;
    this.#sleep = sleep;
    this.#log = log;
  }

  readonly onLost = (error: Error): void => {
    const why = messageOf(error) || error.name;
    const kind = isLostLock(error) ? 'lock' : 'redis';
    if (Date.now() - (this.#loggedAt.get(kind) ?? 0) < logEveryMs) return;
    this.#loggedAt.set(kind, Date.now());
    if (kind === 'lock') {
      this.#log.warn({ why }, lostLock);
      return;
    }
    this.#log.warn(
      { why },
      'Redis is away, or takes no writes: deliveries are answered with 503, work goes on when it is back',
    );
    void this.#logReturn();
  };

  close(): void {
    this.#isClosed = true;
  }

  async #logReturn(): Promise<void> {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    while (!this.#isClosed && !(await this.#takesWrites())) await this.#sleep(1_000);
    this.#isAwaited = false;
    if (!this.#isClosed) this.#log.info({}, 'Redis takes writes again');
  }

  async #takesWrites(): Promise<boolean> {
    return await probe(this.#redis, globalTag).then(
      () => true,
      () => false,
    );
  }
}
