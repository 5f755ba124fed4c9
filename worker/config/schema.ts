import { z } from 'zod';
import type { Connector } from '../../core/connector/contract.ts';
import { actionsOf, answerRuleOf } from './answer-rule.ts';
import { General } from './general.ts';
import { Never } from './never.ts';
import { SourcePolicy } from './policy.ts';
import { Rule } from './rule.ts';

/** An entry of `do` holds exactly one action, under the action's name. */
function answersOf(connector: Connector, json: (schema: z.ZodType) => object) {
  const rule = json(answerRuleOf(connector));
  const oneOf = Object.entries(actionsOf(connector)).map(([name, takes]) => ({
    ...{ type: 'object', title: name, additionalProperties: false },
    ...{ properties: { [name]: json(takes) }, required: [name] },
  }));
  const { properties } = z.looseObject({ properties: z.record(z.string(), z.looseObject({})) }).parse(rule);
  return {
    type: 'array',
    description: 'What is done because of an answer: docs/answers.md',
    items: { ...rule, properties: { ...properties, do: { ...properties.do, items: { oneOf } } } },
  };
}

/** The configuration as JSON Schema, for editors: what may be written, `${NAME}` included where text may stand. */
export function schemaText(connectors: readonly Connector[]): string {
  const json = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return rest;
  };
  const general = json(General);
  const { properties } = json(SourcePolicy);
  const was = {
    type: 'string',
    description:
      'The earlier name of the source, whose stored data it goes on with; may be taken out after the next start',
  };
  const policy = { ...properties, never: { $ref: '#/$defs/never' }, was };
  const rules = { type: 'array', minItems: 1, items: { $ref: '#/$defs/rule' } };
  const sources = connectors.map((connector) => {
    const { name, settings, mayAskNobody } = connector;
    const one = json(settings);
    return {
      ...one,
      title: name,
      properties: {
        connector: { const: name },
        rules,
        answers: answersOf(connector, json),
        ...policy,
        ...one.properties,
      },
      required: ['connector', ...(mayAskNobody ? [] : ['rules']), ...(one.required ?? [])],
    };
  });
  // Connectors in a file or package: only their own code knows their settings (external-connectors.ts).
  const external = {
    type: 'object',
    title: 'a connector of your own',
    properties: {
      connector: {
        type: 'string',
        minLength: 1,
        not: { enum: connectors.map(({ name }) => name) },
        description: 'A file, relative to this one (./my-connector.ts), or an installed npm package',
      },
      rules,
      ...policy,
    },
    required: ['connector', 'rules'],
  };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'closeloop configuration',
    ...general,
    properties: {
      ...general.properties,
      sources: { type: 'object', minProperties: 1, additionalProperties: { oneOf: [...sources, external] } },
    },
    required: [...(general.required ?? []), 'sources'],
    $defs: { rule: json(Rule), never: json(Never) },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
