import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  type ResponseRules,
  transient,
  VendorError,
} from '../../core/connector/classify.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { lookUp } from '../../core/look-up.ts';

/** The scopes that the app needs. A write scope includes the read scope. */
export const scopes = ['read_orders', 'write_orders', 'read_customers', 'read_fulfillments', 'read_locations'] as const;

/** More points than any plan has: larger figures are errors. */
const mostPoints = 1_000_000;

/** The cost of a call in points, and the app's bucket at this shop, which refills every second. */
const Cost = z.object({
  requestedQueryCost: z.number().positive().max(mostPoints),
  throttleStatus: z.object({
    maximumAvailable: z.number().positive().max(mostPoints),
    currentlyAvailable: z.number().min(-mostPoints).max(mostPoints),
    restoreRate: z.number().min(1).max(mostPoints),
  }),
});

const Extensions = z.object({
  code: z.string().regex(/^[A-Z_]{1,60}$/),
  cost: orElse(z.number().positive(), undefined),
});
const Path = listOf(z.union([z.string().regex(/^\w{1,60}$/), z.number()]));

/** An error in a response. The message is left out, because it may repeat values. */
const GraphqlError = z
  .object({ extensions: orElse(Extensions, undefined), path: orElse(Path, undefined) })
  .transform(({ extensions: { code = '', cost } = {}, path = [] }) => {
    const index = path.findIndex((part) => typeof part === 'number');
    return {
      code,
      /** The cost in points of a call that Shopify refused because it costs more than one call may. */
      cost,
      /** The place in words: 'nodes.customer'. */
      at: path.filter((part) => typeof part === 'string').join('.'),
      /** The entry of the response that the error concerns: `nodes.3`, `o3`; '' for the whole response. */
      entry: path.slice(0, Math.max(index, 0) + 1).join('.'),
    };
  });

/** Every response of the API, including errors with status 200. For a locked shop or an invalid token `errors` is a text. */
export const Envelope = z.object({
  data: orElse(z.record(z.string(), z.unknown()), undefined).optional(),
  errors: orElse(listOf(GraphqlError).optional(), [GraphqlError.parse({})]).optional(),
  extensions: orElse(z.object({ cost: orElse(Cost, undefined) }), undefined).optional(),
});
export type Envelope = z.output<typeof Envelope>;

/** The points that Shopify charged for a call, even for a call that it refused for its cost; and the bucket after the call. */
export function costIn({ json }: Pick<HttpResponse, 'json'>) {
  const { extensions, errors = [] } = Envelope.safeParse(json).data ?? {};
  const { cost } = extensions ?? {};
  if (cost === undefined) return { charged: errors.find(({ code }) => code === 'MAX_COST_EXCEEDED')?.cost };
  const { maximumAvailable: limit, currentlyAvailable: available, restoreRate: perSecond } = cost.throttleStatus;
  return { charged: cost.requestedQueryCost, bucket: { limit, available, perSecond } };
}

/** Codes that concern the app or the shop, whatever their path. */
const ofAll = new Set(['ACCESS_DENIED', 'SHOP_INACTIVE', 'THROTTLED', 'MAX_COST_EXCEEDED']);

/** Whether only some entries of a response failed, and the other entries are valid. */
export const isPartial = ({ data, errors = [] }: Envelope): boolean =>
  data != null && errors.every(({ entry, code }) => entry !== '' && !ofAll.has(code));

/** The errors of single entries, by entry. @param place shop and operation, for messages */
export function entryFailures(place: string, { errors = [] }: Envelope): Map<string, VendorError> {
  return new Map(
    errors.map(({ code, at, entry }) => {
      const mayPass = ['', 'INTERNAL_SERVER_ERROR', 'TIMEOUT'].includes(code);
      const problem = `failed with ${code || 'an error'} at ${at}`;
      const told = { problem, remedy: mayPass ? again : 'look at the order in Shopify', status: 200, code };
      const advice = { kind: mayPass ? 'transient' : 'permanent' } as const;
      return [entry, new VendorError(place, { ...told, advice, outcome: 'unknown' })];
    }),
  );
}

/** Milliseconds until the bucket has enough points for the call; 0 if it has. */
export function untilAffordable({ requestedQueryCost, throttleStatus }: z.output<typeof Cost>): number {
  const { maximumAvailable, currentlyAvailable, restoreRate } = throttleStatus;
  const missing = Math.min(requestedQueryCost, maximumAvailable) - currentlyAvailable;
  return Math.max(0, Math.ceil((missing / restoreRate) * 1000));
}

const again = 'a later attempt may succeed';
const permanentAddress = 'put its permanent address, name.myshopify.com, into `shop`';
const scopesRemedy =
  `give the app the scopes ${scopes.join(', ')} and install it again; a public app also needs the approval for protected ` +
  'customer data (name, address, phone, e-mail)';
const outdated = 'the API no longer takes what closeloop asks: update closeloop, or report it';
const failing = transient('Shopify fails', again);

/** Rows by status, and by GraphQL's codes. Source: shopify.dev, "GraphQL Admin API: status and error codes", "rate limits". */
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
  // This concerns the source and not one order: no journey may end because of it.
  '4xx': config('Shopify refuses the call', outdated),
  page: transient('the answer is no JSON', again),
  shape: transient('the answer has another shape than documented', again),
  SHOP_INACTIVE: config('the shop is inactive', 'its owner must settle the account with Shopify'),
  MAX_COST_EXCEEDED: transient('the call costs more than one may', 'it is tried again with fewer orders'),
  ...{ '5xx': failing, INTERNAL_SERVER_ERROR: failing, TIMEOUT: failing },
};

/** The first error with a code among the errors of a response. */
const namedError = ({ errors = [] }: Envelope) => errors.find(({ code }) => code !== '');

/**
 * The rules for Shopify's responses, including responses with status 200.
 * @param random 0 ≤ x < 1, so that processes that wait at the same time don't return at the same time
 */
export function responseRules(random: () => number): ResponseRules {
  return {
    table,
    codeOf: (json) => namedError(Envelope.safeParse(json).data ?? {})?.code,
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
  if (named === undefined) return isOk ? transient('the answer holds neither data nor the reason', again) : undefined;
  const { code, at } = named;
  if (code === 'ACCESS_DENIED') return config(`access to ${at || 'what we asked for'} is denied`, scopesRemedy);
  if (code === 'THROTTLED') {
    const { cost } = extensions ?? {};
    const ms = Math.ceil(Math.max(cost === undefined ? 1000 : untilAffordable(cost), 100) * (1 + random() / 4));
    // If the response has the bucket, the budget makes each call wait for its points.
    const pauses = cost === undefined ? 'account' : 'nobody';
    return { kind: 'wait', ms, pauses, problem: 'the points are used up', remedy: again };
  }
  return lookUp(table, code) ?? config(`the call was refused${at && `, at ${at}`}`, outdated);
}
