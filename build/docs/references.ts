import { z } from 'zod';
import { connectors } from '../../connectors/index.ts';
import { schemaText } from '../../worker/config/schema.ts';
import { Payload } from '../../worker/pipeline/send/payload.ts';
import { assumptionReference } from './assumption-reference.ts';
import { commandReference } from './command-reference.ts';
import { configurationReference } from './configuration-reference.ts';
import { reasonReference } from './reason-reference.ts';
import { recordReference } from './record-reference.ts';

/** The files that are made from the source, by path: `npm run schema` writes them, and a test compares them. */
export async function references(): Promise<Map<string, string>> {
  return new Map([
    ['closeloop.schema.json', schemaText(connectors)],
    ['docs/reference/configuration.md', configurationReference()],
    ['docs/reference/commands.md', await commandReference()],
    ['docs/reference/records.md', recordReference()],
    ['docs/reference/reasons.md', reasonReference()],
    ['docs/reference/assumptions.md', assumptionReference()],
    ['docs/reference/webhook-events.schema.json', webhookSchema()],
  ]);
}

/** What webhooks are sent, as JSON Schema. */
function webhookSchema(): string {
  const schema = z.toJSONSchema(Payload, {
    // Later versions add members, and "date-time" says enough of an instant.
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return `${JSON.stringify({ title: 'closeloop webhook events', ...schema }, null, 2)}\n`;
}
