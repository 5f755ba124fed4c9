import { z } from 'zod';
import { isSafeAddress } from '../address.ts';
import { Settle } from '../schedule/duration-setting.ts';
import { isStandardSecret } from './standard-webhook.ts';

/* Settings that the connectors of several vendors share. */

/** A credential. */
export const secret = z.string().trim().min(1, 'is empty').meta({ title: 'secret' });

/** A setting that is true or false. */
export const yesOrNo = (what: string, initial = false) => z.boolean().default(initial).describe(what);

/** An address that may have a path, without a slash at its end. @param error the message for any other text */
export const pathAddress = (error: string) =>
  z
    .string()
    .refine((text) => isSafeAddress(text, 'path'), error)
    .transform((text) => text.replace(/\/+$/, ''));

/** The secrets that sign webhooks: one secret, or two during a rotation. @param missing the message for an empty list */
export const webhookSecrets = <Secret extends z.ZodType>(one: Secret, missing: string) =>
  z.array(one).min(1, missing).max(2, 'takes the current secret and, while rotating, the other one');

/** A numeric id of the vendor, as YAML or an environment variable gives it. */
export const numericId = z
  .union([z.int().positive(), z.string().regex(/^\d{1,20}$/, 'a number, as the vendor shows it')])
  .transform(String);

/** The parts of an answer, each of which may have a place on the record. */
type AnswerPart = 'grade' | 'comment' | 'answeredAt' | 'status' | 'answers';

/**
 * The settings of `writeBack`: the place of each part of an answer (a property, a field's id, a key).
 * @param takes describes the place of each part at this vendor, for the reference of the settings
 */
export function answerPlaces<Place extends z.ZodType>(place: Place, takes: Readonly<Record<AnswerPart, string>>) {
  return {
    grade: place.optional().describe(`Where the grade goes: ${takes.grade}`),
    comment: place.optional().describe(`Where the comment goes: ${takes.comment}`),
    answeredAt: place
      .optional()
      .describe(
        `Where the time of the answer goes: ${takes.answeredAt}. With it, an older answer never replaces a newer one`,
      ),
    status: place.optional().describe(`Says whether an answer came: ${takes.status}`),
    answers: z
      .record(z.string().trim().min(1, 'is empty').max(100), place)
      .default({})
      .describe(`Where answers to a survey go, by the id of the question: ${takes.answers}`),
    settle: Settle.prefault('0s').describe(
      'An answer is written once it has stayed as it is for so long: customers correct a slip',
    ),
  };
}

/** For `refine` of `writeBack`: `noAnswer` needs at least one of these settings, which put the status on the record. */
export function noAnswerNeeds(names: readonly string[], error: string): Parameters<z.ZodType<object>['refine']> {
  const hasPlace = (settings: Map<string, unknown>) => names.some((name) => settings.get(name));
  return [
    (value) => {
      const settings = new Map<string, unknown>(Object.entries(value));
      return settings.get('noAnswer') !== true || hasPlace(settings);
    },
    { path: ['noAnswer'], error },
  ];
}

/** For `refine` of `writeBack`: no two parts of an answer may have the same place, as one would overwrite the other. */
export const ownPlaces: Parameters<z.ZodType<object>['refine']> = [
  (value) => {
    const settings = new Map<string, unknown>(Object.entries(value));
    const single = ['grade', 'comment', 'answeredAt', 'status'].map((part) => settings.get(part));
    const places = [...single, ...Object.values(settings.get('answers') ?? {})].filter((place) => place !== undefined);
    return new Set(places).size === places.length;
  },
  { error: 'one name takes two things: each needs its own' },
];

/** The vendor's address for tests and stand-ins. */
export const standinOrigin = z
  .string()
  .refine(
    (text) => isSafeAddress(text, 'origin'),
    'https://host, or http://127.0.0.1:port on this machine, without a path',
  )
  .transform((text) => new URL(text).origin)
  .optional()
  .describe('Tests and stand-ins only');

/**
 * For `refine`: exactly one of several kinds of credentials is given, complete, with no setting of the other kinds.
 * @param kinds the settings of each kind; a problem is reported at the very first setting
 */
export function oneKindOfCredentials(
  kinds: readonly (readonly string[])[],
  words: { none: string; mixed: string },
): Parameters<z.ZodType<object>['refine']> {
  const all = kinds.flat();
  const givenIn = (value: unknown): string[] => {
    const settings = new Map(Object.entries(value ?? {}));
    return all.filter((name) => settings.get(name) !== undefined);
  };
  return [
    (value) => kinds.some((kind) => kind.join() === givenIn(value).join()),
    {
      path: all.slice(0, 1),
      error: ({ input }) => (givenIn(input).length === 0 ? words.none : words.mixed),
      // Runs even if other settings are wrong, so that all mistakes are reported at once.
      when: ({ value }) => typeof value === 'object' && value !== null,
    },
  ];
}

/** A secret that signs what closeloop sends. */
export const signingSecret = z
  .string()
  .refine(
    (text) => isStandardSecret(text) && !text.startsWith('whpk_'),
    'must be whsec_ and the base64 of 24 to 64 random bytes',
  );

/** Where signed events are sent. */
export const receiver = {
  url: z
    .string()
    .refine(isPlainUrl, 'must be like https://host/path, without a name, a password or a #')
    .describe('The receiver'),
  allowPrivate: yesOrNo('Allows private addresses (10.…, 192.168.…, this machine, cloud metadata), and http'),
};

/** The URL holds no user name and password, which would go to whoever answers at the address, and no fragment. */
function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['https:', 'http:'].includes(url.protocol) && url.username + url.password + url.hash === '';
}

/** The arguments of `refine` for a section of the settings with `receiver`. */
export const httpsUnlessPrivate: Parameters<z.ZodType<{ url: string; allowPrivate: boolean }>['refine']> = [
  ({ url, allowPrivate }) => allowPrivate || !url.startsWith('http:'),
  { path: ['url'], error: 'must be https; http needs allowPrivate' },
];
