import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isInputType,
  Kind,
  NoDeprecatedCustomRule,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql';
import { z } from 'zod';
import type { Judge, Judgement } from './judge.ts';
import { isNode, type Node } from './schema.ts';

/** What a request asks for. */
export interface Call {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Node;
}

/** A request as GraphQL is sent over HTTP. Vendors overlook other keys, so a mistyped one must not pass. */
const Body = z.strictObject({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

/**
 * Judges what is posted to `path` by a GraphQL schema: the document, the values of its variables, and what is deprecated of both.
 * `more` finds problems that a schema can't know of.
 */
export function graphqlJudge(schema: GraphQLSchema, path: string, more: (call: Call) => string[] = () => []): Judge {
  return ({ method, path: asked, query, body, type }) => {
    if (method !== 'POST' || asked !== path) return undefined;
    const place = `POST ${path}`;
    const no = (problem: string): Judgement => ({ operation: place, problems: [problem] });
    if (query !== '') return no('query: nothing is described there');
    const media = type?.split(';')[0]?.trim();
    if (media !== 'application/json') return no(`body: the type ${media ?? '(none)'} is not described`);
    const call = callIn(body);
    if (typeof call === 'string') return no(`body: ${call}`);
    const { document, operation } = call;
    const problems = [
      ...validate(schema, document, undefined, { hideSuggestions: true }).map(({ message }) => message),
      ...valueProblems(schema, call),
      ...more(call),
    ];
    const notes = [
      ...validate(schema, document, [NoDeprecatedCustomRule]).map(({ message }) => message),
      ...deprecatedValues(schema, call),
    ];
    const name = `${operation.operation} ${operation.name?.value ?? '(unnamed)'}`;
    return { operation: `${place} ${name}`, problems: generalised(problems), notes: generalised(notes) };
  };
}

/** The call, or why the body holds none. */
export function callIn(body: string | undefined): Call | string {
  const given = Body.safeParse(attempt(() => JSON.parse(body ?? '')));
  if (!given.success) return 'is not {query, variables, operationName}';
  const { query, variables, operationName } = given.data;
  const document = attempt(() => parse(query));
  if (document === undefined) return 'its query is no GraphQL';
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation, other] = operations.filter(({ name }) => operationName == null || name?.value === operationName);
  if (operation === undefined || other !== undefined) return 'it does not say which operation is meant';
  return { document, operation, variables: variables ?? {} };
}

function valueProblems(schema: GraphQLSchema, { operation, variables }: Call): string[] {
  const { variableDefinitions: declared = [] } = operation;
  const names = new Set(declared.map(({ variable }) => variable.name.value));
  const { errors = [] } = getVariableValues(schema, declared, variables, { hideSuggestions: true });
  const undeclared = Object.keys(variables).filter((name) => !names.has(name));
  return [
    ...errors.map(({ message }) => message),
    ...undeclared.map((name) => `Variable "$${name}" is given, but not declared.`),
  ];
}

/** graphql's own rule looks into the document only. */
function deprecatedValues(schema: GraphQLSchema, { operation, variables }: Call): string[] {
  return (operation.variableDefinitions ?? []).flatMap(({ type, variable }) => {
    const declared = typeFromAST(schema, type);
    return isInputType(declared) ? deprecatedIn(declared, variables[variable.name.value]) : [];
  });
}

function deprecatedIn(type: GraphQLInputType, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => deprecatedIn(type, entry));
  const named = getNamedType(type);
  if (isEnumType(named) && typeof value === 'string') {
    const why = named.getValue(value)?.deprecationReason;
    return why == null ? [] : [`The enum value "${named.name}.${value}" is deprecated. ${why}`];
  }
  if (!isInputObjectType(named) || !isNode(value)) return [];
  return Object.entries(value).flatMap(([name, held]) => {
    const field = named.getFields()[name];
    if (field === undefined) return [];
    const why = field.deprecationReason;
    const own = why == null ? [] : [`The input field ${named.name}.${name} is deprecated. ${why}`];
    return [...own, ...deprecatedIn(field.type, held)];
  });
}

/** One message for all entries of a list, all numbered names of a call, and all values. */
function generalised(messages: readonly string[]): string[] {
  const general = messages.map((message) =>
    message
      .replaceAll(/\[\d+\]/g, '[]')
      .replaceAll(/("\$?[A-Za-z_]+)\d+(?=")/g, '$1{n}')
      .replace(/, found: .*$/s, '.')
      .replace(/( cannot represent [^:]*): .*$/s, '$1.'),
  );
  return [...new Set(general)];
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
