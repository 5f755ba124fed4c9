import { z } from 'zod';
import { countryCode } from '../../core/schedule/countries.ts';

const Country = z
  .string()
  .transform((text, context) => {
    const code = countryCode(text);
    if (code !== undefined) return code;
    context.addIssue({ code: 'custom', message: 'must be a country: its ISO code, like EE, or its English name' });
    return z.NEVER;
  })
  .meta({ title: 'country', description: 'A country: its ISO code, like EE, or its English name' });

/** Nobody is asked on a public holiday. The setting names the country whose holidays count where the recipient's country is unknown. */
export const Holidays = z.strictObject({
  country: Country.describe('Where recipients are of whom nothing tells the country'),
  region: z.string().min(1).optional().describe('State or province of that country, by code or name: BY, California'),
});
export type Holidays = z.output<typeof Holidays>;
