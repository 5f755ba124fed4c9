import { isNode } from './schema.ts';
import { openApiFile, type VendorRow } from './vendor-row.ts';

const description = 'intercom/intercom-2.16.yaml';

/** Without attributes that are null. */
function withoutEmptied(_key: string, value: unknown): unknown {
  if (!isNode(value) || !isNode(value.custom_attributes)) return value;
  const set = Object.entries(value.custom_attributes).filter(([, one]) => one !== null);
  return { ...value, custom_attributes: Object.fromEntries(set) };
}

export const intercom: VendorRow = {
  name: 'Intercom',
  scenarios: ['connectors/intercom/', 'e2e/intercom'],
  owns: ({ path }) => /^\/(me|admins|teams|conversations|contacts|tickets|ticket_types)(\/|$)/.test(path),
  files: [description],
  judges: (folder) => [openApiFile(folder, description)],
  // Facts on Intercom, section 8: an attribute is emptied with null. The description knows only what sets one.
  spelled: ({ body, ...request }) =>
    body === undefined ? request : { ...request, body: JSON.stringify(JSON.parse(body), withoutEmptied) },
  known: [],
};
