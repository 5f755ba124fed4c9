import { styleText } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';
import { type FollowUpDeed, isOverdue } from '../journey/follow-up.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { gradeInWords } from '../journey/outcomes.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import {
  changeFollowUp,
  dueInWords,
  type FollowUpFilter,
  type FoundFollowUp,
  followUpsIn,
  stateInWords,
} from '../support/follow-ups.ts';
import { findJourney } from '../support/journey-filter.ts';
import { inZone } from '../support/shown-time.ts';
import type { RuntimeOptions } from './runtime.ts';
import { table } from './table.ts';
import { whoIAm } from './who-i-am.ts';
import { type StoredSource, withStored } from './with-stored.ts';

type Options = RuntimeOptions & { json: boolean };
type OneOptions = Options & { journey: string };

/** Shows the follow-ups that people have to do, the most overdue first, without the words of customers. */
export async function listFollowUps(
  options: Options & FollowUpFilter & { source?: string; limit: number },
): Promise<number> {
  const { source, limit, json, ...filter } = options;
  return await withStored(options, async ({ sources, runtime }) => {
    const now = new Date();
    const found = await followUpsIn(sources(source), filter, { now, limit });
    if (json) for (const one of found) process.stdout.write(`${JSON.stringify(forMachines(one, now))}\n`);
    else if (found.length === 0) process.stderr.write('No follow-ups.\n');
    else process.stdout.write(inZone(table(rowsOf(found, now)), runtime.config.feedback.timeZone));
    return 0;
  });
}

function rowsOf(found: readonly FoundFollowUp<StoredSource>[], now: Date): string[][] {
  const head = ['follow-up', 'grade', 'rule', 'whose', 'due', 'by'];
  const rows = found.map(({ followUp, journey, context }) => [
    refOf(context.name, journey.id),
    gradeInWords(journey) ?? '–',
    followUp.rule,
    followUp.to,
    followUp.state === 'done' ? `done ${followUp.doneAt?.toISOString() ?? ''}` : dueInWords(followUp, now),
    followUp.doneBy ?? followUp.takenBy ?? '–',
  ]);
  return [head, ...rows];
}

/** A follow-up as JSON, without the words of customer and staff. */
function forMachines({ followUp, journey, context }: FoundFollowUp<Pick<StoredSource, 'name'>>, now: Date) {
  const { outcome: _, alertedAt: _1, ...shown } = followUp;
  return {
    followUp: refOf(context.name, journey.id),
    grade: journey.answer?.grade ?? null,
    maxGrade: journey.maxGrade,
    ...shown,
    overdue: isOverdue(followUp, now),
  };
}

/** Shows a follow-up with the words of the customer and of the person who did it: personal data. */
export async function showFollowUp(options: OneOptions): Promise<number> {
  // Only its connector knows where people see a record.
  const { withRecordNames } = await import('./with-records.ts');
  return await withRecordNames(options, async ({ anySource, sources, runtime }) => {
    const now = new Date();
    const { journey, context } = await findJourney(options.journey, anySource);
    const followUp = followUpOf(journey, options.journey);
    const isConfigured = runtime.config.sources.some(({ name }) => name === context.name);
    const [opened] = isConfigured ? sources(context.name) : [];
    const id = currentRecordOf(journey);
    const [record] = (await opened?.source.vendorIds?.([id])) ?? [id];
    const url = record === undefined ? undefined : opened?.source.recordUrl?.(record);
    const shown = {
      ...forMachines({ followUp, journey, context }, now),
      comment: journey.answer?.comment ?? null,
      outcome: followUp.outcome,
      record,
      url,
    };
    const lines = [
      styleText('bold', `${shown.followUp}: ${stateInWords(followUp, now)}`),
      `record ${record ?? '–'}${url === undefined ? '' : ` · ${url}`}`,
      `grade ${gradeInWords(journey) ?? '–'} · rule ${followUp.rule} · for ${followUp.to} · due ${followUp.dueAt.toISOString()}`,
      ...(shown.comment === null ? [] : [`comment ${shown.comment}`]),
      ...(shown.outcome === undefined ? [] : [`outcome ${shown.outcome}`]),
    ];
    print(options, shown, inZone(lines.join('\n'), context.timeZone));
    return 0;
  });
}

function followUpOf({ followUp }: Journey, ref: string): FollowUp {
  if (followUp) return followUp;
  throw new CloseloopError(`${ref}: there is no follow-up.`, { kind: 'permanent' });
}

/** Takes a follow-up, ends it or opens it again, and shows its new state. @param options `by`: left out, the user of this machine */
export async function stepFollowUp(
  { by = whoIAm(), ...options }: OneOptions & { by?: string },
  deed: FollowUpDeed,
): Promise<number> {
  return await withStored(options, async ({ anySource }) => {
    const { journey, context } = await findJourney(options.journey, anySource);
    const now = new Date();
    const followUp = await changeFollowUp(journey, { ...deed, by, at: now }, context);
    const line = `${refOf(context.name, journey.id)} is ${stateInWords(followUp, now)}.`;
    print(options, forMachines({ followUp, journey, context }, now), inZone(line, context.timeZone));
    return 0;
  });
}

function print({ json }: { json: boolean }, shown: object, line: string): void {
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : `${line}\n`);
}
