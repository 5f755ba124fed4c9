import { z } from 'zod';
import type { Urgency } from '../../core/connector/contract.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { inPages, type Request, type ShopifyApi } from './api.ts';

/** One mutation of a call; `$v` stands for its variable. */
export interface Mutation {
  call: string;
  /** The type of the variable. */
  type: string;
  value: unknown;
  /** The fields to read from errors: never messages, which may repeat values. */
  errors?: string;
}

/** The price of a mutation with its list of errors. Source: shopify.dev, "rate limits". */
const price = { base: 0, each: 11 };

/** The result fields of every mutation; only metafields have codes. */
const Outcome = z
  .object({ userErrors: listOf(z.object({ code: z.string().nullish(), field: listOf(z.string()).nullish() })) })
  .nullable();

type Item = readonly [id: string, mutations: readonly Mutation[]];

/** The failed changes by order: Shopify's refusal, or the error that leaves the outcome unknown. */
type Undone = Map<string, string | CloseloopError>;

/** Sends the mutations of orders, as many in one call as the points afford. An order's mutations stay together, and keep their order. */
export async function send(
  api: ShopifyApi,
  name: string,
  work: ReadonlyMap<string, readonly Mutation[]>,
  urgency: Urgency = 'work',
): Promise<Undone> {
  const undone: Undone = new Map();
  const operation = { name, data: mapOf(Outcome), price };
  const ofItems = (items: readonly Item[]) => items.flatMap(([id, all]) => all.map((mutation) => ({ id, mutation })));
  const requestOf = (items: readonly Item[]) => callOf(name, ofItems(items));
  for await (const page of inPages(api, operation, [...work], requestOf, ([, { length }]) => length, urgency)) {
    for (const [n, { id, mutation }] of ofItems(page.items).entries()) {
      const { error, answer } = page;
      const why = error ?? answer?.failures.get(`o${n}`) ?? refusalOf(mutation, answer?.data[`o${n}`]);
      if (why !== undefined) undone.set(id, why);
    }
  }
  return undone;
}

/** Sends one or a few mutations in one call. Returns Shopify's refusal; undefined for a success. @throws VendorError */
export async function mutate(api: ShopifyApi, name: string, mutations: readonly Mutation[], urgency?: Urgency) {
  const why = (await send(api, name, new Map([['', mutations]]), urgency)).get('');
  if (why instanceof CloseloopError) throw why;
  return why;
}

/** Puts many mutations into one call; the response has a result for each: `o0`, `o1` … */
function callOf(name: string, all: readonly { mutation: Mutation }[]): Request {
  const variables = all.map(({ mutation: { type } }, n) => `$v${n}: ${type}`).join(', ');
  const fields = all.map(
    ({ mutation: { call, errors = 'field' } }, n) =>
      `o${n}: ${call.replace('$v', `$v${n}`)} { userErrors { ${errors} } }`,
  );
  return {
    document: `mutation ${name}(${variables}) {\n${fields.join('\n')}\n}`,
    variables: Object.fromEntries(all.map(({ mutation: { value } }, n) => [`v${n}`, value])),
  };
}

/** "metafieldsSet: INVALID_TYPE at 0.value"; undefined for a success. */
function refusalOf({ call }: Mutation, outcome: z.output<typeof Outcome> | undefined): string | undefined {
  const name = call.slice(0, call.indexOf('('));
  if (outcome == null) return `${name}: no answer`;
  const [error] = outcome.userErrors;
  if (error === undefined) return undefined;
  const code = /^[A-Z_]{1,60}$/.test(error.code ?? '') ? error.code : 'refused';
  const at = error.field?.filter((part) => /^\w{1,40}$/.test(part)).join('.');
  return `${name}: ${code}${at ? ` at ${at}` : ''}`;
}
