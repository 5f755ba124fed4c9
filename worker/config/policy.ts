import { z } from 'zod';
import { AskAnyway } from './ask-anyway.ts';
import { Never } from './never.ts';

/** Who is asked, when and how often, over all sources: each member's schema is in a file of its own. */
export const Policy = z.strictObject({
  never: Never.optional(),
  askAnyway: AskAnyway.optional(),
});
export type Policy = z.output<typeof Policy>;
