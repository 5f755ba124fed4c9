import type { PlanJob } from './jobs.ts';

const replay = '"closeloop journeys replay"';
const replayEvent = '"closeloop events replay"';

const ofEvents: Record<PlanJob['kind'], string> = {
  closed: replay,
  changed: replayEvent,
  graded: replayEvent,
  survey: replayEvent,
  revoked: 'give the access back and start again; there is nothing to replay',
};

/** What is left to do, the cause being mended, about a job of each stage that was given up. */
export const remedies = {
  plan: ({ kind }: PlanJob) => ofEvents[kind],
  ask: () => `${replay}, for parked ones "closeloop journeys resolve"`,
  writeBack: () => replay,
  erase: () => '"closeloop contact erasures retry": whom it is about is kept, and it is tried again by itself as well',
};
