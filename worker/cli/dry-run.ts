import { styleText } from 'node:util';
import { type DryRunSummary, sentenceOf, summaryOf } from '../support/dry-run-summary.ts';
import { instantsOf } from '../support/journey-filter.ts';
import { printHeldUp } from './journeys.ts';
import type { RuntimeOptions } from './runtime.ts';
import { table } from './table.ts';
import { withStored } from './with-stored.ts';

/** As many are listed for people; machines are told up to a thousand. */
const shownForReview = 50;

interface Options extends RuntimeOptions {
  source?: string;
  /** Only what closed in this time. */
  since?: string;
  until?: string;
  json: boolean;
}

/** What "start --dry-run" would have done: how many closings, by what became of them, and by name those that a person should look at. */
export async function showDryRun(options: Options): Promise<number> {
  return await withStored({ ...options, dryRun: true }, async ({ sources, runtime: { redis, config } }) => {
    const chosen = sources(options.source);
    const summary = await summaryOf(chosen, redis, await instantsOf(options, config.feedback));
    if (!options.json) await printHeldUp(chosen, redis);
    process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : textOf(summary));
    return 0;
  });
}

function textOf(summary: DryRunSummary): string {
  const { outcomes, forReview, held, erasures } = summary;
  const rows = outcomes.map(({ source, what, rule = '', campaign = '', count }) => [
    source,
    what,
    rule,
    String(campaign),
    String(count),
  ]);
  const shown = forReview.first.slice(0, shownForReview);
  const more = forReview.count - shown.length;
  const lines = [
    ...shown.map(({ journey, why }) => `  ${journey}  ${why}`),
    ...(more > 0 ? [`  and ${more} more: --json lists them`] : []),
    ...held.map(({ source, only, why, jobs }) => `  ${source}: ${jobs} wait for ${only}: ${why}`),
    ...(erasures > 0 ? [`  ${erasures} erasures wait for "closeloop start"`] : []),
  ];
  return [
    `${styleText('bold', sentenceOf(summary))}\n`,
    ...(rows.length > 0 ? ['\n', table([['source', 'what', 'rule', 'campaign', 'closings'], ...rows])] : []),
    ...(lines.length > 0 ? [`\nTo look at:\n${lines.join('\n')}\n`] : []),
  ].join('');
}
