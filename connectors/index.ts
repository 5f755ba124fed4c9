import type { Connector } from '../core/connector/contract.ts';
import { builtIn } from './built-in.ts';

/** Every connector that ships with closeloop, loaded. */
export const connectors: readonly Connector[] = await Promise.all(builtIn.map(({ load }) => load()));
