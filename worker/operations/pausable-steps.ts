/** Steps of a source that a person may pause. An erasure goes on: whoever asked for it was told that it is taken. */
export const pausableSteps = ['plan', 'ask', 'collect', 'write-back'] as const;
export type PausableStep = (typeof pausableSteps)[number];
