import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import type { Connector } from '../../core/connector.ts';
import { Duration } from '../../core/duration.ts';
import { FeedbackSettings } from '../../core/feedback/settings.ts';
import { ConfigError, lineOf, type Problem, pathText, problemsOf } from './problem.ts';
import { Rule } from './rule.ts';

const RedisUrl = z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://');
const Redis = z.union([
  RedisUrl.transform((url) => ({ url })),
  z.strictObject({ url: RedisUrl }),
  z.strictObject({ path: z.string().min(1) }),
  z.strictObject({ cluster: z.array(RedisUrl).min(1) }),
]);

const Http = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8080),
  /** The address vendors call, without /hooks/…: signatures cover it. */
  publicUrl: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
});

const SourceName = /^[a-z0-9][a-z0-9-]{0,40}$/;

const Rules = z
  .array(Rule)
  .min(1, 'needs at least one rule')
  .superRefine((rules, context) => {
    const seen = new Set<string>();
    for (const [i, { name }] of rules.entries()) {
      if (seen.has(name)) context.addIssue({ code: 'custom', path: [i, 'name'], message: 'is used by another rule' });
      seen.add(name);
    }
  });

/** Everything but the sources, whose settings are their connectors'. */
export const General = z.strictObject({
  feedback: FeedbackSettings,
  /** Left out: the embedded default. */
  redis: Redis.optional(),
  http: Http.prefault({}),
  /** How often a campaign is asked whether grades changed, and how often its whole export is read. */
  collect: z.strictObject({ every: Duration.prefault('5m'), fullEvery: Duration.prefault('24h') }).prefault({}),
  /** After a create of unknown outcome: how long until the request is looked for. */
  lookup: z.strictObject({ after: Duration.prefault('30s') }).prefault({}),
  /** Settled journeys and the personal data in them are removed after this time. */
  retention: z.strictObject({ journeys: Duration.prefault('400d') }).prefault({}),
  /** No answer for this long: the journey has expired (a later answer is still taken). */
  expireAfter: Duration.prefault('14d'),
  /** Custom field (Text) that holds the journey's reference, in campaigns that have one of this name. */
  marker: z.string().min(1).default('closeloop'),
});

export interface ConfiguredSource {
  name: string;
  connector: Connector;
  settings: unknown;
  rules: Rule[];
}

export type Config = z.output<typeof General> & { sources: ConfiguredSource[] };

export interface LoadOptions {
  env: Readonly<Record<string, string | undefined>>;
  connectors: readonly Connector[];
  /** For messages. */
  file?: string;
}

/**
 * Reads a configuration. All mistakes are reported at once, with their path and line.
 * @throws ConfigError
 */
export function loadConfig(text: string, options: LoadOptions): Config {
  const file = options.file ?? 'closeloop.yaml';
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true });
  if (document.errors.length > 0) {
    throw new ConfigError(
      file,
      document.errors.map(({ message, linePos }) => ({
        path: '',
        ...(linePos ? { line: linePos[0].line } : {}),
        message: message.split('\n')[0] ?? 'is not YAML',
      })),
    );
  }
  const found: [path: readonly PropertyKey[], message: string][] = [];
  substitute(document, options.env, found);
  const { sources, ...general } = asObject(document.toJS());

  const parsed = General.safeParse(general, { reportInput: false });
  if (!parsed.success) found.push(...problemsOf(parsed.error.issues, (path) => keysAt(General, path)));
  const configured = readSources(sources, options.connectors, found);

  // A variable that is missing leaves a hole that may offend the schema too: it is told once.
  const distinct = new Map(found.toReversed().map(([path, message]) => [pathText(path), { path, message }]));
  if (!parsed.success || distinct.size > 0) {
    const problems = [...distinct.entries()].map(([path, problem]): Problem => {
      const line = lineOf(document, lines, problem.path);
      return { path, ...(line === undefined ? {} : { line }), message: problem.message };
    });
    throw new ConfigError(
      file,
      problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    );
  }
  return { ...parsed.data, sources: configured };
}

/** `${NAME}` in any text becomes the environment variable of that name. An empty one counts as missing. */
function substitute(document: Document, env: LoadOptions['env'], found: [readonly PropertyKey[], string][]): void {
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || !isScalar(node) || typeof node.value !== 'string') return;
      node.value = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
        const value = env[name];
        if (value === undefined || value === '') {
          found.push([pathOf(ancestors, key), `the environment variable ${name} is not set`]);
          return `\${${name}}`;
        }
        return value;
      });
    },
  });
}

/** The path of a node from what `visit` passed on its way: pairs give names, sequences positions. */
function pathOf(ancestors: readonly unknown[], last: unknown): PropertyKey[] {
  const path: PropertyKey[] = [];
  for (const [i, ancestor] of ancestors.entries()) {
    const next = ancestors[i + 1];
    if (typeof ancestor !== 'object' || ancestor === null) continue;
    if ('key' in ancestor && isScalar(ancestor.key)) path.push(String(ancestor.key.value));
    else if ('items' in ancestor && Array.isArray(ancestor.items) && !('key' in ancestor)) {
      const position = next === undefined ? last : ancestor.items.indexOf(next);
      const isPlace = typeof position === 'number' && position >= 0 && !isPairLike(ancestor.items[position]);
      if (isPlace) path.push(position);
    }
  }
  return path;
}

function isPairLike(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'key' in item;
}

function readSources(
  raw: unknown,
  connectors: readonly Connector[],
  found: [readonly PropertyKey[], string][],
): ConfiguredSource[] {
  const entries = Object.entries(asObject(raw));
  if (entries.length === 0) found.push([['sources'], 'is missing: name at least one source']);
  return entries.flatMap(([name, value]): ConfiguredSource[] => {
    const at = ['sources', name];
    if (!SourceName.test(name)) {
      found.push([at, 'is not a name for a source: small letters, digits and "-", 41 at most']);
    }
    const { connector: kind, rules: rawRules, ...rest } = asObject(value);
    const rules = Rules.safeParse(rawRules, { reportInput: false });
    if (!rules.success) {
      const nested = rules.error.issues.map((issue) => ({ ...issue, path: [...at, 'rules', ...issue.path] }));
      found.push(...problemsOf(nested, (path) => keysAt(Rules, path.slice(3))));
    }
    const connector = connectors.find((one) => one.name === kind);
    if (!connector) {
      const names = connectors.map((one) => one.name).join(', ');
      found.push([
        [...at, 'connector'],
        kind === undefined ? `is missing: one of ${names}` : `must be one of ${names}`,
      ]);
      return [];
    }
    const settings = connector.settings.safeParse(rest, { reportInput: false });
    if (!settings.success) {
      const nested = settings.error.issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] }));
      const known = (path: readonly PropertyKey[]) => {
        const keys = keysAt(connector.settings, path.slice(2));
        return path.length === 2 ? [...keys, 'connector', 'rules'] : keys;
      };
      found.push(...problemsOf(nested, known));
    }
    if (!settings.success || !rules.success) return [];
    // The raw settings: the connector parses them itself when it opens the source.
    return [{ name, connector, settings: rest, rules: rules.data }];
  });
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The keys a schema knows at a path; none where it isn't an object there. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const json: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  let here = asObject(json);
  for (const key of path) {
    const next = typeof key === 'number' ? here.items : asObject(here.properties)[String(key)];
    here = asObject(next);
  }
  return Object.keys(asObject(here.properties));
}
