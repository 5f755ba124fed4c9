import { styleText } from 'node:util';
import { refOf } from '../journey/refs.ts';
import { inZone } from '../support/shown-time.ts';
import { closingsOf, explain } from '../support/why.ts';
import { tellHeldUp } from './journeys.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** The most closings that are explained. */
const most = 20;

/**
 * Why a customer was asked or not: every closing of theirs, or of a record, with the reason for its state. Returns 1 when closeloop
 * has never heard of them.
 */
export async function why(
  options: RuntimeOptions & { about: string; source?: string; json: boolean },
): Promise<number> {
  return await withSources({ ...options, looks: 'only' }, async ({ pipelines, runtime: { redis } }) => {
    const sources = pipelines(options.source).map(({ context, pauses }) => ({ ...context, pauses }));
    const found = await closingsOf(sources, options.about);
    await tellHeldUp(sources, redis);
    for (const { journey, context } of found.slice(0, most)) {
      const ref = refOf(context.name, journey.id);
      const { isAsked, what, remedy } = explain(journey);
      const { state, reason, closedAt, rule, campaign, requestId, test } = journey;
      if (options.json) {
        const shown = { journey: ref, state, isAsked, what, reason, closedAt, rule, campaign, requestId };
        process.stdout.write(
          `${JSON.stringify({ ...shown, test: test && true, remedy: remedy && `${remedy} ${ref}` })}\n`,
        );
        continue;
      }
      const details = [
        `closed ${closedAt.toISOString()}`,
        ...(rule === undefined ? [] : [`rule ${rule}`]),
        ...(campaign === undefined ? [] : [`campaign ${campaign}`]),
        ...(requestId === undefined ? [] : [`request ${requestId}`]),
      ];
      const lines = [
        `${styleText('bold', ref)}  ${what}`,
        `  ${details.join(' · ')}`,
        ...(remedy ? [`  → closeloop ${remedy} ${ref}`] : []),
      ];
      process.stdout.write(`${inZone(lines.join('\n'), context.timeZone)}\n`);
    }
    if (found.length > most) process.stderr.write(`${found.length - most} earlier closings are not shown.\n`);
    if (found.length > 0) return 0;
    process.stderr.write(
      'closeloop has never heard of a closing of theirs: no delivery or poll has told of one, or it was removed after ' +
        'retention.journeys. Of a record, "closeloop preview" tells what would be sent now.\n',
    );
    return 1;
  });
}
