import { ZodError } from 'zod';
import { adviceOf, CloseloopError, messageOf } from '../../../core/errors.ts';
import type { Erasure, SubjectOf } from '../../journey/erasures.ts';
import { refOf } from '../../journey/refs.ts';
import { isUnreadable } from '../../journey/stored-journey.ts';
import { AbsentSource } from '../../sources/known-sources.ts';
import type { EraseContext, ErasureFindings } from './find.ts';

/** A part that an erasure could not do yet. Holds no personal data. */
export interface Held {
  what: string;
  why: string;
  /** Whether a later attempt will succeed without a person. */
  passes: boolean;
}

/** @throws the error itself, where it comes from neither the service nor a vendor: Redis is down, or closeloop has a bug */
export function heldBy(error: unknown, what: string): Held {
  if (!(error instanceof CloseloopError)) throw error;
  return { what, why: messageOf(error), passes: adviceOf(error).kind === 'transient' };
}

/** Stores the vendors' own ids of these journeys' records, if only the records' snapshots hold them: the snapshots are erased first. */
export async function storeVendorIds(
  { journeys }: ErasureFindings,
  { id }: Erasure,
  context: EraseContext,
): Promise<void> {
  for (const [of, some] of Map.groupBy(journeys.values(), (one) => one.of)) {
    if (of.source.vendorIds === undefined) continue;
    const records = some.flatMap(({ journey: { recordId, currentId = recordId } }) => [recordId, currentId]);
    const unique = [...new Set(records)];
    const known: SubjectOf<'vendor-id'>[] = [];
    for (const recordId of unique) {
      const vendorId = await vendorIdOf(recordId, of);
      if (vendorId !== recordId) known.push({ kind: 'vendor-id', source: of.storedAs, id: recordId, vendorId });
    }
    if (known.length > 0) await context.erasures.change(id, known);
  }
}

/** The vendor's own id of a record; the record's id where the snapshot can't be read: the erasure goes on, and deletes the snapshot. */
async function vendorIdOf(recordId: string, { source }: EraseContext): Promise<string> {
  try {
    return (await source.vendorIds?.([recordId]))?.[0] ?? recordId;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return recordId;
  }
}

/**
 * Removes the answers that closeloop wrote on records, where the connector can. After a permanent error (revoked access, say) the
 * answers stay at the vendor, and the proof says so and why. @returns the sources whose answers a later attempt has to remove
 */
export async function removeWrittenAnswers(id: string, context: EraseContext): Promise<Held[]> {
  const held: Held[] = [];
  const subjects = await context.erasures.subjects(id);
  const writtenAnswers = subjects.filter((one) => one.kind === 'written-answer');
  const vendorIds = new Map(
    subjects.flatMap((one) => (one.kind === 'vendor-id' ? [[refOf(one.source, one.id), one.vendorId]] : [])),
  );
  const still = Map.groupBy(
    writtenAnswers.filter(({ left }) => left === undefined),
    ({ source }) => source,
  );
  for (const [source, some] of still) {
    const of = (await context.sources()).find(({ storedAs }) => storedAs === source);
    const name = of?.name ?? source;
    let left: string[];
    try {
      const ids = some.map((copy) => vendorIds.get(refOf(source, copy.id)) ?? copy.id);
      left = (await of?.source.forget?.(ids)) ?? ['everything: its connector takes nothing off again'];
    } catch (error) {
      const isOwn = source === context.storedAs;
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
    // The proof lists once, for all records of the source, what stays at the vendor.
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
