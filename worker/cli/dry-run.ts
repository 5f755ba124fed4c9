import { instantsOf } from '../support/journey-filter.ts';
import { printHeldUp } from './journeys.ts';
import type { CommandOptions } from './runtime.ts';
import { type DryRunSummary, dryRunSummary, summaryText } from './summary.ts';
import { withStored } from './with-stored.ts';

interface Options extends CommandOptions {
  source?: string;
  /** Only what closed in this time. */
  since?: string;
  until?: string;
}

/** Shows what "start --dry-run" decided: the number of closings by outcome, and each closing that a person should look at. */
export async function showDryRun(options: Options): Promise<number> {
  return await withStored({ ...options, dryRun: true }, async ({ sources, runtime: { redis, config } }) => {
    const chosen = sources(options.source);
    const summary = await dryRunSummary(chosen, redis, await instantsOf(options, config.feedback));
    if (!options.json) await printHeldUp(chosen, redis);
    process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : textOf(summary));
    return 0;
  });
}

function textOf(summary: DryRunSummary): string {
  const { held, erasures } = summary;
  return summaryText(summary, [
    ...held.map(({ source, only, why, jobs }) => `${source}: ${jobs} wait for ${only}: ${why}`),
    ...(erasures > 0 ? [`${erasures} erasures wait for "closeloop start"`] : []),
  ]);
}
