import { distance } from 'fastest-levenshtein';
import type { Expression, Findings } from './expression.ts';
import { compileExpression } from './expression-compile.ts';
import { type CustomValue, convert, type FieldDefinition } from './field-value.ts';

/** Custom field name → expression over the record. */
export type Mapping = ReadonlyMap<string, Expression>;

/** @throws CloseloopError config for an expression that can't be compiled */
export function compileMapping(fields: Readonly<Record<string, string>>): Mapping {
  return new Map(Object.entries(fields).map(([name, source]) => [name, compileExpression(source)]));
}

/**
 * The problems of a mapping that can be found without a record: fields that the campaign does not have, required fields without
 * an expression, and constant expressions whose value the field does not take.
 */
export function checkMapping(mapping: Mapping, definitions: readonly FieldDefinition[]): string[] {
  const missing = definitions
    .filter(({ name, required }) => required && !mapping.has(name))
    .map(({ name }) => `the campaign requires the custom field "${name}", and the rule has no expression for it`);
  const constants = definitions.flatMap((definition) => constantProblem(definition, mapping.get(definition.name)));
  return [...unknownNames(mapping, definitions), ...missing, ...constants];
}

function unknownNames(mapping: Mapping, definitions: readonly FieldDefinition[]): string[] {
  const names = definitions.map(({ name }) => name);
  return [...mapping.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => `the campaign has no custom field "${name}"${suggestion(name, names)}`);
}

function constantProblem(definition: FieldDefinition, expression: Expression | undefined): string[] {
  const { constant } = expression ?? {};
  if (constant === undefined) return [];
  // Only the converted value depends on the zone, not whether a constant can be converted.
  const converted = constant.ok ? convert(definition, constant.value, { timeZone: 'UTC' }) : constant;
  if (!converted.ok) return [problem(definition, converted.why)];
  return converted.value === undefined && definition.required
    ? [problem(definition, 'it is required, and always empty')]
    : [];
}

function problem({ name, field_type }: FieldDefinition, why: string): string {
  return `"${name}" (${field_type}): ${why}`;
}

function suggestion(name: string, names: readonly string[]): string {
  const lower = name.trim().toLowerCase();
  const [near] = names
    .map((one) => ({ one, slips: distance(lower, one.toLowerCase()) }))
    .sort((a, b) => a.slips - b.slips);
  if (near === undefined) return '; it has none';
  if (near.slips <= Math.max(2, Math.floor(lower.length / 3))) return `; did you mean "${near.one}"?`;
  return `; it has ${names.map((one) => `"${one}"`).join(', ')}`;
}

/** All values or none: a request is never sent with only a part of its fields. `problems` name every field that prevents the request. */
export type Applied =
  | { ok: true; values: Record<string, CustomValue>; sources: Record<string, string> }
  | { ok: false; problems: string[] };

/**
 * The values of one record for one campaign. `sources` gives the expression of each value that is sent.
 * @param findings the results of the mapping's expressions over the record
 */
export function applyMapping(
  mapping: Mapping,
  findings: Findings,
  definitions: readonly FieldDefinition[],
  options: { timeZone: string },
): Applied {
  // Built from entries, as a field may be called `__proto__`.
  const values: [name: string, value: CustomValue][] = [];
  const sources: [name: string, source: string][] = [];
  const problems: string[] = [];
  for (const definition of definitions) {
    const { name, required } = definition;
    const expression = mapping.get(name);
    const found = expression ? findings.of(expression) : { ok: true as const, value: undefined };
    const converted = found.ok ? convert(definition, found.value, options) : found;
    if (!converted.ok) {
      problems.push(problem(definition, converted.why));
    } else if (converted.value !== undefined) {
      values.push([name, converted.value]);
      if (expression) sources.push([name, expression.source]);
    } else if (required) {
      problems.push(
        `"${name}" is required, and ${expression ? `${expression.source} found nothing` : 'is not mapped'}`,
      );
    }
  }
  problems.push(...unknownNames(mapping, definitions));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, values: Object.fromEntries(values), sources: Object.fromEntries(sources) };
}
