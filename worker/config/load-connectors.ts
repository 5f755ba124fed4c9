import type { BuiltIn } from '../../core/connector/built-in.ts';
import type { LoadOptions } from './config.ts';
import { connectorsNamedIn, loadExternalConnectors } from './external-connectors.ts';

/** Loads the connectors that the sources of this text name, and no others, for `loadConfig`. */
export async function loadConnectors(
  text: string,
  { env, file, builtIn }: Required<Pick<LoadOptions, 'env' | 'file'>> & { builtIn: readonly BuiltIn[] },
): Promise<Required<Pick<LoadOptions, 'connectors' | 'builtIn' | 'external'>>> {
  const named = connectorsNamedIn(text, env);
  const loaded = builtIn.filter(({ name }) => named.has(name)).map(({ load }) => load());
  const external = await loadExternalConnectors(text, { env, file, connectors: builtIn });
  return { connectors: await Promise.all(loaded), builtIn: builtIn.map(({ name }) => name), external };
}
