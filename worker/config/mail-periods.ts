export const mailPeriods = ['week', 'month'] as const;
export type MailPeriod = (typeof mailPeriods)[number];
