import { z } from 'zod';

/* What the control surface and the methods of the stand-in take. */

const id = z.union([z.string().min(1), z.number().int()]).transform(String);
const email = z.email().exactOptional();

const customer = z.strictObject({ id: z.string().exactOptional(), email, phone: z.string().exactOptional() });

export const jobDefinition = z.strictObject({
  /** Left out: the next number. */
  id: id.exactOptional(),
  title: z.string().default('Kitchen tap'),
  customer: customer.default({}),
});
/** What is named is replaced. */
export const jobChange = z.strictObject({ id, title: z.string().exactOptional(), customer: customer.exactOptional() });

export const jobName = z.strictObject({ id });
export const rating = z.strictObject({ id, stars: z.number(), words: z.string().nullable().default(null) });
/** As the Feedback service is assumed to send them. */
export const surveyAnswers = z.strictObject({
  request: id,
  answers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
});
export const hook = z.strictObject({ url: z.url(), secret: z.string().startsWith('whsec_') });
export const redelivery = z.strictObject({ id: z.string().min(1) });
