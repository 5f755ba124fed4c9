import { z } from 'zod';

type Shape = z.core.JSONSchema._JSONSchema;

/**
 * A command of a control surface in one line, for people: `POST /_control/tickets/{id}/solve {actorId?: integer}`. A
 * part of the path is not named again in the body.
 */
export function commandLine(method: string, template: string, schema: z.ZodType): string {
  const inPath = [...template.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
  const body = inWords(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), inPath);
  const path = template.replaceAll(/\{(\w+):((?:\\d\+)|[^{}]*)\}/g, (_, name, choices: string) =>
    choices.includes('|') ? `{${choices}}` : `{${name}}`,
  );
  return [method, path, ...(['anything', '{}'].includes(body) ? [] : [body])].join(' ');
}

function inWords(shape: Shape, leftOut: readonly string[] = []): string {
  if (typeof shape === 'boolean') return 'anything';
  if (shape.anyOf) {
    const words = new Set(shape.anyOf.map((one) => inWords(one)));
    // A Date, which tests in the same process may give, has no JSON: the string beside it is meant.
    if (words.size > 1) words.delete('anything');
    return [...words].join(' | ');
  }
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.type === 'array') return `[${Array.isArray(shape.items) || !shape.items ? '' : inWords(shape.items)}]`;
  if (shape.type !== 'object') return [shape.type ?? 'anything'].flat().join(' | ');
  const { properties = {}, required = [], additionalProperties = false } = shape;
  const named = Object.entries(properties).filter(([name]) => !leftOut.includes(name));
  const parts = named.map(([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${inWords(one)}`);
  if (additionalProperties !== false) parts.push(`<name>: ${inWords(additionalProperties)}`);
  return `{${parts.join(', ')}}`;
}
