import type { PlanJob } from './jobs.ts';

const replay = '"closeloop journeys replay"';
const replayEvent = '"closeloop events replay"';

const ofEvents: Record<PlanJob['kind'], string> = {
  closed: replay,
  changed: replayEvent,
  'external-grade': replayEvent,
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

/** About a job that this version can not read. */
export const foreignRemedy =
  'run one version everywhere; it is kept, and goes on within ten minutes once a version that can read it runs';
