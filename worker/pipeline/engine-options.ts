import type { ConnectionOptions } from 'bullmq';
import type { Log, Ports } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { Observer } from '../operations/observer.ts';
import { sweepEveryMs } from '../operations/pauses.ts';
import type { Tracing } from '../operations/tracing.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Replicated } from '../redis/replicated.ts';
import type { Seal } from '../redis/seal.ts';
import type { Clock } from './clock.ts';

/** Vendors' clocks run at the speed of the machine's clock, also where the loop's own clock runs faster. */
export type VendorTime = Pick<Ports, 'now' | 'sleep'>;

/** How often a process sweeps, in real time. */
export const sweepIntervalOf = ({
  sweepEveryMs: given,
  clock,
}: Pick<EngineOptions, 'sweepEveryMs' | 'clock'>): number => given ?? Math.max(1_000, clock.real(sweepEveryMs));

/** The parts that a process passes to its engine. */
export interface EngineOptions {
  config: Config;
  redis: RedisClient;
  /** The seal of the installation: `DataKey.seal`. */
  seal: Seal;
  /** The connection of BullMQ's workers and queues. */
  connection: ConnectionOptions;
  /** The connection of the intake, which fails at once while Redis is down, so that no vendor has to wait. */
  intakeConnection: () => ConnectionOptions;
  replicated: Replicated;
  /** A batch is sent to the vendor when no record has joined the batch for this long. Default 500 ms. */
  batchWindowMs?: number;
  /** How often the process sweeps, in real time. Default: a minute of the clock's time. */
  sweepEveryMs?: number;
  /** How many jobs of one step of a source run at once. Default 1,000. */
  jobsAtOnce?: number | undefined;
  clock: Clock;
  ports: Ports;
  /** The clock by which vendors renew quotas. Left out: the machine's clock, also where the loop's own clock runs faster. */
  vendorTime?: VendorTime;
  log: Log;
  /** Counts for metrics. Left out: nothing is counted. */
  observer?: Observer;
  /** Records traces. Left out: there are no traces. */
  tracing?: Tracing | undefined;
}
