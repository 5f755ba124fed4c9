import { styleText } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';
import { type FollowUpDeed, isOverdue } from '../journey/follow-up.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { gradesInWords } from '../journey/outcomes.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import {
  changeFollowUp,
  dueInWords,
  type FollowUpFilter,
  type FoundFollowUp,
  followUpsIn,
  personInWords,
  stateInWords,
} from '../support/follow-ups.ts';
import { findJourney } from '../support/journey-filter.ts';
import { inZone } from '../support/shown-time.ts';
import { print, printTable } from './output.ts';
import { type CommandOptions, whoIAm } from './runtime.ts';
import { type StoredSource, withStored } from './with-stored.ts';

type OneOptions = CommandOptions & { journey: string };
type StepOptions = OneOptions & { by?: string };

/** Shows the follow-ups that people have to do, the most overdue first, without the words of customers. */
export async function listFollowUps(
  options: CommandOptions & FollowUpFilter & { source?: string; limit: number },
): Promise<number> {
  const { source, limit, json, ...filter } = options;
  return await withStored(options, async ({ sources, runtime }) => {
    const now = new Date();
    const found = await followUpsIn(sources(source), filter, { now, limit });
    const rows = found.map((one) => ({ result: forMachines(one, now), cells: cellsOf(one, now) }));
    const head = ['follow-up', 'grade', 'rule', 'whose', 'due', 'by'];
    printTable({ json, timeZone: runtime.config.feedback.timeZone }, head, rows, 'No follow-ups.');
    return 0;
  });
}

function cellsOf({ followUp, journey, context }: FoundFollowUp<StoredSource>, now: Date): string[] {
  return [
    refOf(context.name, journey.id),
    gradesInWords(journey) ?? '–',
    followUp.rule,
    personInWords(followUp),
    followUp.state === 'done' ? `done ${followUp.doneAt?.toISOString() ?? ''}` : dueInWords(followUp, now),
    followUp.doneBy ?? followUp.takenBy ?? '–',
  ];
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
      `grade ${gradesInWords(journey) ?? '–'} · rule ${followUp.rule} · for ${personInWords(followUp)} · due ${followUp.dueAt.toISOString()}`,
      ...(shown.comment === null ? [] : [`comment ${shown.comment}`]),
      ...(shown.outcome === undefined ? [] : [`outcome ${shown.outcome}`]),
    ];
    print({ ...options, timeZone: context.timeZone }, shown, lines);
    return 0;
  });
}

function followUpOf({ followUp }: Journey, ref: string): FollowUp {
  if (followUp) return followUp;
  throw new CloseloopError(`${ref}: there is no follow-up.`, { kind: 'permanent' });
}

export const takeFollowUp = (options: StepOptions): Promise<number> => stepFollowUp(options, { do: 'take' });
export const endFollowUp = ({ outcome, ...options }: StepOptions & { outcome: string }): Promise<number> =>
  stepFollowUp(options, { do: 'done', outcome });
export const reopenFollowUp = (options: StepOptions): Promise<number> => stepFollowUp(options, { do: 'reopen' });

/** Takes a follow-up, ends it or opens it again, and shows its new state. @param options `by`: left out, the user of this machine */
export async function stepFollowUp({ by = whoIAm(), ...options }: StepOptions, deed: FollowUpDeed): Promise<number> {
  return await withStored(options, async ({ anySource }) => {
    const { journey, context } = await findJourney(options.journey, anySource);
    const now = new Date();
    const followUp = await changeFollowUp(journey, { ...deed, by, at: now }, context).catch((error: unknown) => {
      if (!(error instanceof CloseloopError)) throw error;
      throw new CloseloopError(inZone(error.message, context.timeZone), error.advice, { cause: error });
    });
    const line = `${refOf(context.name, journey.id)} is ${stateInWords(followUp, now)}.`;
    print({ ...options, timeZone: context.timeZone }, forMachines({ followUp, journey, context }, now), line);
    return 0;
  });
}
