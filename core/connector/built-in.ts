import type { Connector } from './contract.ts';

/** A connector that ships with closeloop: loaded when a source names it, as each brings its vendor's client along. */
export interface BuiltIn {
  readonly name: string;
  load(): Promise<Connector>;
}
