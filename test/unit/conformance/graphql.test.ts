import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { graphqlJudge } from '../../conformance/graphql.ts';
import type { Recorded } from '../../conformance/recorded.ts';
import { rightsProblems } from '../../conformance/shopify-rights.ts';

const schema = buildSchema(`
  type Query { things(ids: [ID!]!): [Thing]!, staff: Staff, search(by: Sort, oldest: Boolean @deprecated(reason: "Use by.")): [Thing] }
  type Mutation { put(things: [ThingInput!]!): Done, subscribe(topic: WebhookSubscriptionTopic!): Done }
  type Thing { id: ID!, name: String, label: String @deprecated(reason: "Use name."), part: Thing, keeper: Staff }
  type Staff { name: String }
  type Done { ok: Boolean }
  input ThingInput { id: ID!, name: String, label: String @deprecated(reason: "Use NAME."), sort: Sort, parts: [ThingInput!] }
  enum Sort { NAME, LABEL @deprecated(reason: "Use NAME.") }
  enum WebhookSubscriptionTopic {
    "Occurs whenever a thing is made. Requires at least one of the following\\nscopes: read_things, read_all."
    THINGS_MADE
    "Occurs whenever somebody is hired. Requires at least one of the following scopes: read_staff."
    STAFF_HIRED
  }
`);
const path = '/admin/graphql.json';
const judge = graphqlJudge(schema, path);

const post = (body: unknown): Recorded => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', path, query: '', type: 'application/json', body: text };
};
const ask = (query: string, variables?: object) => post({ query, ...(variables && { variables }) });
const two = 'query A { staff { name } } query B { staff { name } }';
const put = (...things: object[]) =>
  ask('mutation Put($t1: [ThingInput!]!) { put(things: $t1) { ok } }', { t1: things });

describe('a request is judged by the schema', () => {
  const undescribed = ['body: is not {query, variables, operationName}'];
  const staff = '{ staff { name } }';
  const byIds = 'query A($ids: [ID!]!) { things(ids: $ids) { id } }';
  const rows: [what: string, request: Recorded, problems: string[] | undefined][] = [
    ['as described', ask(byIds, { ids: ['1', 2] }), []],
    ['without variables', ask(staff), []],
    ['null for them', post({ query: staff, variables: null, operationName: null }), []],
    ['a charset beside the type', { ...ask(staff), type: 'application/json; charset=utf-8' }, []],
    ['one of two operations', post({ query: two, operationName: 'B' }), []],
    ['another path', { ...ask(staff), path: '/graphql.json' }, undefined],
    ['another method', { method: 'GET', path, query: '' }, undefined],
    ['something in the query', { ...ask(staff), query: 'a=1' }, ['query: nothing is described there']],
    ['another type', { ...ask(staff), type: 'text/plain' }, ['body: the type text/plain is not described']],
    ['no body', { method: 'POST', path, query: '', type: 'application/json' }, undescribed],
    ['no JSON', post('{'), undescribed],
    ['an unknown key', post({ query: staff, variabels: {} }), undescribed],
    ['no GraphQL', ask('query {'), ['body: its query is no GraphQL']],
    ['two operations and no name', ask(two), ['body: it does not say which operation is meant']],
    ['an unknown field', ask('{ staff { nmae } }'), ['Cannot query field "nmae" on type "Staff".']],
    ['a missing variable', ask(byIds), [expect.stringMatching(/^Variable "\$ids" .*non-null type "\[ID!\]!"/)]],
    ['an undeclared', ask('{ staff { name } }', { after: null }), ['Variable "$after" is given, but not declared.']],
    ['values as described', put({ id: 1, name: null, sort: 'NAME', parts: [{ id: '2' }] }), []],
    [
      'an unknown key of it',
      put({ id: 1, nmae: 'a' }),
      [expect.stringMatching(/"\$t\{n\}" .*at \[\].*unknown.* "nmae"/)],
    ],
    ['a missing key of a value', put({ name: 'a' }), [expect.stringMatching(/"ThingInput".*required field "id"/)]],
    [
      'a value of another type',
      put({ id: 1, name: 5 }),
      [expect.stringMatching(/at \[\]\.name: .* a non string value\.$/)],
    ],
    ['the same of all, once', put({ id: 1, name: 5 }, { id: 2, name: 6 }), [expect.stringMatching(/at \[\]\.name/)]],
    ['a value outside an enum', put({ id: 1, sort: 'SIZE' }), [expect.stringMatching(/at \[\]\.sort: .*"Sort" enum/)]],
  ];
  test.each(rows)('%s', (_what, request, problems) => {
    expect(judge(request)?.problems).toEqual(problems);
  });

  test('it names the operation by its kind and name', () => {
    expect(judge(put())?.operation).toBe('POST /admin/graphql.json mutation Put');
    expect(judge(ask('{ staff { name } }'))?.operation).toBe('POST /admin/graphql.json query (unnamed)');
  });
});

describe('it notes what is deprecated', () => {
  const rows: [what: string, request: Recorded, notes: string[]][] = [
    ['nothing', put({ id: 1, name: 'a', sort: 'NAME' }), []],
    ['a field', ask('{ things(ids: []) { label } }'), ['The field Thing.label is deprecated. Use name.']],
    ['one', ask('{ search(oldest: true) { id } }'), ['The argument "Query.search(oldest:)" is deprecated. Use by.']],
    ['an enum value', ask('{ search(by: LABEL) { id } }'), ['The enum value "Sort.LABEL" is deprecated. Use NAME.']],
    [
      'keys and enum values in a variable',
      put({ id: 1, parts: ['a', 'b'].map((label) => ({ id: 2, label, sort: 'LABEL' })) }),
      ['input field ThingInput.label', 'enum value "Sort.LABEL"'].map((one) => `The ${one} is deprecated. Use NAME.`),
    ],
  ];
  test.each(rows)('%s', (_what, request, notes) => {
    expect(judge(request)).toMatchObject({ problems: [], notes });
  });
});

describe('it finds the rights that a call needs and we do not ask for', () => {
  const rights = [
    { typeName: 'Thing', offlineScopes: ['read_things', 'read_all'] },
    { typeName: 'Thing', fieldName: 'keeper', offlineScopes: [] },
    { typeName: 'Staff', offlineScopes: ['read_staff'] },
    { typeName: 'Mutation', fieldName: 'put', offlineScopes: ['write_things'] },
  ];
  const problems = (request: Recorded, ...asked: string[]) =>
    graphqlJudge(schema, path, rightsProblems(schema, rights, asked))(request)?.problems;
  const lacks = (name: string, scopes: string) => [
    `${name} needs the right ${scopes}, which closeloop does not ask for.`,
  ];
  const subscribe = (topic: string) =>
    ask('mutation S($topic: WebhookSubscriptionTopic!) { subscribe(topic: $topic) { ok } }', { topic });
  const deep = ask('{ things(ids: []) { part { keeper { name } } } }');

  const rows: [what: string, request: Recorded, asked: string[], problems: string[]][] = [
    ['any of several is enough', ask('{ things(ids: []) { id } }'), ['read_all'], []],
    ['to write is to read', ask('{ things(ids: []) { id } }'), ['write_things'], []],
    ['to read is not to write', put({ id: 1 }), ['read_things'], lacks('Mutation.put', 'write_things')],
    ['of a type', ask('{ things(ids: []) { id } }'), [], lacks('Thing', 'read_things or read_all')],
    ['of a type further in', deep, ['read_things'], lacks('Staff', 'read_staff')],
    ['of a topic', subscribe('STAFF_HIRED'), ['read_things'], lacks('Webhook STAFF_HIRED', 'read_staff')],
    ['of a topic, on two lines', subscribe('THINGS_MADE'), [], lacks('Webhook THINGS_MADE', 'read_things or read_all')],
    ['of a topic, any', subscribe('THINGS_MADE'), ['read_all'], []],
  ];
  test.each(rows)('%s', (_what, request, asked, expected) => {
    expect(problems(request, ...asked)).toEqual(expected);
  });
});
