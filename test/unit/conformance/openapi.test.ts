import { describe, expect, test } from 'vitest';
import { openApiJudge } from '../../conformance/openapi.ts';
import type { Recorded } from '../../conformance/recorded.ts';

const document = {
  openapi: '3.0.3',
  servers: [{ url: 'https://{subdomain}.example.com/api/' }],
  paths: {
    '/things': {
      get: {
        parameters: [
          { $ref: '#/components/parameters/Ids' },
          {
            name: 'page',
            in: 'query',
            schema: { type: 'object', properties: { size: { type: 'integer', maximum: 100 } } },
          },
          { name: 'sort', in: 'query', schema: { type: 'string', enum: ['id', '-id'] } },
          { name: 'deep', in: 'query', schema: { type: 'boolean' } },
        ],
      },
      post: { requestBody: { $ref: '#/components/requestBodies/Thing' } },
    },
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: {},
      put: {},
    },
    '/things/latest': { get: {} },
  },
  components: {
    parameters: {
      Ids: {
        name: 'ids',
        in: 'query',
        required: true,
        explode: false,
        schema: { type: 'array', items: { type: 'integer' } },
      },
    },
    requestBodies: {
      Thing: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object', properties: { thing: { $ref: '#/components/schemas/Thing' } } },
          },
        },
      },
    },
    schemas: {
      Named: { type: 'object', required: ['name'], properties: { name: { type: 'string', nullable: true } } },
      Thing: {
        allOf: [
          { $ref: '#/components/schemas/Named' },
          {
            properties: {
              weight: { type: 'number', minimum: 0, exclusiveMinimum: true },
              parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
            },
          },
        ],
      },
    },
  },
};

const update = { type: 'object', properties: { thing: { $ref: '#/components/schemas/Thing' } } };
const judge = openApiJudge(document, { bodies: { 'PUT /api/things/{id}': update } });

const get = (path: string, query = ''): Recorded => ({ method: 'GET', path: `/api${path}`, query });
const send = (method: string, path: string, body: unknown, type = 'application/json'): Recorded => {
  return { method, path: `/api${path}`, query: '', type, body: typeof body === 'string' ? body : JSON.stringify(body) };
};
const thing = (more: object = {}) => ({ thing: { name: 'a', ...more } });

describe('a request is judged by the description', () => {
  const rows: [what: string, request: Recorded, problems: string[] | undefined][] = [
    ['as described', get('/things', 'ids=1,2&page[size]=100&sort=-id&deep=true'), []],
    ['brackets and commas encoded', get('/things', 'ids=1%2C2&page%5Bsize%5D=1'), []],
    ['an unknown path', get('/nothing'), undefined],
    ['an unknown method', send('DELETE', '/things/1', ''), undefined],
    ['a path without its base', { method: 'GET', path: '/things', query: 'ids=1' }, undefined],
    ['a path written out goes first', get('/things/latest'), []],
    ['a parameter of the path', get('/things/x1'), ['path: id must be integer']],
    ['a missing parameter', get('/things'), ['query: "ids" is required']],
    ['an entry of a list', get('/things', 'ids=1,x'), ['query: ids must be integer']],
    ['an unknown parameter', get('/things', 'ids=1&order=id'), ['query: "order" is not described']],
    ['another value', get('/things', 'ids=1&sort=name'), ['query: sort must be equal to one of the allowed values']],
    ['a part of a parameter', get('/things', 'ids=1&page[size]=101'), ['query: page[size] must be <= 100']],
    ['an unknown part', get('/things', 'ids=1&page[number]=2'), ['query: "page[number]" is not described']],
    ['no truth value', get('/things', 'ids=1&deep=yes'), ['query: deep must be boolean']],
    ['a body as described', send('POST', '/things', thing({ weight: 1, parts: [{ name: null }] })), []],
    ['no body', { method: 'POST', path: '/api/things', query: '' }, ['body: is required']],
    ['no JSON', send('POST', '/things', '{'), ['body: is no JSON']],
    ['another type', send('POST', '/things', 'a=b', 'text/plain'), ['body: the type text/plain is not described']],
    ['a charset beside the type', send('POST', '/things', thing(), 'application/json; charset=utf-8'), []],
    ['an unknown key', send('POST', '/things', { ...thing(), ting: 1 }), ['body: "ting" is not described']],
    ['an unknown inner key', send('POST', '/things', thing({ colour: 1 })), ['body.thing: "colour" is not described']],
    [
      'the same in every entry, once',
      send('POST', '/things', thing({ parts: [1, 2].map((x) => ({ name: 'a', x })) })),
      ['body.thing.parts[]: "x" is not described'],
    ],
    ['a limit of OpenAPI 3.0', send('POST', '/things', thing({ weight: 0 })), ['body.thing.weight must be > 0']],
    ['a missing key', send('POST', '/things', { thing: {} }), ["body.thing must have required property 'name'"]],
    ['a body that is only stated', send('PUT', '/things/1', thing()), ['body: the operation is described without one']],
    [
      'a mistake in a body that is only stated',
      send('PUT', '/things/1', thing({ colour: 1 })),
      ['body: the operation is described without one', 'body.thing: "colour" is not described'],
    ],
  ];
  test.each(rows)('%s', (_what, request, problems) => {
    expect(judge(request)?.problems).toEqual(problems);
  });

  test('it names the operation as the description does', () => {
    expect(judge(get('/things/x1'))?.operation).toBe('GET /api/things/{id}');
  });
});

test('it reads OpenAPI 3.1, where a type may be a list', () => {
  const schema = { type: ['integer', 'null'], exclusiveMinimum: 0 };
  const paths = { '/a': { get: { parameters: [{ name: 'n', in: 'query', schema }] } } };
  const newer = openApiJudge({ openapi: '3.1.0', servers: [{ url: 'https://x.example/wp-json' }], paths });
  const problems = (query: string) => newer({ method: 'GET', path: '/wp-json/a', query })?.problems;
  expect(problems('n=1')).toEqual([]);
  expect(problems('n=0')).toEqual(['query: n must be > 0']);
});

describe('the document of a shop', () => {
  const ids = { name: 'ids', in: 'query', schema: { type: 'array', items: { type: 'integer' } } };
  const document = {
    servers: [{ url: 'https://x.example' }],
    paths: { '/a': { get: { parameters: [ids] } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' }, basic: { type: 'http' } } },
  };
  const problems = (query: string, splitsLists: boolean) =>
    openApiJudge(document, { splitsLists })({ method: 'GET', path: '/a', query })?.problems;

  test.each([
    ['takes a key beside the parameters', 'ids=1&ids=2&key=k', false, []],
    ['takes no other', 'keys=k', false, ['query: "keys" is not described']],
    ['splits lists at commas where the document does not', 'ids=1,2', true, []],
    ['looks at every entry', 'ids=1,x', true, ['query: ids must be integer']],
    ['splits nothing else', 'ids=1,2', false, ['query: ids must be integer']],
  ])('%s', (_what, query, splits, expected) => expect(problems(query, splits)).toEqual(expected));
});
