import { z } from 'zod';

/** What "Test webhook" signs with before a webhook exists. Everybody knows it, so it proves nothing. */
const publicTestSecret = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==';

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** https, or http to this machine; nothing but a host and a port. */
function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username } = new URL(text);
  if (pathname !== '/' || search + hash + username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname));
}

/** An id as YAML or an environment variable gives it. */
const id = z
  .union([z.int().positive(), z.string().regex(/^\d{1,15}$/, 'a number, as Zendesk shows it')])
  .transform(String);

const secret = z.string().trim().min(1, 'is empty');

const writeBack = z
  .strictObject({
    /** Id of the ticket field for the grade: integer, decimal, text, dropdown, multi-select or checkbox. */
    grade: id.optional(),
    /**
     * Grade → the option's tag for a dropdown, 'true' or 'false' for a checkbox. A grade that isn't listed becomes its own
     * digits in a dropdown; a checkbox is then ticked by any grade above 0.
     */
    gradeValues: z.record(z.string().regex(/^\d+$/, 'a grade, like "9"'), z.string().min(1)).default({}),
    /** Id of a text or multi-line field for the comment. */
    comment: id.optional(),
    /** Id of a date field (the day, UTC) or a text field (ISO 8601, UTC) for the time of the answer. */
    answeredAt: id.optional(),
    /** Adds an internal note with the answer. Never public: a public comment is mailed to the customer. */
    note: z.boolean().default(false),
    /** Adds the tags `fb_answered` and `fb_grade_<n>`. */
    tags: z.boolean().default(false),
  })
  .prefault({});

/** A Zendesk source in the configuration: one Zendesk Support account. */
export const settings = z
  .strictObject({
    /** `acme` of acme.zendesk.com, also where customers see another address. */
    subdomain: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'only the first part of the address, like "acme" of acme.zendesk.com'),
    /** An OAuth client of kind "Confidential" that belongs to a service user (Admin Center > APIs > OAuth clients). */
    clientId: secret.optional(),
    clientSecret: secret.optional(),
    /** What the token may do; one string. `users:write` only for what closeloop doesn't do yet: writing on a requester. */
    scope: secret.default('read tickets:write'),
    /** Legacy: Zendesk creates no API tokens any more and refuses all of them from 2027-04-30. */
    email: z.email().optional(),
    apiToken: secret.optional(),
    /** The webhook's signing secret; two while it is being rotated. */
    webhookSecrets: z
      .array(
        secret.refine(
          (text) => text !== publicTestSecret,
          "is Zendesk's public test secret: take the webhook's own (Admin Center > Webhooks > Reveal secret)",
        ),
      )
      .min(1, 'needs the signing secret of the webhook')
      .max(2, 'takes the current secret and, while rotating, the other one'),
    /** A delivery signed longer ago, or further ahead, than this is refused. */
    toleranceSeconds: z.int().min(60).default(900),
    /** The account's number. Given, other accounts' events are left out. */
    accountId: id.optional(),
    /** The user that our OAuth client or token acts as; its events are our own echo. */
    integrationUserId: id.optional(),
    /** Tests and stand-ins only. */
    baseUrl: z
      .string()
      .refine(isSafeAddress, 'https://host, or http://127.0.0.1:port on this machine, without a path')
      .transform((text) => new URL(text).origin)
      .optional(),
    writeBack,
  })
  .refine((value) => kindOf(value) === 'one', {
    path: ['clientId'],
    error: ({ input }) =>
      kindOf(input) === 'none'
        ? 'is missing: give clientId and clientSecret of an OAuth client'
        : 'give clientId and clientSecret, or (legacy) email and apiToken; both parts of one pair and nothing of the other',
    // Also when something else is wrong, so that all mistakes are told at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  });

/** Which credentials are there: one whole pair, nothing, or some mixture? */
function kindOf(value: unknown): 'one' | 'none' | 'mixed' {
  const given = new Set(Object.keys(value ?? {}));
  const has = (...names: string[]): number => names.filter((name) => given.has(name)).length;
  const [client, token] = [has('clientId', 'clientSecret'), has('email', 'apiToken')];
  if (client + token === 0) return 'none';
  return (client === 2 && token === 0) || (client === 0 && token === 2) ? 'one' : 'mixed';
}

export type ZendeskSettings = z.output<typeof settings>;

/** The API's address. Built from the checked subdomain, never from anything a tenant or an answer supplies. */
export function addressOf({ subdomain, baseUrl }: Pick<ZendeskSettings, 'subdomain' | 'baseUrl'>): string {
  return baseUrl ?? `https://${subdomain}.zendesk.com`;
}
