import type { PlanJob } from './plan.ts';

const replay = '"closeloop journeys replay"';

const ofEvents: Record<PlanJob['kind'], string> = {
  closed: replay,
  changed: '"closeloop journeys cancel" where the record, which the log names, should ask nobody any more',
  graded: '"closeloop requests grade" for the record that the log names; there is nothing to replay',
  survey: 'have the answers sent again; there is nothing to replay',
  revoked: 'give the access back and start again; there is nothing to replay',
};

/** What is left to do, the cause being mended, about a job of each stage that was given up. */
export const remedies = {
  plan: ({ kind }: PlanJob) => ofEvents[kind],
  ask: () => `${replay}, for parked ones "closeloop journeys resolve"`,
  writeBack: () => replay,
  erase: () => '"closeloop contact erasures retry": whom it is about is kept, and it is tried again by itself as well',
};
