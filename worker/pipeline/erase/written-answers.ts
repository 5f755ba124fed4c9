import { ZodError } from 'zod';
import { adviceOf, CloseloopError, messageOf } from '../../../core/errors.ts';
import type { SubjectOf } from '../../journey/erasures.ts';
import { AbsentSource } from '../../sources/known-sources.ts';
import type { EraseContext } from './find.ts';
import { type Held, heldBy } from './held.ts';

/**
 * Removes the answers that closeloop wrote on records, where the connector can. After a permanent error (revoked access, say) the
 * answers stay at the vendor, and the proof says so and why. @returns the sources whose answers a later attempt has to remove
 */
export async function removeWrittenAnswers(id: string, context: EraseContext): Promise<Held[]> {
  const held: Held[] = [];
  const writtenAnswers = (await context.erasures.subjects(id)).filter((one) => one.kind === 'written-answer');
  const still = Map.groupBy(
    writtenAnswers.filter(({ left }) => left === undefined),
    ({ source }) => source,
  );
  for (const [name, some] of still) {
    const of = (await context.sources()).find((one) => one.name === name);
    let left: string[];
    try {
      const ids = some.map((copy) => copy.id);
      left = (await of?.source.forget?.(ids)) ?? ['everything: its connector takes nothing off again'];
    } catch (error) {
      const isOwn = name === context.name;
      if (error instanceof AbsentSource && of && !isOwn) {
        left = [await leaveTo(of, id, some)];
      } else if (
        error instanceof CloseloopError &&
        (adviceOf(error).kind === 'transient' || error instanceof AbsentSource)
      ) {
        held.push(heldBy(error, `answers are still on records of ${name}`));
        continue;
      } else {
        left = [whyLeft(error)];
      }
    }
    // The proof lists what is left once for all records of the source.
    await context.erasures.change(
      id,
      some.map((copy, index) => ({ ...copy, left: index === 0 ? left : [] })),
    );
    if (left.length > 0) context.log.warn({ source: name, erasure: id, left }, 'not all could be taken off');
  }
  return held;
}

/** Queues an erasure of the other source, for a process that has the source in its configuration, now or later. */
async function leaveTo(
  of: EraseContext,
  id: string,
  writtenAnswers: readonly SubjectOf<'written-answer'>[],
): Promise<string> {
  const what = 'answers on records of somebody who was forgotten through another source';
  const asked = { key: `written answers of ${id}`, what, receivedAt: of.ports.now(), everybody: false };
  const theirs = await of.erasures.begin(asked, writtenAnswers);
  await of.queueErasure(theirs, 0);
  return `taken off as the erasure ${theirs} by a process that has this source`;
}

function whyLeft(error: unknown): string {
  if (error instanceof CloseloopError) return messageOf(error);
  if (error instanceof ZodError) return 'the vendor answered in another shape than documented';
  throw error;
}
