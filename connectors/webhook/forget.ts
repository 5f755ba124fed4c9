import { createHash } from 'node:crypto';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { Post } from './post.ts';
import { isDigest, senderIdOf } from './record-id.ts';

/**
 * Asks the receiver of answers to forget the answers of these records, with one signed event per record. closeloop can't know whether the
 * receiver does, and the proof of the erasure says so.
 */
export function forgetter(post: Post, { now }: Pick<Ports, 'now'>): NonNullable<Source['forget']> {
  return async (recordIds) => {
    let informed = 0;
    let unknown = 0;
    const left: string[] = [];
    const all = [...new Set(recordIds)];
    const named = all.filter((recordId) => !isDigest(recordId));
    for (const recordId of named) {
      const at = now().toISOString();
      const event = { type: 'feedback.erased', timestamp: at, data: { record: senderIdOf(recordId) } };
      // Each request has a new id, because answers may have come since the last request for the record.
      const id = `fb_${createHash('sha256').update(`erased ${recordId} ${at}`).digest('base64url').slice(0, 32)}`;
      try {
        if ((await post(id, event)) === 'taken') informed++;
        else unknown++;
      } catch (error) {
        if (!(error instanceof CloseloopError && error.advice.kind === 'permanent')) throw error;
        left.push(error.message);
      }
    }
    if (informed > 0)
      left.push(`what the receiver of answers keeps: it was told to forget those of ${informed} records`);
    if (unknown > 0)
      left.push(
        `what the receiver of answers keeps of ${unknown} records: it answered 404, as if it did not know them`,
      );
    const erased = all.length - named.length;
    if (erased > 0)
      left.push(
        `what the receiver of answers keeps of ${erased} records: their ids were erased before it could be told`,
      );
    return left;
  };
}
