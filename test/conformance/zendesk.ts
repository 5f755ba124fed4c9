import { openApiFile, type VendorRow } from './vendor-row.ts';

/* "Facts" are those on Zendesk that the connector is built on; sections are theirs. */

const support = 'zendesk/support-oas-2025-06.yaml';
const webhooks = 'zendesk/webhooks-oas-unofficial.yaml';

/** Facts, section 5: each ticket is an update with its id; tags come and go by keys of their own. */
const ticketsToUpdate = {
  type: 'object',
  required: ['tickets'],
  properties: {
    tickets: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        allOf: [{ $ref: '#/components/schemas/TicketUpdateInput' }],
        required: ['id'],
        properties: {
          id: { type: 'integer' },
          additional_tags: { type: 'array', items: { type: 'string' } },
          remove_tags: { type: 'array', items: { type: 'string' } },
          metadata: { type: 'object' },
          custom_fields: {
            type: 'array',
            items: { type: 'object', required: ['id', 'value'], properties: { id: { type: 'integer' }, value: {} } },
          },
        },
      },
    },
  },
};

/** Facts, section 3. */
const clientCredentials = {
  type: 'object',
  required: ['grant_type', 'client_id', 'client_secret', 'scope'],
  properties: {
    grant_type: { const: 'client_credentials' },
    client_id: { type: 'string' },
    client_secret: { type: 'string' },
    scope: { type: 'string', description: 'A list would give a token without rights' },
    expires_in: { type: 'integer', minimum: 300, maximum: 172_800 },
  },
};

export const zendesk: VendorRow = {
  name: 'Zendesk',
  scenarios: ['test/connectors/contract.test.ts', 'test/connectors/zendesk/', 'test/e2e/zendesk'],
  owns: ({ path }) => /^\/(api\/v2|oauth)\//.test(path),
  files: [support, webhooks],
  judges: (folder) => [
    openApiFile(folder, support, {
      bodies: { 'PUT /api/v2/tickets/update_many': ticketsToUpdate, 'POST /oauth/tokens': clientCredentials },
    }),
    openApiFile(folder, webhooks),
  ],
  // Facts, sections 4 and 5: a path is taken with and without `.json`; the description has it without.
  spelled: (request) => ({ ...request, path: request.path.replace(/\.json$/, '') }),
  known: [
    {
      at: /^PUT \/api\/v2\/tickets\/update_many: body: the operation is described without one$/,
      fact: "Section 5 has the body; it is judged by that, each ticket as the description's TicketUpdateInput.",
    },
    {
      at: /^POST \/oauth\/tokens: body: the operation is described without one$/,
      fact: 'Section 3 has the body; it is judged by that. The description has it in prose.',
    },
    {
      at: /^PUT \/api\/v2\/tickets\S*: body\S*\.custom_fields\[\](: "value" is not described| must have required property '(key|title|type)')$/,
      fact: "Section 0, point 9: {id, value}. The description refers to the schema of a field's definition.",
    },
    {
      at: /^GET \/api\/v2\/(tickets\/show_many|incremental\/tickets\/cursor): query: "include" is not described$/,
      fact: 'Section 4: sideloads put sibling arrays beside tickets. The description leaves them out of most lists.',
    },
    {
      at: /^GET \/api\/v2\/\S+: query: "page\[(size|after)\]" is not described$/,
      fact: 'Section 4, cursor paging: on every list. The description has it on some.',
    },
  ],
};
