import { z } from 'zod';
import { countryCode } from '../../core/schedule/countries.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';
import { Never } from './never.ts';
import { TestContact } from './test-mode.ts';
import { Period, TimeOfDay, timeMistake } from './values.ts';

/* Who is asked, when and how often: the parts that rules have as well, then those over all sources. */

const most = z.int().min(1).max(1_000_000);

/** The most requests in a period, spread evenly over the hours in which customers may be asked. */
export const Cap = z
  .strictObject({
    hour: most.optional().describe("In an hour of the account's clock"),
    day: most.optional().describe("On a day of the account's calendar; what passes it goes to the next open day"),
  })
  .refine(({ hour, day }) => hour !== undefined || day !== undefined, 'must say hour, day or both');
export type Cap = z.output<typeof Cap>;

/** A person gets no second request within the period. `30d` is short for `{ period: 30d }`. */
export const Throttle = z.union([
  Period.transform((period) => ({ period, otherwise: 'drop' as const, prefer: 'first' as const })),
  z.strictObject({
    period: Period.describe('From one request to the next'),
    otherwise: z
      .enum(['drop', 'defer'])
      .default('drop')
      .describe('`drop`: the closing is skipped; `defer`: it waits until the period is over, unless it gets too old'),
    prefer: z
      .enum(['first', 'latest'])
      .default('first')
      .describe(
        'Of several closings of a person that wait: `first` asks about the one that is due first; `latest` about the one that was closed last until then, when that is due',
      ),
  }),
]);
export interface Throttle {
  period: number;
  otherwise: 'drop' | 'defer';
  prefer: 'first' | 'latest';
}

/** The age up to which a closing is asked about; false: any age. */
export const MaxAge = z
  .union([Duration, z.literal(false)])
  .describe(
    'About a closing older than this nobody is asked; false: of any age. Left out: 3 days longer than the delay',
  );

/** Customers whom closeloop does not ask unless this setting says so. */
const AskAnyway = z
  .array(z.enum(['own-domains', 'reserved-domains', 'role-addresses']))
  .describe(
    'Who is asked although excluded by default: addresses of domains that the connector knows as your own, of domains that nobody can have (example.com, .test), of machines (noreply@)',
  );

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
const Holidays = z.strictObject({
  country: Country.describe('Where recipients are of whom nothing tells the country'),
  region: z.string().min(1).optional().describe('State or province of that country, by code or name: BY, California'),
});

const Until = z.union([TimeOfDay, z.literal('24:00')], {
  error: ({ input }) => timeMistake(input, '21:00'),
});

/** The widest hours for text messages. Rules and campaigns may only narrow these hours, which hold in every time zone the recipient may be in. */
const SmsHours = z
  .strictObject({
    from: TimeOfDay.default('08:00').describe("The first minute, on the recipient's clock"),
    until: Until.default('21:00').describe('The first minute in which none goes out any more; 24:00 is midnight'),
  })
  .refine(({ from, until }) => from < until, {
    path: ['until'],
    message: 'must be later than from: no text message goes out at night',
  });

const frequency = {
  throttle: Throttle.optional().describe(
    'No request to a person who was asked this recently in one of these campaigns',
  ),
  cap: Cap.optional().describe('At most so many requests in these campaigns'),
};

const campaignId = z.string().regex(/^[1-9]\d*$/, 'must be the number of a campaign');

const Campaigns = z.record(campaignId, z.strictObject(frequency));
const Groups = z.record(
  z.string().min(1),
  z.strictObject({
    campaigns: z.array(z.int().positive()).min(1).describe('The numbers of the campaigns'),
    ...frequency,
  }),
);

/** `policy`: over all sources. */
export const Policy = z.strictObject({
  never: Never.optional(),
  askAnyway: AskAnyway.optional(),
  throttle: Throttle.optional().describe('No request to a person who was asked this recently, whatever the rule'),
  cap: Cap.optional().describe('At most so many requests, over all sources'),
  campaigns: Campaigns.optional().describe('Of single campaigns, by their number'),
  groups: Groups.optional().describe('Of several campaigns together, by a name of your own'),
  sms: SmsHours.prefault({}).describe(
    "When text messages go out, at the earliest and the latest, on the recipient's clock: no rule's window and no campaign's exceeds these hours",
  ),
  holidays: Holidays.optional().describe(
    "Nobody is asked on a public holiday of the recipient's country, and region. Left out: holidays are days like others",
  ),
  maxAge: MaxAge.optional(),
  answers: z
    .array(z.unknown())
    .optional()
    .describe('Answer rules of all sources, after their own: `sources.….answers` has the form'),
  actions: z
    .strictObject({
      perRecord: z.int().min(0).default(3).describe('On one record within a day; further ones are parked'),
    })
    .prefault({})
    .describe('How much answers may set going at the vendor'),
  test: TestContact.optional().describe(
    'Test mode for everything: every request goes to this contact instead of the customer, and no answer is written anywhere',
  ),
});
export type Policy = z.output<typeof Policy>;

/** The settings beside a source's rules that hold for all of its rules. */
export const SourcePolicy = z.strictObject({
  never: Never.optional(),
  maxAge: MaxAge.optional(),
  test: TestContact.optional().describe('Test mode for this source: every request of it goes to this contact'),
});
export type SourcePolicy = z.output<typeof SourcePolicy>;

export const sourcePolicyNames = Object.keys(SourcePolicy.shape);

/** The settings of a source that its connector doesn't read. */
export const ownSettings: readonly string[] = ['connector', 'rules', 'answers', 'was', ...sourcePolicyNames];

/** Splits a source's section, without connector and rules, into the policy and the connector's settings. */
export function partsOf(section: Readonly<Record<string, unknown>>): {
  policy: Record<string, unknown>;
  settings: Record<string, unknown>;
} {
  const entries = Object.entries(section);
  const isPolicy = ([name]: [string, unknown]) => sourcePolicyNames.includes(name);
  return {
    policy: Object.fromEntries(entries.filter(isPolicy)),
    settings: Object.fromEntries(entries.filter((entry) => !isPolicy(entry))),
  };
}
