import { openApiFile, type VendorRow } from './vendor-row.ts';

/* "Facts" are those on Intercom that the connector is built on; sections are theirs. */

const description = 'intercom/intercom-2.16.yaml';

export const intercom: VendorRow = {
  name: 'Intercom',
  scenarios: ['connectors/intercom/', 'e2e/intercom'],
  owns: ({ path }) => /^\/(me|admins|teams|conversations|contacts|tickets|ticket_types)(\/|$)/.test(path),
  files: [description],
  judges: (folder) => [openApiFile(folder, description)],
  known: [
    {
      at: /^PUT \/conversations\/\{conversation_id\}: body\.custom_attributes\.\S.* must (be (string|integer|object)|match a schema in anyOf)$/,
      fact: 'Facts, section 8: an attribute is emptied with null. The description knows only what sets one.',
    },
  ],
};
