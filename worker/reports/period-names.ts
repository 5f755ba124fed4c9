/** Periods that people choose by name. */
export const namedPeriods = ['7-days', '30-days', 'this-month', 'last-month', 'this-quarter', 'last-quarter'] as const;
export type PeriodName = (typeof namedPeriods)[number];

export const stepNames = ['day', 'week', 'month'] as const;
export type StepName = (typeof stepNames)[number];
