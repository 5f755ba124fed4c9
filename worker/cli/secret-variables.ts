import { parse } from 'yaml';
import { z } from 'zod';

const File = z.object({ sources: z.record(z.string(), z.record(z.string(), z.unknown())) });
const variable = /^\$\{(\w+)\}$/;

export interface NamedSource {
  name: string;
  connector: unknown;
}

/** The sources in the text of a configuration; none in a text that is no configuration. */
export function sourcesIn(text: string): NamedSource[] {
  const sources = File.safeParse(parse(text, { logLevel: 'error' })).data?.sources ?? {};
  return Object.entries(sources).map(([name, { connector }]) => ({ name, connector }));
}

/**
 * The environment variable in which a secret from the vendor has to stand, by the text of the configuration. `name`: the
 * setting that it is for. That is the variable which the file names there, unless another setting has the same one; then,
 * or where there is none, one of the source's own. A `name` that is no setting of the source is a variable's already.
 */
export function secretVariable(text: string, source: string, name: string): string {
  const file: unknown = parse(text);
  const setting = File.parse(file).sources[source]?.[name];
  if (setting === undefined) return name;
  const [first] = Array.isArray(setting) ? setting : [setting];
  const named = typeof first === 'string' ? variable.exec(first)?.[1] : undefined;
  if (named !== undefined && JSON.stringify(file).split(`\${${named}}`).length === 2) return named;
  const own = `${source}_${Array.isArray(setting) ? name.replace(/s$/, '') : name}`;
  return own
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .toUpperCase();
}
