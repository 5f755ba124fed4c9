import { type GraphQLSchema, getNamedType, isEnumType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { z } from 'zod';
import type { Call } from './graphql.ts';

/** What the introspection says beside the schema: which rights open a type or a field. Any one of them is enough. */
export const Rights = z.array(
  z.object({ typeName: z.string(), fieldName: z.string().optional(), offlineScopes: z.array(z.string()) }),
);

/**
 * Finds what a call asks for that an app with these rights would be refused. What needs the rights of another place (metafields:
 * those of their owner) isn't told by the introspection.
 */
export function rightsProblems(
  schema: GraphQLSchema,
  rights: z.output<typeof Rights>,
  asked: readonly string[],
): (call: Call) => string[] {
  const needed = new Map(
    rights.map(({ typeName, fieldName, offlineScopes }) => [
      fieldName === undefined ? typeName : `${typeName}.${fieldName}`,
      offlineScopes,
    ]),
  );
  // A right to write includes the one to read.
  const granted = new Set(asked.flatMap((right) => [right, right.replace('write_', 'read_')]));

  /** Told in prose: "Requires at least one of the following scopes: read_orders, …". */
  function ofTopic(name: unknown): [name: string, scopes: string[]][] {
    const topics = schema.getType('WebhookSubscriptionTopic');
    const topic = isEnumType(topics) ? topics.getValue(String(name)) : undefined;
    const [, list = ''] = /following\s+scopes:\s*([^.]*)/.exec(topic?.description ?? '') ?? [];
    return [[`Webhook ${name}`, list.match(/\w+/g) ?? []]];
  }

  return ({ document, variables }) => {
    const info = new TypeInfo(schema);
    const names = new Set<string>();
    const Field = () => {
      names.add(`${info.getParentType()}.${info.getFieldDef()?.name}`);
      names.add(String(getNamedType(info.getType())));
    };
    visit(document, visitWithTypeInfo(info, { Field }));
    const uses = [...names].map((name): [string, string[]] => [name, needed.get(name) ?? []]);
    if ('topic' in variables) uses.push(...ofTopic(variables.topic));
    return uses
      .filter(([, scopes]) => scopes.length > 0 && !scopes.some((scope) => granted.has(scope)))
      .map(([name, scopes]) => `${name} needs the right ${scopes.join(' or ')}, which closeloop does not ask for.`);
  };
}
