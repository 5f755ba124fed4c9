import type { Connector } from './contract.ts';
import type { Onboarding } from './onboarding.ts';

/** A connector that ships with closeloop. It is loaded when a source names it, because it imports its vendor's client. */
export interface BuiltIn {
  readonly name: string;
  load(): Promise<Connector>;
  /** Left out: `closeloop init` does not offer the connector. */
  onboarding?(): Promise<Onboarding>;
}
