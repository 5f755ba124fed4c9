import { isNode } from './schema.ts';
import { openApiFile, type VendorRow } from './vendor-row.ts';

const description = 'intercom/intercom-2.16.yaml';

/** Without attributes that are null; fractions as whole numbers. */
function asDescribed(_key: string, value: unknown): unknown {
  if (!isNode(value) || !isNode(value.custom_attributes)) return value;
  const set = Object.entries(value.custom_attributes).flatMap(([name, one]) =>
    one === null ? [] : [[name, typeof one === 'number' ? Math.trunc(one) : one]],
  );
  return { ...value, custom_attributes: Object.fromEntries(set) };
}

export const intercom: VendorRow = {
  name: 'Intercom',
  scenarios: ['connectors/intercom/', 'e2e/intercom'],
  owns: ({ path }) => /^\/(me|admins|teams|conversations|contacts|tickets|ticket_types|tags)(\/|$)/.test(path),
  files: [description],
  judges: (folder) => [openApiFile(folder, description)],
  // Facts on Intercom, section 8: an attribute is emptied with null, and one of the type decimal takes fractions. The description
  // knows only what sets one, to a whole number.
  spelled: ({ body, ...request }) =>
    body === undefined ? request : { ...request, body: JSON.stringify(JSON.parse(body), asDescribed) },
  known: [],
};
