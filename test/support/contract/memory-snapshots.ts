import type { RecordSnapshots, SourceEvent } from '../../../core/connector/contract.ts';

/** The snapshots that events carry, in memory, for one process; kept by the worker's rules (core/connector/contract.ts). */
export function memorySnapshots(): RecordSnapshots & { hear(events: readonly SourceEvent[]): void } {
  const held = new Map<string, { at: Date; snapshot: object }>();
  return {
    of: async (ids) => ids.map((id) => held.get(id)?.snapshot),
    hear(events) {
      for (const event of events) {
        if ((event.kind !== 'closed' && event.kind !== 'changed' && event.kind !== 'external-grade') || !event.snapshot)
          continue;
        const before = held.get(event.recordId);
        const isNews = before === undefined || (event.kind !== 'external-grade' && before.at <= event.at);
        // As it comes out of the queue and the store.
        if (isNews) held.set(event.recordId, { at: event.at, snapshot: structuredClone(event.snapshot) });
      }
    },
  };
}
