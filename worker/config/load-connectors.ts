import type { BuiltIn } from '../../core/connector/built-in.ts';
import type { LoadOptions } from './config.ts';
import { readDocument } from './document.ts';
import { connectorsNamedIn, loadExternalConnectors } from './external-connectors.ts';

/** Loads the connectors that the sources of this text name, and no others, for `loadConfig`. */
export async function loadConnectors(
  text: string,
  { env, file, builtIn }: Required<Pick<LoadOptions, 'env' | 'file'>> & { builtIn: readonly BuiltIn[] },
): Promise<Required<Pick<LoadOptions, 'document' | 'connectors' | 'builtIn' | 'external'>>> {
  const document = readDocument(text, env);
  const named = connectorsNamedIn(document);
  const loaded = builtIn.filter(({ name }) => named.has(name)).map(({ load }) => load());
  const external = await loadExternalConnectors(document, { file, connectors: builtIn });
  return { document, connectors: await Promise.all(loaded), builtIn: builtIn.map(({ name }) => name), external };
}
