import { z } from 'zod';

const most = z.int().min(1).max(1_000_000);

/** The most requests in a period, spread evenly over the hours in which customers may be asked. */
export const Cap = z
  .strictObject({
    hour: most.optional().describe("In an hour of the account's clock"),
    day: most.optional().describe("On a day of the account's calendar; what passes it goes to the next open day"),
  })
  .refine(({ hour, day }) => hour !== undefined || day !== undefined, 'must say hour, day or both');
export type Cap = z.output<typeof Cap>;
