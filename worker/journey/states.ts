/** The states of design.md; `journey/transitions.ts` says which may follow which. */
export const journeyStates = [
  'received',
  'skipped',
  'waiting',
  'creating',
  'asked',
  'answered',
  'written',
  'cancelled',
  'expired',
  'tested',
  'withheld',
  'failed',
  'parked',
] as const;
export type JourneyState = (typeof journeyStates)[number];
