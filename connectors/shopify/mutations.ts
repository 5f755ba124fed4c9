import { z } from 'zod';
import { listOf, mapOf } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import type { Change } from './answer.ts';
import type { Request, ShopifyApi } from './api.ts';
import { inPages } from './each.ts';
import { orderGid } from './ids.ts';
import type { ShopifySettings } from './settings.ts';

/** One of the mutations in a call; `$v` stands for its variable. */
export interface Mutation {
  call: string;
  /** The type of the variable. */
  type: string;
  value: unknown;
  /** The requested fields of errors: never messages, which may repeat values. */
  errors: string;
}

/** The price of a mutation with its list of errors. Source: shopify.dev, "rate limits". */
const price = { base: 0, each: 11 };

/** Requested for every mutation; only metafields have codes. */
const Outcome = z
  .object({
    userErrors: listOf(
      z.object({
        code: z.string().nullish(),
        field: listOf(z.string()).nullish(),
        elementIndex: z.number().nullish(),
      }),
    ),
  })
  .nullable();
type Outcome = z.output<typeof Outcome>;

/** @param gid of an order or a customer */
export const addTags = (gid: string, tags: readonly string[]): Mutation => {
  return { call: `tagsAdd(id: "${gid}", tags: $v)`, type: '[String!]!', value: tags, errors: 'field' };
};

/** @param note the whole */
export const setNote = (gid: string, note: string): Mutation => {
  return { call: 'orderUpdate(input: $v)', type: 'OrderInput!', value: { id: gid, note }, errors: 'field' };
};

/** The mutations of a change, in the order of their execution. */
export function mutationsFor(orderId: string, change: Change, writeBack: ShopifySettings['writeBack']): Mutation[] {
  const id = orderGid(orderId);
  const owner = { ownerId: id, namespace: writeBack.namespace };
  const set = change.set.map(({ field: { key, type }, value, digest }) => {
    return { ...owner, key, type, value, compareDigest: digest };
  });
  const unset = change.unset.map(({ key }) => ({ ...owner, key }));
  const { addTags: added, removeTags, note } = change;
  const all: (Mutation | false)[] = [
    set.length > 0 && {
      call: 'metafieldsSet(metafields: $v)',
      type: '[MetafieldsSetInput!]!',
      value: set,
      errors: 'code field elementIndex',
    },
    unset.length > 0 && {
      call: 'metafieldsDelete(metafields: $v)',
      type: '[MetafieldIdentifierInput!]!',
      value: unset,
      errors: 'field',
    },
    removeTags.length > 0 && {
      call: `tagsRemove(id: "${id}", tags: $v)`,
      type: '[String!]!',
      value: removeTags,
      errors: 'field',
    },
    added.length > 0 && addTags(id, added),
    note !== undefined && setNote(id, note),
  ];
  return all.filter((one) => one !== false);
}

/** Failed changes by order: Shopify's refusal, or the error that leaves the outcome unknown. */
type Undone = Map<string, string | CloseloopError>;

/** Sends orders' mutations, as many in one call as the points afford; those of an order stay together, in their order. */
export function sender(name: string, api: ShopifyApi): (work: ReadonlyMap<string, Mutation[]>) => Promise<Undone> {
  const operation = { name, data: mapOf(Outcome), price };
  type Item = readonly [id: string, mutations: Mutation[]];
  const requestOf = (items: readonly Item[]) =>
    callOf(
      name,
      items.flatMap(([, mutations]) => mutations),
    );

  return async (work) => {
    const undone: Undone = new Map();
    for await (const page of inPages(api, operation, [...work], requestOf, ([, mutations]) => mutations.length)) {
      if ('error' in page) {
        for (const [id] of page.items) undone.set(id, page.error);
        break;
      }
      const all = page.items.flatMap(([id, mutations]) => mutations.map((mutation) => ({ id, mutation })));
      for (const [index, { id, mutation }] of all.entries()) {
        const why = page.failures.get(`o${index}`) ?? refusalOf(mutation, page.data[`o${index}`]);
        if (why !== undefined) undone.set(id, why);
      }
    }
    return undone;
  };
}

/** Many mutations in one call; the response has a result for each: `o0`, `o1` … */
function callOf(name: string, mutations: readonly Mutation[]): Request {
  const variables = mutations.map(({ type }, index) => `$v${index}: ${type}`).join(', ');
  const fields = mutations.map(
    ({ call, errors }, index) => `o${index}: ${call.replace('$v', `$v${index}`)} { userErrors { ${errors} } }`,
  );
  return {
    document: `mutation ${name}(${variables}) {\n${fields.join('\n')}\n}`,
    variables: Object.fromEntries(mutations.map(({ value }, index) => [`v${index}`, value])),
  };
}

/** "metafieldsSet: INVALID_TYPE at 0.value"; undefined for a success. */
function refusalOf({ call }: Mutation, outcome: Outcome | undefined): string | undefined {
  const name = call.slice(0, call.indexOf('('));
  if (outcome == null) return `${name}: no answer`;
  const [error] = outcome.userErrors;
  if (error === undefined) return undefined;
  const code = /^[A-Z_]{1,60}$/.test(error.code ?? '') ? error.code : 'refused';
  const at = error.field?.filter((part) => /^\w{1,40}$/.test(part)).join('.');
  return `${name}: ${code}${at ? ` at ${at}` : ''}`;
}
