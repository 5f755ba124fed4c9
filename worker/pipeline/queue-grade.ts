import type { Journey } from '../journey/journey.ts';
import type { Queues } from './context.ts';

/**
 * Queues the sending of a grade that came before the journey had a request. The event holds the journey's id, and no grade.
 */
export async function queueGrade({ id, recordId, given }: Journey, context: Pick<Queues, 'queueEvent'>): Promise<void> {
  if (!given || given.delivered) return;
  await context.queueEvent({
    kind: 'external-grade',
    journeyId: id,
    recordId,
    grade: null,
    comment: null,
    at: given.at,
    key: `given:${id}:${given.at.toISOString()}`,
    what: 'the grade that was given elsewhere can be passed on now',
    receivedAt: new Date(),
  });
}
