import type { Journey, JourneyState } from '../../../../worker/journey/journey.ts';

/** A journey for tests that care about its state only. */
export function journeyIn(state: JourneyState, more: Partial<Journey> = {}): Journey {
  const at = new Date('2026-05-04T09:00:00Z');
  return {
    id: '41960.1',
    source: 'support',
    recordId: '41960',
    state,
    receivedAt: at,
    updatedAt: at,
    closing: 'first',
    closedAt: at,
    ...more,
  };
}
