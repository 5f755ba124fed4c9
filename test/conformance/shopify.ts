import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  buildClientSchema,
  type DocumentNode,
  type GraphQLSchema,
  type IntrospectionQuery,
  Kind,
  parse,
  validate,
} from 'graphql';
import { z } from 'zod';
import { scopes } from '../../connectors/shopify/responses.ts';
import { callIn, graphqlJudge } from './graphql.ts';
import { Rights, rightsProblems } from './shopify-rights.ts';
import { factsJudge, type VendorRow } from './vendor-row.ts';

/* "Facts" are those on shops that the connector is built on; sections are theirs. */

const introspection = 'shops/shopify-admin-2026-10.introspection.json.gz';
const operations = 'shops/shopify-operations-2026-10.graphql';
const graphql = '/admin/api/2026-10/graphql.json';
const token = '/admin/oauth/access_token';

const Introspection = z.object({
  data: z.custom<IntrospectionQuery>((value) => typeof value === 'object' && value !== null && '__schema' in value),
  offline_scopes: z.object({ items: Rights }),
});

function described(folder: string): { schema: GraphQLSchema; rights: z.output<typeof Rights> } {
  const text = gunzipSync(readFileSync(join(folder, introspection))).toString('utf8');
  const { data, offline_scopes } = Introspection.parse(JSON.parse(text));
  // Shopify deprecates fields whose interfaces go on promising them, which graphql doesn't let a schema do.
  return { schema: buildClientSchema(data, { assumeValid: true }), rights: offline_scopes.items };
}

/** Facts, section 2, tokens. */
const clientCredentials = {
  type: 'object',
  required: ['client_id', 'client_secret', 'grant_type'],
  properties: {
    client_id: { type: 'string' },
    client_secret: { type: 'string' },
    grant_type: { const: 'client_credentials' },
  },
};

/** `mutation tagsAdd`: what a document asks of the API, whatever it calls it. */
function rootFields({ definitions }: DocumentNode): string[] {
  return definitions
    .filter((one) => one.kind === Kind.OPERATION_DEFINITION)
    .flatMap(({ operation, selectionSet }) =>
      selectionSet.selections
        .filter((one) => one.kind === Kind.FIELD)
        .map((field) => `${operation} ${field.name.value}`),
    );
}

export const shopify: VendorRow = {
  name: 'Shopify',
  scenarios: ['connectors/shopify/', 'e2e/shopify'],
  owns: ({ path }) => path.startsWith('/admin/'),
  files: [introspection, operations],
  judges: (folder) => {
    const { schema, rights } = described(folder);
    return [
      graphqlJudge(schema, graphql, rightsProblems(schema, rights, scopes)),
      factsJudge({
        [token]: {
          post: { requestBody: { required: true, content: { 'application/json': { schema: clientCredentials } } } },
        },
      }),
    ];
  },
  known: [
    {
      at: /^POST \/admin\/oauth\/access_token: is not described$/,
      fact: 'Facts, section 2, tokens: client_id, client_secret, grant_type. It is no GraphQL, so the schema has nothing of it.',
    },
  ],
  /** The operations that come with the schema were written for a connector like ours. */
  remarks: (folder, requests) => {
    const example = parse(readFileSync(join(folder, operations), 'utf8'));
    const [flaw] = validate(described(folder).schema, example);
    if (flaw !== undefined) throw new Error(`${operations} is not of the schema beside it: ${flaw.message}`);
    const calls = requests.map(({ body }) => callIn(body)).filter((call) => typeof call !== 'string');
    const sent = calls.flatMap(({ document }) => rootFields(document));
    const shown = rootFields(example);
    return [
      `Of the operations that come with the schema, never sent: ${without(shown, sent)}.`,
      `Sent, but not among them: ${without(sent, shown)}.`,
    ];
  },
};

function without(names: readonly string[], others: readonly string[]): string {
  const left = new Set(names.filter((name) => !others.includes(name)));
  return [...left].sort().join(', ') || 'none';
}
