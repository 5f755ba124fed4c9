import { createHash } from 'node:crypto';
import { aboutRecords } from '../../core/connector/calls.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Post } from './post.ts';
import type { SenderIds } from './record.ts';
import { senderIdOf } from './record-id.ts';
import type { WebhookSettings } from './settings.ts';

/** How many records are posted at the same time: receivers are often small. */
const atOnce = 5;

/**
 * Sends one signed event per answer, in order for each record. A retry has the same id and body, so the receiver recognises it; the receiver
 * finds the newest answer by `answeredAt`.
 */
export function writer(
  include: NonNullable<WebhookSettings['writeBack']>['include'],
  post: Post,
  senderIds: SenderIds,
): Source['writeBack'] {
  return async (items) => {
    const ids = await senderIds(items.map(({ recordId }) => recordId));
    const idsOfItems = new Map(items.map((item, i) => [item, ids[i]]));
    const results = new Map<WriteBack, WriteResult>();
    const byRecord = Map.groupBy(items, ({ recordId }) => recordId);
    const queue = [...byRecord.values()];
    // After a failure that concerns all records no further call is made.
    let failure: CloseloopError | undefined;

    async function write(item: WriteBack): Promise<WriteResult> {
      if (failure !== undefined) return { ok: false, why: 'error', error: failure };
      const recordId = idsOfItems.get(item);
      if (recordId === undefined) return { ok: false, why: 'not-found', message: 'the id of the record was erased' };
      try {
        const taken = await post(idOf(item), eventOf({ ...item, recordId }, include));
        if (taken === 'taken') return { ok: true, findings: [] };
        const message = 'The receiver of answers says that it has no such record (404).';
        return { ok: false, why: 'not-found', message };
      } catch (error) {
        if (!(error instanceof CloseloopError)) throw error;
        if (error.advice.kind !== 'permanent') failure = error;
        return { ok: false, why: 'error', error };
      }
    }

    const work = async (): Promise<void> => {
      for (let of = queue.shift(); of !== undefined; of = queue.shift()) {
        for (const item of of) results.set(item, await aboutRecords([item.recordId], () => write(item)));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (failure !== undefined && [...results.values()].every(({ ok }) => !ok)) throw failure;
    return items.flatMap((item) => results.get(item) ?? []);
  };
}

/** The id of this version of the answer. The `marker` can't be the id, as it has full stops, which ids must not have. */
export function idOf({ recordId, marker }: Pick<WriteBack, 'recordId' | 'marker'>): string {
  return `fb_${createHash('sha256').update(`${recordId} ${marker}`).digest('base64url').slice(0, 32)}`;
}

/** The body that the receiver gets. */
export function eventOf(item: WriteBack, include: readonly ('comment' | 'answers')[]) {
  const { status, recordId, requestId, campaign, grade, maxGrade, comment, answeredAt, answers } = item;
  return {
    type: status === 'answered' ? 'feedback.answered' : 'feedback.unanswered',
    timestamp: answeredAt.toISOString(),
    data: {
      record: senderIdOf(recordId),
      request: requestId ?? null,
      campaign,
      grade,
      maxGrade: maxGrade ?? null,
      comment: include.includes('comment') ? comment : null,
      answers: include.includes('answers') ? (answers ?? {}) : {},
      answeredAt: answeredAt.toISOString(),
    },
  };
}
