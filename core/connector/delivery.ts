import type { Delivery, RecordEvent, SourceEvent } from './contract.ts';

/* What most deliveries say: one event, or nothing that counts. */

export const oneEvent = <Event extends SourceEvent>(event: Event) => ({
  ok: true as const,
  events: [event],
  ignored: [],
});

/** @param act a person has to act; `why` says how */
export const noEvent = (what: string, why: string, act?: true) => ({
  ok: true as const,
  events: [],
  ignored: [{ what, why, ...(act && { act }) }],
});

/** When something happened, as a vendor writes it; the time of receipt where that is no time. */
export function happenedAt(written: string | null | undefined, { receivedAt }: Pick<Delivery, 'receivedAt'>): Date {
  const at = new Date(written ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? receivedAt : at;
}

export const isRecordEvent = (event: SourceEvent): event is RecordEvent =>
  event.kind === 'closed' || event.kind === 'changed';
