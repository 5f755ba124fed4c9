import { factsJudge, openApiFile, type VendorRow } from './vendor-row.ts';

/* "Facts" are those on shops that the connector is built on; sections are theirs. */

const orders = 'shops/woocommerce-v3-orders.openapi.json';
const base = '/wp-json/wc/v3';

/** Facts, section 4, notes: `DELETE …/notes/{nid}?force=true`. */
const note = `${base}/orders/{id}/notes/{note_id}`;
const integerInPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'integer' } });
const deleteNote = {
  parameters: [
    integerInPath('id'),
    integerInPath('note_id'),
    { name: 'force', in: 'query', required: true, schema: { type: 'boolean', const: true } },
  ],
};

export const woocommerce: VendorRow = {
  name: 'WooCommerce',
  scenarios: ['connectors/woocommerce/', 'e2e/woocommerce'],
  owns: ({ path, query }) => path.startsWith('/wp-json/') || new URLSearchParams(query).has('rest_route'),
  files: [orders],
  // Facts, section 4: `status=completed,shipped` takes several.
  judges: (folder) => [
    openApiFile(folder, orders, { base, splitsLists: true }),
    factsJudge({ [note]: { delete: deleteNote } }),
  ],
  spelled({ path, query, ...request }) {
    const given = new URLSearchParams(query);
    // Facts, section 4: without pretty permalinks the same routes are reached by `?rest_route=`.
    const route = given.get('rest_route');
    given.delete('rest_route');
    return { ...request, path: route === null ? path : `/wp-json${route}`, query: given.toString() };
  },
  known: [
    {
      at: /^DELETE \/wp-json\/wc\/v3\/orders\/\{id\}\/notes\/\{note_id\}: is not described$/,
      fact: 'Facts, section 4, notes: `DELETE …/notes/{nid}?force=true`. The description reads and writes notes only.',
    },
    {
      at: /^GET \/wp-json\/wc\/v3\/webhooks: query: "(per_page|page)" is not described$/,
      fact: 'Facts, section 4: `per_page` up to 100, 10 when left out, and `page`. The description has the parameters of orders only.',
    },
    {
      at: /^GET \/wp-json\/wc\/v3\/\S+: query: "consumer_secret" is not described$/,
      fact: 'Facts, section 4: `?consumer_key=&consumer_secret=`. The description names the first as a key, the second in its text.',
    },
  ],
};
