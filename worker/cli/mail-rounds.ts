import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { Alert } from '../operations/alerts/message.ts';
import type { Engine } from '../pipeline/engine.ts';
import { sweepIntervalOf } from '../pipeline/engine-options.ts';
import { Rounds } from '../pipeline/rounds.ts';
import type { Seal } from '../redis/seal.ts';
import { alertsOf } from './alerts-of.ts';
import type { Runtime } from './runtime.ts';

/** Sends the mails of `reports` that are due, again and again, with the configuration and the engine of that moment. */
export function startMails(
  runtime: Pick<Runtime, 'redis' | 'config'>,
  engine: () => Pick<Engine, 'pipelines'>,
  { seal, log, ...rest }: { seal: Seal; log: Log } & Parameters<typeof sweepIntervalOf>[0],
): Rounds {
  const round = async () => {
    const { redis, config } = runtime;
    const { reports, feedback } = config;
    const sources = [...engine().pipelines.values()].map(({ context }) => context);
    const [first] = sources;
    if (reports === undefined || first === undefined) return;
    // Loaded here: most installations send none.
    const { mailRound } = await import('../mails/mails.ts');
    const reading = { sources, service: first.feedback, timeZone: feedback.timeZone };
    const alerts = alertsOf(runtime, log);
    const alert = (one: Omit<Alert, 'source'>) => alerts.raise({ source: 'closeloop', ...one });
    await mailRound({ redis, seal, log, reports, reading, now: () => new Date(), alert });
  };
  const rounds = new Rounds(round, (error) => log.warn({ why: messageOf(error) }, 'mails could not be sent'));
  rounds.start(sweepIntervalOf(rest));
  return rounds;
}
