import { z } from 'zod';

/** The part of JSON Schema that zod writes for settings. */
const Node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  get properties() {
    return z.record(z.string(), Node).optional();
  },
  required: z.array(z.string()).optional(),
  get items() {
    return Node.optional();
  },
  get anyOf() {
    return z.array(Node).optional();
  },
  get oneOf() {
    return z.array(Node).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), Node]).optional();
  },
});
export type SchemaNode = z.output<typeof Node>;
export const parseSchema = (text: string): SchemaNode => Node.parse(JSON.parse(text));

export interface Setting {
  /** `window.from`, `rules[].name`, `operations.create.path`. */
  path: string;
  type: string;
  /** Undefined: there is none. */
  preset: string | undefined;
  isRequired: boolean;
  meaning: string;
  /** As YAML on one line. */
  example: string | undefined;
  /** Holds settings of its own, which follow. */
  isGroup: boolean;
}

/**
 * Every setting below a node, each after the one that holds it. Where a setting may be written in several ways, the settings of
 * each way follow.
 * @param exampleOf what real configurations have at a path
 */
export function settingsOf(
  node: SchemaNode,
  prefix: string,
  exampleOf: (path: string) => string | undefined,
): Setting[] {
  const found = new Map<string, Setting>();
  /** @param alternatives the ways of which this is one: what only some of them require is not required */
  const visit = (one: SchemaNode, at: string, alternatives: readonly SchemaNode[] = [one]): void => {
    for (const [name, inner] of Object.entries(one.properties ?? {})) {
      const path = at === '' ? name : `${at}.${name}`;
      const isRequired =
        alternatives.every(({ required = [] }) => required.includes(name)) && inner.default === undefined;
      const known = found.get(path);
      const own = settingOf(inner, path, isRequired);
      if (known === undefined) found.set(path, own);
      else
        found.set(path, {
          ...known,
          type: either(known.type, own.type),
          meaning: either(known.meaning, own.meaning, '; or: '),
        });
      visit(inner, path);
    }
    const ways = waysOf(one).filter((way) => way.properties !== undefined);
    for (const way of ways) visit(way, at, ways);
    if (one.items !== undefined) visit(one.items, `${at}[]`);
    if (typeof one.additionalProperties === 'object') visit(one.additionalProperties, `${at}.<name>`);
  };
  const settingOf = (inner: SchemaNode, path: string, isRequired: boolean): Setting => ({
    path,
    type: typeOf(inner),
    preset: isShown(inner.default) ? yamlOf(inner.default) : undefined,
    isRequired,
    meaning: inner.description ?? '',
    example: inner.examples?.[0] === undefined ? exampleOf(path) : yamlOf(inner.examples[0]),
    isGroup: hasSettings(inner),
  });
  visit(node, prefix);
  return [...found.values()];
}

/** In words: `duration`, `expression, or list of expression`, `text`. */
export function typeOf(node: SchemaNode): string {
  if (node.title !== undefined) return node.title;
  if (node.const !== undefined) return `\`${yamlOf(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${yamlOf(value)}\``).join(', ');
  const ways = waysOf(node);
  if (ways.length > 0) return [...new Set(ways.map(typeOf))].join(', or ');
  if (node.type === 'array') return `list of ${node.items === undefined ? 'anything' : typeOf(node.items)}`;
  if (node.type === 'object') {
    const { additionalProperties } = node;
    if (node.properties === undefined && typeof additionalProperties === 'object')
      return `names, each with: ${typeOf(additionalProperties)}`;
    return 'settings';
  }
  const named = {
    string: 'text',
    integer: numberOf(node, 'whole number'),
    number: numberOf(node, 'number'),
    boolean: 'true or false',
  };
  const types = new Map(Object.entries(named));
  return node.type === undefined
    ? 'anything'
    : [node.type]
        .flat()
        .map((type) => types.get(type) ?? type)
        .join(', or ');
}

function numberOf({ minimum, maximum }: SchemaNode, word: string): string {
  const [from, to] = [minimum, maximum].map((bound) =>
    bound === undefined || Math.abs(bound) > 1e15 ? undefined : bound,
  );
  if (from === undefined) return word;
  return to === undefined ? `${word} from ${from}` : `${word}, ${from} to ${to}`;
}

const waysOf = (node: SchemaNode): SchemaNode[] => [...(node.anyOf ?? []), ...(node.oneOf ?? [])];

function hasSettings(node: SchemaNode): boolean {
  return (
    node.properties !== undefined ||
    waysOf(node).some(hasSettings) ||
    (node.items !== undefined && hasSettings(node.items))
  );
}

/** An empty object or list as default says no more than that the setting may be left out. */
function isShown(preset: unknown): boolean {
  return preset !== undefined && !(typeof preset === 'object' && preset !== null && Object.keys(preset).length === 0);
}

function either(one: string, other: string, between = ', or '): string {
  return one === other || one.split(between).includes(other) ? one : `${one}${between}${other}`;
}

/** A value as people write it in YAML on one line. */
export function yamlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlOf).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${name}: ${yamlOf(inner)}`)
      .join(', ')} }`;
  }
  // YAML would read it as something else than a text.
  const isOther = (text: string): boolean =>
    /^-?\d+(\.\d+)?$|^(true|false|null)$/.test(text) || !/^[\w$/.(-][^#]*$/.test(text);
  if (typeof value === 'string' && isOther(value)) return JSON.stringify(value);
  return String(value);
}
