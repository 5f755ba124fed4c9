import { z } from 'zod';
import { isLoopback, isTimeZone } from '../address.ts';
import { OperationOverrides, textWithout } from './operations.ts';

const BaseUrl = textWithout(baseUrlFlaw);
const ApiKey = textWithout(apiKeyFlaw);

/** An IANA zone name that this Node knows, such as `Europe/Tallinn`. An offset (`+02:00`) has no daylight saving time. */
const TimeZone = z.string().refine(isTimeZone, {
  error: 'is not a time zone name; give an IANA name such as Europe/Tallinn',
});

/** The `feedback` section of the configuration: one account of the Feedback Collection Service. */
export const FeedbackSettings = z
  .strictObject({
    /** Source: specification section 1, rules 1 and 2. */
    baseUrl: BaseUrl.describe('The production address, https://…/api'),
    testBaseUrl: BaseUrl.optional().describe("The test environment's address; needed with environment: test"),
    environment: z.enum(['production', 'test']).default('production').describe('Which of the two addresses is used'),
    apiKey: ApiKey.describe('From the web app: Settings, API keys. Without the word Token'),
    timeZone: TimeZone.describe(
      "The account's zone, such as Europe/Tallinn: what the service's dates and send times are in",
    ),
    timeoutMs: z.int().min(1).max(600_000).default(10_000).describe('For one call, its whole answer included'),
    callsAtOnce: z
      .int()
      .min(1)
      .max(1_000)
      .default(100)
      .describe('How many customers one process asks at once, with one call to the service each'),
    operations: OperationOverrides.optional().describe(
      'The wire form of what the public specification of the service does not show: five operations and the record of a ' +
        'feedback request. Every key may be left out and keeps the form that the README assumes. A place says where a value ' +
        'stands in a JSON body: a name (grade), or a dot path through nested objects (data.attributes.grade), never into a ' +
        'list; "", where it is allowed, is the body itself. A whole example: examples/configurations/other-wire-form.yaml',
    ),
  })
  .superRefine((settings, context) => {
    if (settings.environment !== 'test' || settings.testBaseUrl !== undefined) return;
    const message = 'is needed with environment: test; give the address of the test environment';
    context.addIssue({ code: 'custom', path: ['testBaseUrl'], message });
  });
export type FeedbackSettings = z.output<typeof FeedbackSettings>;

/** The address of the environment in use, without a slash at its end. */
export function baseUrlOf(settings: Pick<FeedbackSettings, 'baseUrl' | 'testBaseUrl' | 'environment'>): URL {
  const chosen = settings.environment === 'test' ? settings.testBaseUrl : settings.baseUrl;
  if (chosen === undefined) throw new TypeError('environment: test without testBaseUrl');
  const url = new URL(chosen);
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** What may be wrong with the service's address, for an error when nothing is found there. Source: specification section 1, rule 1. */
export function prefixFlaw(settings: Parameters<typeof baseUrlOf>[0]): string | undefined {
  const url = baseUrlOf(settings);
  if (url.pathname.endsWith('/api')) return undefined;
  const name = settings.environment === 'test' ? 'testBaseUrl' : 'baseUrl';
  return `feedback.${name} does not end with /api, as the service's address does: write ${url.href.replace(/\/$/, '')}/api`;
}

function baseUrlFlaw(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'is not an address; give one like https://feedback.example.com/api';
  if (url.protocol === 'http:' && !isLoopback(text)) {
    return 'must begin with https:// (http:// is accepted for loopback addresses only)';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or password; the key goes in apiKey';
  if (text.includes('?')) return 'must not hold a query (?…)';
  if (text.includes('#')) return 'must not hold a fragment (#…)';
  return undefined;
}

function apiKeyFlaw(key: string): string | undefined {
  if (key === '') return 'is empty; an admin finds the key in the web app under Settings, API keys';
  if (/Token\s/i.test(key)) return 'must be the key alone, without the word Token';
  if (!/^[\x21-\x7e]+$/.test(key)) return 'holds spaces, line ends or letters that no key has; copy the key again';
  return undefined;
}
