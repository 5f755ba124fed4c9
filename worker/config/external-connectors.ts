import { existsSync, statSync } from 'node:fs';
import { findPackageJSON, registerHooks } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import type { Connector } from '../../core/connector/contract.ts';
import { isCode } from '../../core/errors.ts';
import { suggestion } from '../../core/suggestion.ts';
import { type ConfigDocument, readDocument } from './document.ts';

/** A stranger's connector that a `connector:` names, or why it can't be loaded. `why` follows "sources.x.connector: ". `url`: its file. */
export type External = { ok: true; connector: Connector; url: string } | { ok: false; why: string };

/** Loads the connectors that the sources of this text name, and no others, for `loadConfig`. */
export async function loadConnectors(
  text: string,
  {
    env,
    file,
    builtIn,
  }: { env: Readonly<Record<string, string | undefined>>; file: string; builtIn: readonly BuiltIn[] },
) {
  const document = readDocument(text, env);
  const named = connectorsNamedIn(document);
  const loaded = builtIn.filter(({ name }) => named.has(name)).map(({ load }) => load());
  const external = await loadExternal(named, { file, connectors: builtIn });
  return { document, connectors: await Promise.all(loaded), builtIn: builtIn.map(({ name }) => name), external };
}

/** `file`: the configuration. `connectors`: the built-in connectors, which need no loading. */
interface Beside {
  file: string;
  connectors: readonly Pick<Connector, 'name'>[];
}

/**
 * Loads the connectors that are not built in: a path relative to the configuration (`./my-connector.ts`), or an npm package that is
 * installed beside it or beside closeloop. Results by the text as written. Never throws: a connector that can't be loaded is reported with
 * the file's other mistakes.
 * @param all as a configuration writes them
 */
export async function loadExternal(
  all: Iterable<string>,
  { file, connectors: builtIn }: Beside,
): Promise<ReadonlyMap<string, External>> {
  const names = builtIn.map(({ name }) => name);
  const folder = dirname(resolve(file));
  const loaded = new Map<string, External>();
  for (const written of all) {
    if (names.includes(written)) continue;
    const external = isPath(written) ? await loadFile(written, folder) : await loadPackage(written, folder, names);
    loaded.set(written, distinct(external, names, loaded));
  }
  return loaded;
}

/** The different values of `connector:` in a configuration, as written. */
export function connectorsNamedIn({ value }: ConfigDocument): ReadonlySet<string> {
  const { data } = Sources.safeParse(value);
  const written = Object.values(data?.sources ?? {}).map(({ connector }) => connector);
  return new Set(written.filter((name) => name !== ''));
}

/** Reads `connector:` of each source in a file that may be wrong everywhere else. */
const Sources = z.object({
  sources: z.record(z.string(), z.object({ connector: z.string() }).catch({ connector: '' })),
});

export function isPath(written: string): boolean {
  return /^\.{1,2}\//.test(written) || isAbsolute(written);
}

async function loadFile(written: string, folder: string): Promise<External> {
  const path = resolve(folder, written);
  if (!existsSync(path)) return { ok: false, why: `there is no file ${path}` };
  if (!statSync(path).isFile()) return { ok: false, why: `${path} is a folder: name a file in it` };
  return await load(pathToFileURL(path).href, path);
}

async function loadPackage(name: string, folder: string, builtIn: readonly string[]): Promise<External> {
  const folders = [folder, dirname(findPackageJSON(import.meta.url) ?? '')];
  for (const from of folders) {
    const url = resolvePackage(name, from);
    if (url !== undefined) return await load(url, `the package ${name}`);
  }
  const near = suggestion(name, builtIn);
  const file = existsSync(resolve(folder, name)) ? `; did you mean the file "./${name}"?` : near;
  const why = `must be one of ${builtIn.join(', ')}, a path that begins with ./, or an installed package, and no package "${name}" is installed in ${folders.join(' or ')}${file}`;
  return { ok: false, why };
}

/** The package's entry file; undefined: the package isn't installed there. */
function resolvePackage(name: string, folder: string): string | undefined {
  provideCloseloop();
  try {
    return import.meta.resolve(`${fromScheme}${encodeURIComponent(name)}?${encodeURIComponent(folder)}`);
  } catch {
    return undefined;
  }
}

async function load(url: string, place: string): Promise<External> {
  provideCloseloop();
  let exported: Record<string, unknown>;
  try {
    exported = await import(url);
  } catch (error) {
    return { ok: false, why: `${place} breaks while it is loaded: ${said(error)}` };
  }
  if (isConnector(exported.default)) return { ok: true, connector: exported.default, url };
  const [connector, ...others] = Object.values(exported).filter(isConnector);
  if (connector === undefined) {
    return { ok: false, why: `${place} exports no connector; it needs: export default defineConnector({ … })` };
  }
  if (others.length > 0) return { ok: false, why: `${place} exports several connectors; make one the default` };
  return { ok: true, connector, url };
}

/** Whether a value was made by `defineConnector`, by whichever copy of the function. */
function isConnector(value: unknown): value is Connector {
  return Shape.safeParse(value).success;
}

const Func = z.custom((value) => typeof value === 'function');
const Shape = z.object({ name: z.string(), sources: z.object({ safeParse: Func }), account: Func, open: Func });

/** Quotas are shared by the name of the connector and its account, so two connectors can't have one name. */
function distinct(external: External, builtIn: readonly string[], loaded: ReadonlyMap<string, External>): External {
  if (!external.ok) return external;
  const { name } = external.connector;
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(name)) {
    return { ok: false, why: 'its own name must be of small letters, digits and "-", 41 at most' };
  }
  const twin = [...loaded].find(([, other]) => other.ok && other.connector.name === name);
  if (twin?.[1].ok && twin[1].connector === external.connector) return external;
  const owner = builtIn.includes(name) ? 'a built-in connector has' : twin && `the connector of "${twin[0]}" has`;
  return owner === undefined ? external : { ok: false, why: `its own name is "${name}", as ${owner}; give it another` };
}

/** The error's own message and place in the file: the connector's author will read it. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isCode(error, 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')) {
    return 'Node runs no TypeScript in node_modules: the package must ship .js files';
  }
  const [at] = /file:\/\/\S+?:\d+/.exec(error.stack ?? '') ?? [];
  return `${error.message.split('\n')[0]}${at === undefined ? '' : ` (${at})`}`;
}

const fromScheme = 'closeloop-from:';
let provided = false;

/**
 * Makes `import … from 'closeloop'` work in a connector's files wherever they lie, and give them the very modules that
 * run here, so that classes of errors are the same. Also resolves `closeloop-from:<name>?<folder>` as if asked in that folder.
 */
function provideCloseloop(): void {
  if (provided) return;
  provided = true;
  // In the repository itself TypeScript runs, and there may be no build.
  const source = import.meta.url.endsWith('.ts') ? ['@closeloop/source'] : [];
  registerHooks({
    resolve(specifier, context, next) {
      const conditions = [...source, ...context.conditions];
      // Node finds the file by the "exports" of the package that this file belongs to.
      if (/^closeloop(\/|$)/.test(specifier))
        return next(specifier, { ...context, parentURL: import.meta.url, conditions });
      if (!specifier.startsWith(fromScheme)) return next(specifier, context);
      const [name = '', folder = ''] = specifier.slice(fromScheme.length).split('?').map(decodeURIComponent);
      return next(name, { ...context, parentURL: pathToFileURL(`${folder}/`).href });
    },
  });
}
