import { z } from 'zod';
import type { Connector } from '../../core/connector.ts';
import { General } from './general.ts';
import { Rule } from './rule.ts';

/** The configuration as JSON Schema, for editors: what may be written, `${NAME}` included where text may stand. */
export function schemaText(connectors: readonly Connector[]): string {
  const json = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return rest;
  };
  const general = json(General);
  const sources = connectors.map(({ name, settings }) => {
    const one = json(settings);
    return {
      ...one,
      title: name,
      properties: {
        connector: { const: name },
        rules: { type: 'array', minItems: 1, items: { $ref: '#/$defs/rule' } },
        ...one.properties,
      },
      required: ['connector', 'rules', ...(one.required ?? [])],
    };
  });
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'closeloop configuration',
    ...general,
    properties: {
      ...general.properties,
      sources: { type: 'object', minProperties: 1, additionalProperties: { oneOf: sources } },
    },
    required: [...(general.required ?? []), 'sources'],
    $defs: { rule: json(Rule) },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
