/** The steps of a source that a person may pause. Erasures can't be paused: whoever asked for one was promised it. */
export const pausableSteps = ['plan', 'ask', 'collect', 'write-back', 'act'] as const;
export type PausableStep = (typeof pausableSteps)[number];
