/** The days of the week, in the order of ISO 8601: 1 is Monday. */
export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];
