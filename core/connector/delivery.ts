import type { Delivery, RecordEvent, SourceEvent } from './contract.ts';

/* The results of most deliveries: one event, or no event. */

export const oneEvent = <Event extends SourceEvent>(event: Event) => ({
  ok: true as const,
  events: [event],
  ignored: [],
});

/** @param act whether a person has to act; then `why` says how */
export const noEvent = (what: string, why: string, act?: true) => ({
  ok: true as const,
  events: [],
  ignored: [{ what, why, ...(act && { act }) }],
});

/** The instant in the vendor's text; the time of receipt where the text is no time. */
export function happenedAt(written: string | null | undefined, { receivedAt }: Pick<Delivery, 'receivedAt'>): Date {
  const at = new Date(written ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? receivedAt : at;
}

export const isRecordEvent = (event: SourceEvent): event is RecordEvent =>
  event.kind === 'closed' || event.kind === 'changed';
