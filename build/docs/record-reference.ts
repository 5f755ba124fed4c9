import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { code, table } from './table.ts';
import { entriesOf } from './type-shape.ts';

const connectors = resolve(import.meta.dirname, '../../connectors');

/** The connectors that read records themselves; what `webhook` presents is its sender's. */
export const shapes: readonly { connector: string; title: string; shape: string }[] = [
  { connector: 'zendesk', title: 'Zendesk', shape: 'ZendeskShape' },
  { connector: 'hubspot', title: 'HubSpot', shape: 'HubSpotShape' },
  { connector: 'intercom', title: 'Intercom', shape: 'IntercomShape' },
  { connector: 'shopify', title: 'Shopify', shape: 'ShopifyShape' },
  { connector: 'woocommerce', title: 'WooCommerce', shape: 'WooCommerceShape' },
  { connector: 'request-tracker', title: 'Request Tracker', shape: 'RequestTrackerShape' },
];

export function shapeOf({ connector, shape }: (typeof shapes)[number]) {
  return entriesOf(readFileSync(join(connectors, connector, 'record.ts'), 'utf8'), shape);
}

export function recordReference(): string {
  const sections = shapes.map((one) => {
    const { about, entries } = shapeOf(one);
    const rows = entries.map(({ path, type, meaning, isOptional }) => [
      code(path),
      isOptional ? `${type}, or nothing` : type,
      meaning,
    ]);
    return `## ${one.title}\n\n${about}\n\n${table(['expression', 'finds', 'meaning'], rows)}`;
  });
  return `# Records reference

What \`when\`, \`contact\` and \`fields\` see of a record, by vendor, made from the types that the connectors present
(\`npm run schema\`). \`closeloop preview support/41960 --show-record\` prints one of yours. How to write expressions:
[Expressions](../expressions.md).

An entry of a *list* is found in all of its members at once: \`order.items.sku\` is the list of the SKUs. *Or nothing*: the value may be
missing or null; an expression that finds nothing is false as a condition, and no value as a field. Names with other characters than
letters, digits and _ stand in backticks.

${sections.join('\n\n')}

## Webhook

Whatever the sender's events hold: \`event.shape\` of the source says which part of an event rules see. With \`shape: data\`, and the
event \`{"data": {"job": {"id": 17}}}\`, the expression \`job.id\` finds 17. See [Any system with a webhook](../webhook.md).
`;
}
