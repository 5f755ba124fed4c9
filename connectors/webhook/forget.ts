import { createHash } from 'node:crypto';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { Post } from './post.ts';
import { senderIdOf } from './record-id.ts';

/**
 * Tells the receiver of answers to forget those of these records, one signed event each. What it does then is its own: the
 * proof says so.
 */
export function forgetter(post: Post, { now }: Pick<Ports, 'now'>): NonNullable<Source['forget']> {
  return async (recordIds) => {
    let told = 0;
    let unknown = 0;
    const left: string[] = [];
    for (const recordId of new Set(recordIds)) {
      const at = now().toISOString();
      const event = { type: 'feedback.erased', timestamp: at, data: { record: senderIdOf(recordId) } };
      // Another id each time: the record may have been answered about since it was forgotten last.
      const id = `fb_${createHash('sha256').update(`erased ${recordId} ${at}`).digest('base64url').slice(0, 32)}`;
      try {
        if ((await post(id, event)) === 'taken') told++;
        else unknown++;
      } catch (error) {
        if (!(error instanceof CloseloopError && error.advice.kind === 'permanent')) throw error;
        left.push(error.message);
      }
    }
    if (told > 0) left.push(`what the receiver of answers keeps: it was told to forget those of ${told} records`);
    if (unknown > 0)
      left.push(
        `what the receiver of answers keeps of ${unknown} records: it answered 404, as if it did not know them`,
      );
    return left;
  };
}
