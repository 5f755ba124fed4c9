import type { Definition, Metafield, Order } from './definitions.ts';
import type { Store } from './store.ts';
import { type Context, connection, definitionView, digestOf, metafieldView, type Page, visibleOrder } from './views.ts';

interface SetInput {
  compareDigest?: string | null;
  key: string;
  namespace?: string | null;
  ownerId: string;
  type?: string | null;
  value: string;
}

interface SetError {
  code: string;
  field: string[];
  message: string;
  elementIndex: number;
}

/** Other apps' own are closed to this one. */
function isOpen(store: Store, namespace: string): boolean {
  const full = store.namespaceOf(namespace);
  return !full.startsWith('app--') || full.startsWith(store.namespaceOf('$app'));
}

interface Fitting {
  order: Order;
  namespace: string;
  type: string;
  value: string;
}

/** All or nothing: what is wrong with any of the entries, or what they come to. */
function fitting(
  store: Store,
  entries: readonly SetInput[],
): { ok: true; all: Fitting[] } | { ok: false; errors: SetError[] } {
  if (entries.length > 25) {
    const message = 'Exceeded the maximum metafields input limit of 25.';
    return { ok: false, errors: [{ code: 'LESS_THAN_OR_EQUAL_TO', field: ['metafields'], message, elementIndex: 0 }] };
  }
  const errors: SetError[] = [];
  const all: Fitting[] = [];
  for (const [elementIndex, entry] of entries.entries()) {
    const found = validate(store, entry);
    if ('code' in found) {
      const { code, at, message } = found;
      errors.push({ code, field: ['metafields', String(elementIndex), at], message, elementIndex });
    } else all.push(found);
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, all };
}

type Flaw = { code: string; at: string; message: string };

function validate(store: Store, { ownerId, key, value, compareDigest, ...entry }: SetInput): Fitting | Flaw {
  const namespace = store.namespaceOf(entry.namespace);
  const order = store.orders.get(/^gid:\/\/shopify\/Order\/(\d+)$/.exec(ownerId)?.[1] ?? '');
  if (order === undefined) return { code: 'INVALID', at: 'ownerId', message: 'Owner does not exist.' };
  if (key.length < 2) return { code: 'TOO_SHORT', at: 'key', message: 'is too short (minimum is 2 characters)' };
  if (key.length > 64) return { code: 'TOO_LONG', at: 'key', message: 'is too long (maximum is 64 characters)' };
  if (!isOpen(store, namespace)) {
    return { code: 'APP_NOT_AUTHORIZED', at: 'namespace', message: 'Access to this namespace and key is not allowed.' };
  }
  const definition = store.definitions.find((one) => one.namespace === namespace && one.key === key);
  const held = order.metafields.get(`${namespace}.${key}`);
  const type = entry.type ?? definition?.type ?? held?.type;
  if (type == null) return { code: 'BLANK', at: 'type', message: "Type can't be blank" };
  const due = definition?.type ?? held?.type ?? type;
  if (type !== due) {
    return {
      code: 'INVALID_TYPE',
      at: 'type',
      message: `Type '${type}' must be consistent with the definition's type: '${due}'.`,
    };
  }
  if (value.trim() === '') return { code: 'BLANK', at: 'value', message: "Value can't be blank." };
  if (compareDigest !== undefined) {
    if (compareDigest !== null && held === undefined) {
      return { code: 'INVALID_COMPARE_DIGEST', at: 'compareDigest', message: 'The compareDigest is invalid.' };
    }
    if (
      (compareDigest === null && held !== undefined) ||
      (held !== undefined && digestOf(held.value) !== compareDigest)
    ) {
      return {
        code: 'STALE_OBJECT',
        at: 'compareDigest',
        message: 'The resource has been updated since it was loaded.',
      };
    }
  }
  const flaw = valueFlaw(type, value) ?? validationFlaw(definition, value);
  if (flaw !== undefined) return { at: 'value', ...flaw };
  return {
    order,
    namespace,
    type,
    value: type === 'date_time' ? new Date(value).toISOString().replace('.000Z', '+00:00') : value,
  };
}

/** The types that this stand-in knows, each with what it says to a value that is none. */
const saysTo: Readonly<Record<string, (value: string) => string | undefined>> = {
  number_integer: (value) => (/^-?\d{1,16}$/.test(value) ? undefined : 'Value must be an integer.'),
  number_decimal: (value) => (/^-?\d+(\.\d{1,9})?$/.test(value) ? undefined : 'Value must be a decimal number.'),
  date_time: (value) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?$/.test(value) && !Number.isNaN(Date.parse(value))
      ? undefined
      : 'Value must be in “YYYY-MM-DDTHH:MM:SS” format. For example: 2022-06-01T15:30:00',
  date: (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? undefined : 'Value must be in “YYYY-MM-DD” format.'),
  single_line_text_field: (value) => (value.includes('\n') ? 'Value must be a single line text string.' : undefined),
  multi_line_text_field: () => undefined,
};

const isKnownType = (type: string): boolean => Object.hasOwn(saysTo, type);

function valueFlaw(type: string, value: string): Omit<Flaw, 'at'> | undefined {
  if (!isKnownType(type)) {
    return { code: 'INVALID_TYPE', message: `Type '${type}' is not one that this stand-in knows.` };
  }
  const message = saysTo[type]?.(value);
  return message === undefined ? undefined : { code: 'INVALID_VALUE', message };
}

function validationFlaw(definition: Definition | undefined, value: string): Omit<Flaw, 'at'> | undefined {
  for (const { name, value: limit } of definition?.validations ?? []) {
    const isText = definition?.type.endsWith('text_field') === true;
    const size = isText ? value.length : Number(value);
    if (name === 'min' && size < Number(limit))
      return { code: 'INVALID_VALUE', message: `Value has a minimum of ${limit}.` };
    if (name === 'max' && size > Number(limit))
      return { code: 'INVALID_VALUE', message: `Value has a maximum of ${limit}.` };
    if (name === 'regex' && !new RegExp(limit).test(value))
      return { code: 'INVALID_VALUE', message: 'Value does not match.' };
    if (name === 'choices' && !JSON.parse(limit).includes(value)) {
      return { code: 'INCLUSION', message: `Value does not exist in provided choices: ${limit}.` };
    }
  }
  return undefined;
}

/** True when anything is another than before. */
function keep(order: Order, key: string, { namespace, type, value }: Fitting, id: string, now: number): boolean {
  const name = `${namespace}.${key}`;
  const held = order.metafields.get(name);
  if (held?.value === value && held.type === type) return false;
  const metafield: Metafield = held ?? { id, namespace, key, type, value, createdAt: now, updatedAt: now };
  order.metafields.set(name, { ...metafield, type, value, updatedAt: now });
  return true;
}

interface DefinitionInput {
  namespace?: string | null;
  key: string;
  name: string;
  type: string;
  ownerType: string;
  validations?: { name: string; value: string }[] | null;
  access?: { admin?: 'MERCHANT_READ' | 'MERCHANT_READ_WRITE' | null } | null;
}

/** The fields of QueryRoot and Mutation about metafields and their definitions. */
export function metafieldResolvers(context: Context) {
  const { store, need, now, notify } = context;
  return {
    metafieldDefinitions({ key, namespace, ...page }: Page & { key?: string | null; namespace?: string | null }) {
      need('read_orders');
      const found = store.definitions.filter(
        (one) =>
          (key == null || one.key === key) && (namespace == null || one.namespace === store.namespaceOf(namespace)),
      );
      return connection(found, page, definitionView);
    },
    metafieldsSet({ metafields }: { metafields: SetInput[] }) {
      need('write_orders');
      const result = fitting(store, metafields);
      if (!result.ok) return { metafields: null, userErrors: result.errors };
      const changed = new Set<Order>();
      const kept = result.all.map((one, index) => {
        const key = metafields[index]?.key ?? '';
        if (keep(one.order, key, one, store.nextId(), now)) changed.add(one.order);
        const held = one.order.metafields.get(`${one.namespace}.${key}`);
        return held === undefined ? null : metafieldView(held);
      });
      for (const one of changed) notify(store.touched(one, now));
      return { metafields: kept, userErrors: [] };
    },
    metafieldsDelete({ metafields }: { metafields: { ownerId: string; namespace: string; key: string }[] }) {
      need('write_orders');
      const refuse = (field: string[], message: string) => ({
        deletedMetafields: null,
        userErrors: [{ field, message }],
      });
      if (metafields.length === 0) {
        return refuse(['metafields'], 'At least one metafield identifier must be specified.');
      }
      const foreign = metafields.findIndex(({ namespace }) => !isOpen(store, namespace));
      if (foreign >= 0) {
        const field = ['metafields', String(foreign), 'namespace'];
        return refuse(field, 'Access to this namespace and key is not allowed.');
      }
      const touched = new Set<Order>();
      const deletedMetafields = metafields.map((one) => {
        const found = visibleOrder(context, one.ownerId);
        if (found?.metafields.delete(`${store.namespaceOf(one.namespace)}.${one.key}`) !== true) return null;
        touched.add(found);
        return { ...one, namespace: store.namespaceOf(one.namespace) };
      });
      for (const one of touched) notify(store.touched(one, now));
      return { deletedMetafields, userErrors: [] };
    },
    metafieldDefinitionCreate({ definition }: { definition: DefinitionInput }) {
      need('write_orders');
      const { namespace, key, name, type, validations, access, ownerType } = definition;
      const refuse = (code: string, field: string, message: string) => ({
        createdDefinition: null,
        userErrors: [{ code, field: ['definition', field], message }],
      });
      const full = store.namespaceOf(namespace);
      if (ownerType !== 'ORDER') return refuse('INVALID', 'ownerType', 'This stand-in knows orders only.');
      if (!full.startsWith('app--') && access?.admin != null) {
        return refuse('ADMIN_ACCESS_INPUT_NOT_ALLOWED', 'access', 'Setting this access control is not permitted.');
      }
      if (name.length > 255) return refuse('TOO_LONG', 'name', 'Name is too long (maximum is 255 characters)');
      if (!/^[\w-]{2,64}$/.test(key))
        return refuse('INVALID_CHARACTER', 'key', 'Key contains one or more invalid characters.');
      if (!isKnownType(type)) return refuse('INCLUSION', 'type', `Type name ${type} is not a valid type.`);
      if (store.definitions.some((one) => one.namespace === full && one.key === key)) {
        return refuse('TAKEN', 'key', 'Key is in use for Order metafields on this namespace.');
      }
      const made = store.addDefinition({
        namespace: namespace ?? '$app',
        key,
        name,
        type,
        validations: validations ?? [],
      });
      made.access = access?.admin ?? made.access;
      return { createdDefinition: definitionView(made), userErrors: [] };
    },
  };
}
