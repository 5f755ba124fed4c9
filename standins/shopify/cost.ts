import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { schema } from './schema.ts';

export const mostPoints = 1_000;
const mutationPoints = 10;

/**
 * What a call may cost at most: nothing for scalars, 1 for an object, 2 and its entries for a connection, 10 for a mutation. Lists
 * count as many entries as are asked for. Shopify's newer formula is milder for long lists; this one never asks for less.
 * Source: shopify.dev, "rate limits: cost calculation".
 */
export function requestedCost(document: DocumentNode, variables: Readonly<Record<string, unknown>>): number {
  const fragments = new Map(
    document.definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  );
  const operation = document.definitions.find(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  if (operation === undefined) return 0;
  const isMutation = operation.operation === 'mutation';
  const root = isMutation ? schema.getMutationType() : schema.getQueryType();
  if (root == null) return 0;
  const cost = ofSelection(operation.selectionSet, root, undefined);
  return isMutation ? cost + (mutationPoints - 1) * operation.selectionSet.selections.length : cost;

  function ofSelection(set: SelectionSetNode, type: GraphQLCompositeType, entries: number | undefined): number {
    let own = 0;
    let dearest = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        own += ofField(selection, type, entries);
        continue;
      }
      const [condition, inner] =
        selection.kind === Kind.INLINE_FRAGMENT
          ? [selection.typeCondition?.name.value, selection.selectionSet]
          : [
              fragments.get(selection.name.value)?.typeCondition.name.value,
              fragments.get(selection.name.value)?.selectionSet,
            ];
      const target = condition === undefined ? type : schema.getType(condition);
      if (inner === undefined || !isCompositeType(target)) continue;
      const cost = ofSelection(inner, target, entries);
      // Of several types that something may be, the dearest counts.
      if (isInterfaceType(type) || isUnionType(type)) dearest = Math.max(dearest, cost);
      else own += cost;
    }
    return own + dearest;
  }

  function ofField(field: FieldNode, parent: GraphQLCompositeType, entries: number | undefined): number {
    const name = field.name.value;
    if (name.startsWith('__') || isUnionType(parent)) return 0;
    const definition = parent.getFields()[name];
    if (definition === undefined) return 0;
    const named = getNamedType(definition.type);
    if (!isCompositeType(named) || field.selectionSet === undefined) return 0;
    if (named.name === 'PageInfo') return 0;
    if (named.name.endsWith('Connection')) {
      const first = Number(argument(field, 'first') ?? argument(field, 'last') ?? 0);
      return 2 + ofSelection(field.selectionSet, named, first);
    }
    const children = ofSelection(field.selectionSet, named, undefined);
    if (parent.name.endsWith('Connection')) return (entries ?? 1) * (1 + (name === 'edges' ? children - 1 : children));
    return timesOf(field, definition.type) * (1 + children);
  }

  function timesOf(field: FieldNode, type: GraphQLOutputType): number {
    if (!isListType(getNullableType(type))) return 1;
    const ids = argument(field, 'ids');
    if (Array.isArray(ids)) return ids.length;
    return Number(argument(field, 'first') ?? 1);
  }

  function argument(field: FieldNode, name: string): unknown {
    const given = field.arguments?.find((one) => one.name.value === name)?.value;
    return given === undefined ? undefined : valueFromASTUntyped(given, { ...variables });
  }
}

/** What an answer cost: 1 for every object in it, 10 for every mutation. */
export function actualCost(data: unknown, isMutation: boolean): number {
  const objects = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const inner = Object.values(value).reduce<number>((sum, one) => sum + objects(one), 0);
    return Array.isArray(value) ? inner : inner + 1;
  };
  if (typeof data !== 'object' || data === null) return 0;
  return isMutation ? Object.keys(data).length * mutationPoints : Math.max(0, objects(data) - 1);
}

/** A connection that doesn't say how long it may be is refused. The name of the first one, if any. */
export function unboundedConnection(document: DocumentNode): string | undefined {
  let found: string | undefined;
  const walk = (set: SelectionSetNode | undefined, type: GraphQLCompositeType): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const target = schema.getType(selection.typeCondition?.name.value ?? type.name);
        if (isCompositeType(target)) walk(selection.selectionSet, target);
        continue;
      }
      if (isUnionType(type)) continue;
      const named = getNamedType(type.getFields()[selection.name.value]?.type);
      if (!isCompositeType(named)) continue;
      const bounded = selection.arguments?.some(({ name }) => name.value === 'first' || name.value === 'last') === true;
      if (isObjectType(named) && named.name.endsWith('Connection') && !bounded) found ??= selection.name.value;
      walk(selection.selectionSet, named);
    }
  };
  for (const one of document.definitions) {
    if (one.kind === Kind.OPERATION_DEFINITION) {
      const root = one.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType();
      if (root != null) walk(one.selectionSet, root);
    }
    if (one.kind === Kind.FRAGMENT_DEFINITION) {
      const type = schema.getType(one.typeCondition.name.value);
      if (isCompositeType(type)) walk(one.selectionSet, type);
    }
  }
  return found;
}
