import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  type ResponseRules,
  transient,
  VendorError,
} from '../../core/connector/classify.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { scopes } from './scopes.ts';

/** More than any plan has: a figure beyond is nobody's count. */
const mostPoints = 1_000_000;

/** What a call was charged, and what the app has left at this shop. Points; a bucket that fills up again by the second. */
export const Cost = z.object({
  requestedQueryCost: z.number().positive().max(mostPoints),
  throttleStatus: z.object({
    maximumAvailable: z.number().positive().max(mostPoints),
    currentlyAvailable: z.number().min(-mostPoints).max(mostPoints),
    restoreRate: z.number().min(1).max(mostPoints),
  }),
});
export type Cost = z.output<typeof Cost>;

/** Of an error, its code and the names on its way: messages may repeat what we sent. */
type GraphqlError = z.output<typeof GraphqlError>;
const GraphqlError = z.object({
  extensions: orElse(
    z.object({ code: z.string().regex(/^[A-Z_]{1,60}$/), cost: orElse(z.number().positive(), undefined) }),
    undefined,
  ),
  path: orElse(listOf(z.union([z.string().regex(/^\w{1,60}$/), z.number()])), undefined),
});

/** Every answer of the API, good or bad, also with HTTP 200. A locked shop or a bad token is told as text. */
export const Envelope = z.object({
  data: orElse(z.record(z.string(), z.unknown()), undefined).optional(),
  errors: orElse(listOf(GraphqlError).optional(), [{ extensions: undefined, path: undefined }]).optional(),
  extensions: orElse(z.object({ cost: orElse(Cost, undefined) }), undefined).optional(),
});
export type Envelope = z.output<typeof Envelope>;

/** What the call would have cost, where it was refused for that. */
export function exceededCost({ errors = [] }: Envelope): number | undefined {
  return errors.find(({ extensions }) => extensions?.code === 'MAX_COST_EXCEEDED')?.extensions?.cost;
}

/** The entry of an answer that an error is about: `nodes.3`, `o3`; undefined when it is about the whole. */
function entryOf({ path = [] }: GraphqlError): string | undefined {
  const index = path.findIndex((part) => typeof part === 'number');
  return path.length === 0 ? undefined : path.slice(0, Math.max(index, 0) + 1).join('.');
}

/** These are about the app or the shop, wherever they show. */
const ofAll = new Set(['ACCESS_DENIED', 'SHOP_INACTIVE', 'THROTTLED', 'MAX_COST_EXCEEDED']);
const passing = new Set(['INTERNAL_SERVER_ERROR', 'TIMEOUT']);

/** Does an answer fail in some of its entries only? What it says of the others is good. */
export function isPartial({ data, errors = [] }: Envelope): boolean {
  return data != null && errors.every((one) => entryOf(one) !== undefined && !ofAll.has(one.extensions?.code ?? ''));
}

/** Why single entries of an answer can't be had, by entry. `place`: shop and operation. */
export function entryFailures(place: string, { errors = [] }: Envelope): Map<string, VendorError> {
  const failures = new Map<string, VendorError>();
  for (const one of errors) {
    const { code = '' } = one.extensions ?? {};
    const mayPass = code === '' || passing.has(code);
    const error = new VendorError(place, {
      advice: { kind: mayPass ? 'transient' : 'permanent' },
      outcome: 'unknown',
      problem: `failed with ${code || 'an error'} at ${namesIn(one)}`,
      remedy: mayPass ? again : 'look at the order in Shopify',
      status: 200,
      code,
    });
    failures.set(entryOf(one) ?? '', error);
  }
  return failures;
}

/** Milliseconds until the bucket holds as many points as the call needs; 0 when it does. */
export function untilAffordable({ requestedQueryCost, throttleStatus }: Cost): number {
  const { maximumAvailable, currentlyAvailable, restoreRate } = throttleStatus;
  const missing = Math.min(requestedQueryCost, maximumAvailable) - currentlyAvailable;
  return Math.max(0, Math.ceil((missing / restoreRate) * 1000));
}

const again = 'it is tried again';
const permanentAddress = 'put its permanent address, name.myshopify.com, into `shop`';
const scopesRemedy =
  `give the app the scopes ${scopes.join(', ')} and install it again; a public app also needs the approval for protected ` +
  'customer data (name, address, phone, e-mail)';
const outdated = 'the API no longer takes what closeloop asks: update closeloop, or report it';

/** By status, and by GraphQL's codes. Source: shopify.dev, "GraphQL Admin API: status and error codes", "rate limits". */
const table: MeaningTable = {
  '3xx': { kind: 'config', doubtful: true, problem: 'it answers from another address', remedy: permanentAddress },
  401: config(
    'the access was refused: the app was uninstalled or its token revoked',
    'an owner of the shop must install the app again; then put its token (or client id and secret) into the configuration',
  ),
  402: config('the shop is frozen', 'its owner must settle the account with Shopify'),
  403: config('access is denied', scopesRemedy),
  404: config('there is no such shop', permanentAddress),
  423: config('the shop is locked', 'its owner must ask Shopify support why'),
  429: { kind: 'wait', ms: 2_000, problem: 'too many calls', remedy: again },
  430: { kind: 'wait', ms: 60_000, problem: 'Shopify takes us for an attack', remedy: again },
  // Of no order in particular: none of them must end for it.
  '4xx': config('Shopify refuses the call', outdated),
  '5xx': transient('Shopify fails', again),
  page: transient('the answer is no JSON', again),
  shape: transient('the answer has another shape than documented', again),
  SHOP_INACTIVE: config('the shop is inactive', 'its owner must settle the account with Shopify'),
  MAX_COST_EXCEEDED: transient('the call costs more than one may', 'it is tried again with fewer orders'),
  INTERNAL_SERVER_ERROR: transient('Shopify fails', again),
  TIMEOUT: transient('Shopify fails', again),
};

/** The error of an answer that says the most. */
const namedError = ({ errors = [] }: Envelope): GraphqlError | undefined =>
  errors.find(({ extensions }) => extensions !== undefined) ?? errors[0];
const namesIn = (error: GraphqlError | undefined): string =>
  error?.path?.filter((part) => typeof part === 'string').join('.') ?? '';

/**
 * What Shopify's answers mean, also those with HTTP 200.
 * @param random 0 ≤ x < 1, so that those who wait together don't come back together
 */
export function responseRules(random: () => number): ResponseRules {
  return {
    table,
    codeOf: (json) => namedError(Envelope.safeParse(json).data ?? {})?.extensions?.code,
    meaningOf: ({ status, json }) => {
      const envelope = Envelope.safeParse(json).data;
      if (envelope === undefined || (status !== 200 && status !== 400)) return undefined;
      return meaningIn(envelope, status === 200, random);
    },
  };
}

function meaningIn(envelope: Envelope, isOk: boolean, random: () => number): Meaning | undefined {
  const { data, errors = [], extensions } = envelope;
  if (isOk && data != null && errors.length === 0) return undefined;
  const named = namedError(envelope);
  const code = named?.extensions?.code;
  if (code === undefined) {
    const problem = 'the answer holds neither data nor the reason';
    return isOk ? transient(problem, again) : undefined;
  }
  const at = namesIn(named);
  if (code === 'ACCESS_DENIED') {
    return config(`access to ${at || 'what we asked for'} is denied`, scopesRemedy);
  }
  if (code === 'THROTTLED') {
    const { cost } = extensions ?? {};
    const ms = Math.ceil(Math.max(cost === undefined ? 1000 : untilAffordable(cost), 100) * (1 + random() / 4));
    // Where the answer says what is left, everybody waits for points of their own instead.
    const pauses = cost === undefined ? 'account' : 'nobody';
    return { kind: 'wait', ms, pauses, problem: 'the points are used up', remedy: again };
  }
  return table[code] ?? { kind: 'config', problem: `the call was refused${at && `, at ${at}`}`, remedy: outdated };
}
