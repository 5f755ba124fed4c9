import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectors } from '../../../../connectors/index.ts';
import { schemaText } from '../../../../worker/config/schema.ts';

describe('closeloop.schema.json', () => {
  test('it is what "npm run schema" writes now', () => {
    const file = readFileSync(resolve(import.meta.dirname, '../../../../closeloop.schema.json'), 'utf8');
    expect(file, 'run "npm run schema" and commit the file').toBe(schemaText(connectors));
  });

  test('it describes a source of each connector, with its rules', () => {
    const schema = JSON.parse(schemaText(connectors));
    const { oneOf } = schema.properties.sources.additionalProperties;
    expect(oneOf).toHaveLength(connectors.length + 1);
    for (const [i, { name, mayAskNobody }] of connectors.entries()) {
      expect(oneOf[i]).toMatchObject({
        properties: { connector: { const: name }, rules: { items: { $ref: '#/$defs/rule' } } },
        required: expect.arrayContaining(mayAskNobody ? ['connector'] : ['connector', 'rules']),
        additionalProperties: false,
      });
    }
    // Any other name is a file or a package, with settings that nobody here knows.
    expect(oneOf.at(-1).properties.connector.not.enum).toEqual(connectors.map(({ name }) => name));
    expect(oneOf.at(-1)).not.toHaveProperty('additionalProperties');
    expect(schema.$defs.rule.required).toEqual(['name', 'campaign', 'contact']);
    expect(schema.required).toEqual(['feedback', 'sources']);
  });

  test('it describes every key of feedback.operations, so that nobody has to read the source (audit 37)', () => {
    const schema = JSON.parse(schemaText(connectors));
    const undescribed = (node: { description?: unknown; properties?: object }, at: string): string[] => [
      ...(typeof node.description === 'string' || /\.body$/.test(at) ? [] : [at]),
      ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => undescribed(inner, `${at}.${name}`)),
    ];
    const { operations } = schema.properties.feedback.properties;
    expect(undescribed(operations, 'operations')).toEqual([]);
    expect(operations.description).toMatch(/dot path.*list.*the body itself.*other-wire-form\.yaml/);
    expect(operations.properties.create.properties.record.description).toMatch(/"": it is the whole/);
  });
});
