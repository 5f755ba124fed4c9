/** A schema of an OpenAPI document, or any other object in it. */
export type Node = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What `$ref` points to, as far as it goes; the node itself where it is no reference. */
export function resolve(document: Node, node: unknown): Node {
  let at = node;
  for (let depth = 0; isNode(at) && typeof at.$ref === 'string' && depth < 20; depth++) {
    const names = at.$ref
      .replace(/^#\//, '')
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    at = names.reduce<unknown>((here, name) => (isNode(here) ? here[name] : undefined), document);
  }
  return isNode(at) ? at : {};
}

const branches = ['allOf', 'anyOf', 'oneOf'] as const;

/** Does it name properties, by itself or in a part that it is put together of? */
function namesProperties(document: Node, schema: Node, seen = new Set<unknown>()): boolean {
  const target = resolve(document, schema);
  if (seen.has(target)) return false;
  seen.add(target);
  if (isNode(target.properties)) return true;
  return branches.some((key) => partsOf(target, key).some((part) => namesProperties(document, part, seen)));
}

function partsOf(schema: Node, key: string): Node[] {
  const parts = schema[key];
  return Array.isArray(parts) ? parts.filter(isNode) : [];
}

/**
 * An OpenAPI document whose schemas a JSON Schema validator takes, and that allows no properties it doesn't name: vendors
 * drop unknown keys without a word, so a mistyped one must not pass. (`additionalProperties: true` still opens one.)
 */
export function sealed(document: Node): Node {
  const isSchema = (value: unknown): value is Node => isNode(value);
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isNode(value)) return value;
    const { example: _, examples: __, nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = value;
    const walked = Object.entries(rest).map(([key, held]): [string, unknown] => {
      if (key === 'properties' && isNode(held)) {
        return [key, Object.fromEntries(Object.entries(held).map(([name, one]) => [name, place(one)]))];
      }
      return [key, key === 'items' || (key === 'schema' && isNode(held)) ? place(held) : walk(held)];
    });
    return {
      ...Object.fromEntries(walked),
      // OpenAPI 3.0 writes these two in a way of its own; `nullable` without a type says nothing.
      ...(nullable === true && 'type' in rest && { nullable }),
      ...limit('exclusiveMinimum', exclusiveMinimum, rest.minimum),
      ...limit('exclusiveMaximum', exclusiveMaximum, rest.maximum),
    };
  };
  /** Where a value stands, as opposed to a part of another schema, which knows only some of the value's properties. */
  const place = (schema: unknown): unknown => {
    const walked = walk(schema);
    if (!isSchema(schema) || !isNode(walked) || 'additionalProperties' in walked) return walked;
    return namesProperties(document, schema) ? { ...walked, unevaluatedProperties: false } : walked;
  };
  const whole = walk(document);
  return isNode(whole) ? whole : {};
}

function limit(name: string, exclusive: unknown, bound: unknown): Node {
  if (exclusive === undefined || exclusive === false) return {};
  return { [name]: exclusive === true ? bound : exclusive };
}
