import type { Node } from './schema.ts';
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

const clientCredentials = {
  type: 'object',
  required: ['grant_type', 'client_id', 'client_secret', 'scope'],
  properties: {
    grant_type: { const: 'client_credentials' },
    client_id: { type: 'string' },
    client_secret: { type: 'string' },
    // A list would give a token without rights.
    scope: { type: 'string' },
    expires_in: { type: 'integer', minimum: 300, maximum: 172_800 },
  },
};

const within = (name: string, component: string) => ({
  type: 'object',
  required: [name],
  properties: { [name]: { $ref: `#/components/schemas/${component}` } },
});

/** All options of a field: those that are left out are deleted. */
const optionsOfField = {
  type: 'object',
  required: ['custom_object_field'],
  properties: {
    custom_object_field: {
      type: 'object',
      required: ['custom_field_options'],
      properties: {
        custom_field_options: { type: 'array', items: { $ref: '#/components/schemas/CustomFieldOptionObject' } },
      },
    },
  },
};

/** Bodies of operations that the description describes without one: judged by what the fact says of them. */
const bodies: Readonly<Record<string, { schema: Node; fact: string }>> = {
  'PUT /api/v2/tickets/update_many': {
    schema: ticketsToUpdate,
    fact: "Facts, section 5. Each ticket is judged as the description's TicketUpdateInput.",
  },
  'PUT /api/v2/tickets/{ticket_id}/tags': {
    schema: {
      type: 'object',
      required: ['tags'],
      properties: { tags: { type: 'array', minItems: 1, items: { type: 'string' } } },
    },
    fact: 'Facts, section 5: adds these tags.',
  },
  'POST /oauth/tokens': { schema: clientCredentials, fact: 'Facts, section 3; in prose in the description.' },
  'POST /api/v2/ticket_fields': {
    schema: within('ticket_field', 'TicketFieldObject'),
    fact: "The description gives the answer only; the body is judged as that answer's TicketFieldObject.",
  },
  'POST /api/v2/ticket_fields/{ticket_field_id}/options': {
    schema: within('custom_field_option', 'CustomFieldOptionObject'),
    fact: "In the description's prose; judged as its CustomFieldOptionObject.",
  },
  'POST /api/v2/user_fields/{user_field_id}/options': {
    schema: within('custom_field_option', 'CustomFieldOptionObject'),
    fact: "In the description's prose; judged as its CustomFieldOptionObject.",
  },
  'PATCH /api/v2/custom_objects/{custom_object_key}/fields/{custom_object_field_key_or_id}': {
    schema: optionsOfField,
    fact: "In the description's prose: a custom_object_field with what is to change. Options are judged as its CustomFieldOptionObject.",
  },
  'POST /api/v2/user_fields': {
    schema: within('user_field', 'UserFieldObject'),
    fact: "The description gives the answer only; the body is judged as that answer's UserFieldObject.",
  },
};

export const zendesk: VendorRow = {
  name: 'Zendesk',
  scenarios: ['test/integration/connectors/contract.test.ts', 'connectors/zendesk/', 'e2e/zendesk'],
  // HubSpot has other addresses below /oauth.
  owns: ({ path }) => /^\/(api\/v2\/|oauth\/tokens$)/.test(path),
  files: [support, webhooks],
  judges: (folder) => [
    openApiFile(folder, support, {
      bodies: Object.fromEntries(Object.entries(bodies).map(([name, { schema }]) => [name, schema])),
    }),
    openApiFile(folder, webhooks),
  ],
  // Facts, sections 4 and 5: a path is taken with and without `.json`; the description has it without.
  spelled: (request) => ({ ...request, path: request.path.replace(/\.json$/, '') }),
  known: [
    ...Object.entries(bodies).map(([name, { fact }]) => {
      return {
        at: new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')}: body: the operation is described without one$`),
        fact,
      };
    }),
    {
      at: /^PUT \/api\/v2\/tickets\S*: body\S*\.custom_fields\[\](: "value" is not described| must have required property '(key|title|type)')$/,
      fact: "Facts, section 0, point 9: {id, value}. The description refers to the schema of a field's definition.",
    },
    {
      at: /^PUT \/api\/v2\/tickets\/\{ticket_id\}: body\.ticket: "metadata" is not described$/,
      fact: 'Facts, section 5: `metadata` of an update, which its audit shows again.',
    },
    {
      at: /^GET \/api\/v2\/(tickets\/show_many|incremental\/tickets\/cursor): query: "include" is not described$/,
      fact: 'Facts, section 4: sideloads put sibling arrays beside tickets. The description has them on some reads.',
    },
    {
      at: /^GET \/api\/v2\/\S+: query: "page\[(size|after)\]" is not described$/,
      fact: 'Facts, section 4, cursor paging: on every list. The description has it on some.',
    },
    {
      at: /^GET \/api\/v2\/incremental\/tickets\/cursor: query: ("per_page" is not described|"start_time" is required)$/,
      fact: 'Facts, section 4: `per_page` up to 1000; `start_time` first, then `cursor` in its place.',
    },
    {
      at: /^GET \/api\/v2\/oauth\/tokens\/\{oauth_token_id\}: path: oauth_token_id must be integer$/,
      fact: "The description's own example: oauth/tokens/current.json, the token of the call itself.",
    },
    {
      at: /^(PATCH|DELETE) \/api\/v2\/custom_objects\/\{custom_object_key\}\/records: query: "name" is required$/,
      fact: 'Facts, section 2: `?external_id=`. The description says so too: "External id and name cannot be used together".',
    },
  ],
};
