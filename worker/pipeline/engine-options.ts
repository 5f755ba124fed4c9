import type { ConnectionOptions } from 'bullmq';
import type { Log, Ports } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { Observer } from '../operations/observer.ts';
import { sweepEveryMs } from '../operations/probe-turn.ts';
import type { Tracing } from '../operations/tracing.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Replicated } from '../redis/replicated.ts';
import type { Seal } from '../redis/seal.ts';
import type { Clock } from './clock.ts';

/** Vendors' clocks run at the speed of ours, also where the loop's own runs faster. */
export type VendorTime = Pick<Ports, 'now' | 'sleep'>;

/** How often a process sweeps, in real time. */
export const sweepIntervalOf = ({
  sweepEveryMs: given,
  clock,
}: Pick<EngineOptions, 'sweepEveryMs' | 'clock'>): number => given ?? Math.max(1_000, clock.real(sweepEveryMs));

/** What a process gives the engine to work with. */
export interface EngineOptions {
  config: Config;
  redis: RedisClient;
  /** The installation's: `openSeal`. */
  seal: Seal;
  /** For BullMQ: workers and queues. */
  connection: ConnectionOptions;
  /** For intake: fails at once while Redis is away, instead of holding the vendor's request. */
  intakeConnection: () => ConnectionOptions;
  replicated: Replicated;
  /** A vendor call leaves when no record has joined it for this long. Default 500 ms. */
  batchWindowMs?: number;
  /** How often what nothing else would notice is looked for, in real time. Default: a minute of the clock's time. */
  sweepEveryMs?: number;
  /** Jobs of one step of a source at once. Default 1,000. */
  jobsAtOnce?: number | undefined;
  clock: Clock;
  ports: Ports;
  /** By which vendors give quotas back. Left out: the machine's, also where the loop's own clock runs faster. */
  vendorTime?: VendorTime;
  log: Log;
  /** Who counts what happens. Left out: nobody. */
  observer?: Observer;
  /** Left out: there are no traces. */
  tracing?: Tracing | undefined;
}
