import { z } from 'zod';
import { TimeOfDay, timeMistake } from './time-of-day.ts';

const Until = z.union([TimeOfDay, z.literal('24:00')], {
  error: ({ input }) => timeMistake(input, '21:00'),
});

/** The widest hours for text messages. Rules and campaigns may only narrow these hours, which hold in every time zone the recipient may be in. */
export const SmsHours = z
  .strictObject({
    from: TimeOfDay.default('08:00').describe("The first minute, on the recipient's clock"),
    until: Until.default('21:00').describe('The first minute in which none goes out any more; 24:00 is midnight'),
  })
  .refine(({ from, until }) => from < until, {
    path: ['until'],
    message: 'must be later than from: no text message goes out at night',
  });
