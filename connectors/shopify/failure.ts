import { z } from 'zod';
import { type Advice, CloseloopError, type Outcome } from '../../core/errors.ts';
import { scopes } from './subscriptions.ts';

/** What a call was charged, and what the app has left at this shop. Points; a bucket that fills up again by the second. */
export const Cost = z.object({
  requestedQueryCost: z.number().positive(),
  throttleStatus: z.object({
    maximumAvailable: z.number().positive(),
    currentlyAvailable: z.number(),
    restoreRate: z.number().positive(),
  }),
});
export type Cost = z.output<typeof Cost>;

/** Of an error, its code and the names on its way: messages may repeat what we sent. */
const GraphqlError = z.object({
  extensions: z
    .object({ code: z.string().regex(/^[A-Z_]{1,60}$/), cost: z.number().positive().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  path: z
    .array(z.union([z.string().regex(/^\w{1,60}$/), z.number()]))
    .optional()
    .catch(undefined),
});

/** Every answer of the API, good or bad, also with HTTP 200. A locked shop or a bad token is told as text. */
export const Envelope = z.object({
  data: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  errors: z
    .array(GraphqlError)
    .optional()
    .catch([{ extensions: undefined, path: undefined }]),
  extensions: z
    .object({ cost: Cost.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
export type Envelope = z.output<typeof Envelope>;

/** What the call would have cost, where it was refused for that. */
export function exceededCost({ errors = [] }: Envelope): number | undefined {
  return errors.find(({ extensions }) => extensions?.code === 'MAX_COST_EXCEEDED')?.extensions?.cost;
}

/** The entry of an answer that an error is about: `nodes.3`, `o3`; undefined when it is about the whole. */
function entryOf({ path = [] }: z.output<typeof GraphqlError>): string | undefined {
  const index = path.findIndex((part) => typeof part === 'number');
  return path.length === 0 ? undefined : path.slice(0, Math.max(index, 0) + 1).join('.');
}

/** These are about the app or the shop, wherever they show. */
const ofAll = new Set(['ACCESS_DENIED', 'SHOP_INACTIVE', 'THROTTLED', 'MAX_COST_EXCEEDED']);
const passing = new Set(['INTERNAL_SERVER_ERROR', 'TIMEOUT']);

/** Does an answer fail in some of its entries only? What it says of the others is good. */
function isPartial({ data, errors = [] }: Envelope): boolean {
  return data != null && errors.every((one) => entryOf(one) !== undefined && !ofAll.has(one.extensions?.code ?? ''));
}

/** Why single entries of an answer can't be had, by entry. `place`: shop and operation. */
export function entryFailures(place: string, { errors = [] }: Envelope): Map<string, CloseloopError> {
  const failures = new Map<string, CloseloopError>();
  for (const one of errors) {
    const { code } = one.extensions ?? {};
    const mayPass = code === undefined || passing.has(code);
    const at = one.path?.filter((part) => typeof part === 'string').join('.');
    const message = `Shopify ${place}: failed with ${code ?? 'an error'} at ${at}${mayPass ? '; tried again' : ''}`;
    const error = new CloseloopError(message, { kind: mayPass ? 'transient' : 'permanent' }, { outcome: 'unknown' });
    failures.set(entryOf(one) ?? '', error);
  }
  return failures;
}

/** A failure of a call; `pauseMs`: nobody may call this shop before. */
export interface Failure {
  error: CloseloopError;
  pauseMs?: number;
}

/** Milliseconds until the bucket holds as many points as the call needs; 0 when it does. */
export function untilAffordable({ requestedQueryCost, throttleStatus }: Cost): number {
  const { maximumAvailable, currentlyAvailable, restoreRate } = throttleStatus;
  const missing = Math.min(requestedQueryCost, maximumAvailable) - currentlyAvailable;
  return Math.max(0, Math.ceil((missing / restoreRate) * 1000));
}

/**
 * What an answer means that isn't the data asked for; undefined if it is. `place`: shop and operation.
 * @param random 0 ≤ x < 1, so that those who wait together don't come back together
 * @param byEntry errors of single entries (`entryFailures`) don't fail the call
 * Source: shopify.dev, "GraphQL Admin API: status and error codes", "rate limits".
 */
export function failureOf(
  place: string,
  status: number,
  retryAfter: string | null,
  body: Envelope | undefined,
  random: number,
  byEntry = false,
): Failure | undefined {
  const said = /^\d{1,6}(\.\d+)?$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : undefined;
  const fail = (text: string, advice: Advice, outcome: Outcome = 'refused'): Failure => ({
    error: new CloseloopError(`Shopify ${place}: ${text}`, advice, { outcome }),
  });
  const config = (text: string): Failure => fail(text, { kind: 'config' });
  const wait = (text: string, pauseMs: number): Failure => ({
    ...fail(text, { kind: 'transient', retryAfterMs: pauseMs, throttled: true }),
    pauseMs,
  });
  const again = (text: string): Failure =>
    fail(text, { kind: 'transient', ...(said !== undefined && { retryAfterMs: said }) }, 'unknown');

  switch (status) {
    case 401:
      return config(
        'the access was refused (401): the app was uninstalled or its token revoked. An owner of the shop must install the app again; ' +
          'then put its token (or client id and secret) into the configuration',
      );
    case 402:
      return config('the shop is frozen (402): its owner must settle the account with Shopify');
    case 403:
      return config(`not allowed (403): give the app the scopes ${scopes.join(', ')} and install it again`);
    case 404:
      return config('there is no such shop (404): put its permanent address, name.myshopify.com, into `shop`');
    case 423:
      return config('the shop is locked (423): its owner must ask Shopify support why');
    case 429:
      return wait('too many calls (429); waiting', said ?? 2000);
    case 430:
      return wait('Shopify takes us for an attack (430); waiting', said ?? 60_000);
  }
  if (status >= 300 && status < 400) {
    return config('it answers from another address: put the permanent one, name.myshopify.com, into `shop`');
  }
  if (status >= 500) return again(`Shopify failed (${status}); tried again`);
  if (body === undefined) return again('the answer is no JSON; tried again');
  const errors = body.errors ?? [];
  if (status === 200 && body.data != null && (errors.length === 0 || (byEntry && isPartial(body)))) return undefined;
  if (status === 200 && errors.every(({ extensions }) => extensions === undefined)) {
    return again('the answer holds neither data nor the reason; tried again');
  }

  const named = errors.find(({ extensions }) => extensions !== undefined) ?? errors[0];
  const code = named?.extensions?.code ?? `an error (${status})`;
  const at = named?.path?.filter((part) => typeof part === 'string').join('.');
  switch (code) {
    case 'THROTTLED': {
      const cost = body.extensions?.cost;
      const ms = Math.ceil(Math.max(cost === undefined ? 1000 : untilAffordable(cost), 100) * (1 + random / 4));
      const failure = wait('the points are used up (THROTTLED); waiting', ms);
      // Where the answer says what is left, everybody waits for points of their own instead.
      return cost === undefined ? failure : { error: failure.error };
    }
    case 'ACCESS_DENIED':
      return config(
        `access to ${at || 'what we asked for'} is denied: give the app the scopes ${scopes.join(', ')} and install it again; a public ` +
          'app also needs the approval for protected customer data (name, address, phone, e-mail)',
      );
    case 'SHOP_INACTIVE':
      return config('the shop is inactive: its owner must settle the account with Shopify');
    case 'MAX_COST_EXCEEDED':
      return again('the call costs more than one may (MAX_COST_EXCEEDED); tried again with fewer orders');
  }
  if (passing.has(code)) return again(`Shopify failed (${code}); tried again`);
  // Of no order in particular: none of them must end for it.
  return config(
    `refused with ${code}${at ? ` at ${at}` : ''}: the API no longer takes what closeloop asks; update closeloop, or report it`,
  );
}
