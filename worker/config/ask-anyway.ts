import { z } from 'zod';

/** Customers whom closeloop does not ask unless this setting says so. */
export const excludedByDefault = ['own-domains', 'reserved-domains', 'role-addresses'] as const;

export const AskAnyway = z
  .array(z.enum(excludedByDefault))
  .describe(
    'Who is asked although excluded by default: addresses of domains that the connector knows as your own, of domains that nobody can have (example.com, .test), of machines (noreply@)',
  );
