import type { Context } from './context.ts';
import { fitting, isKnownType, isOpen, keep, type SetInput } from './metafields.ts';
import type { Order } from './model.ts';
import { visibleOrder } from './order-resolvers.ts';
import { connection, definitionView, metafieldView, type Page } from './views.ts';

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
