import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { connectors } from '../../connectors/index.ts';
import { sourcePolicyNames } from '../../worker/config/policy.ts';
import { schemaText } from '../../worker/config/schema.ts';
import { parseSchema, type SchemaNode, type Setting, settingsOf, yamlOf } from './schema-settings.ts';
import { code, table } from './table.ts';

/** What all sources have, whatever their connector. */
const shared = new Set(['connector', 'rules', 'was', ...sourcePolicyNames]);

const root = resolve(import.meta.dirname, '../..');

/** Each section of the reference: what it is about, and its settings. */
export function configurationSections(): { title: string; settings: Setting[] }[] {
  const schema = parseSchema(schemaText(connectors));
  const { sources, ...general } = schema.properties ?? {};
  const examples = examplesIn(sampleConfigurations());
  const rule = ruleOf(schema);
  const sections = Object.entries(general).map(([name, node]) => {
    const only: SchemaNode = { type: 'object', properties: { [name]: node }, required: schema.required };
    return { title: name, settings: settingsOf(only, '', (path) => examples.get(path)) };
  });
  const alone = sections.filter(({ settings }) => settings.length === 1);
  const vendors = sourcesOf(sources).filter(
    ({ title }) => title !== undefined && connectors.some(({ name }) => name === title),
  );
  return [
    ...sections.filter((section) => !alone.includes(section)),
    { title: 'further settings', settings: alone.flatMap(({ settings }) => settings) },
    { title: 'rules', settings: settingsOf(rule, '', (path) => examples.get(`sources.rules[].${path}`)) },
    ...vendors.map((node) => {
      const entries = Object.entries(node.properties ?? {});
      const own = Object.fromEntries(entries.filter(([name]) => !shared.has(name)));
      const settings = settingsOf({ ...node, properties: own }, '', (path) => examples.get(`${node.title}.${path}`));
      return { title: `sources: ${node.title}`, settings };
    }),
  ];
}

export function configurationReference(): string {
  const sections = configurationSections().map(({ title, settings }) => {
    const rows = settings.map((one) => [code(one.path), one.type, presetOf(one), meaningOf(one)]);
    return `## ${title}\n\n${introductions[title] ?? ''}${table(['setting', 'type', 'default', 'meaning'], rows)}\n`;
  });
  return `# Configuration reference

Every setting of \`closeloop.yaml\`, made from the schema that closeloop checks the file with (\`npm run schema\`). For your editor the
same is [closeloop.schema.json](../../closeloop.schema.json). How the file is read: [Configuration](../configuration.md).

A path names a setting below its section: \`a.b\` is \`b\` within \`a\`, \`a[].b\` is \`b\` in each entry of the list \`a\`. A
**required** setting has to be given where the group that holds it is. A *duration* is a text such as \`90s\`, \`15m\`, \`2h\`,
\`1h30m\` or \`30d\`. An *expression* is [JSONata](../expressions.md). A *secret* is a text, which should come from a variable: \`\${NAME}\`.

${sections.join('\n')}`;
}

const introductions: Record<string, string> = {
  rules:
    "Below `sources.<name>.rules`. The first rule that fits a closing decides; `sources.<name>.never` and `.maxAge` hold for all of them, with the settings of [policy](#policy). `sources.<name>.was` is the source's earlier name: [Renaming a source](../journeys.md#renaming-a-source).\n\n",
  'further settings': 'Each at the top of the file.\n\n',
};

function presetOf({ preset, isRequired }: Setting): string {
  if (isRequired) return '**required**';
  return preset === undefined ? '' : code(preset);
}

function meaningOf({ meaning, example, preset, isGroup }: Setting): string {
  const said = meaning === '' || /[.!?]$/.test(meaning) ? meaning : `${meaning}.`;
  return example === undefined || example === preset || isGroup ? said : `${said} Example: ${code(example)}`;
}

const ruleOf = (schema: SchemaNode): SchemaNode => {
  const { $defs } = schema;
  return parseSchema(JSON.stringify(Object(Object($defs).rule)));
};

function sourcesOf(sources: SchemaNode | undefined): SchemaNode[] {
  const { additionalProperties } = sources ?? {};
  return typeof additionalProperties === 'object' ? (additionalProperties.oneOf ?? []) : [];
}

/** The configurations that tests load: those to begin with, and the whole ones of the pages. */
function sampleConfigurations(): unknown[] {
  const folder = join(root, 'examples/configurations');
  const files = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const shown = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) => [...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/```yaml\n(feedback:[\s\S]*?)```/g)])
    .map(([, yaml = '']) => yaml);
  return [...files, ...shown].map((text): unknown => parse(text));
}

/** The first value of each path; below a source by its connector's name, and for rules of all connectors together. */
function examplesIn(configurations: readonly unknown[]): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (path !== '' && !found.has(path)) found.set(path, yamlOf(value));
    if (Array.isArray(value)) for (const one of value) visit(one, `${path}[]`);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) visit(inner, path === '' ? name : `${path}.${name}`);
    }
  };
  for (const configuration of configurations) {
    visit(configuration, '');
    for (const source of Object.values(Object(Object(configuration).sources))) {
      const { connector, rules } = Object(source);
      visit(source, String(connector));
      visit(rules, 'sources.rules');
    }
  }
  return found;
}
