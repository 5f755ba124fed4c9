import type { StandinRequest } from '../server.ts';
import type { CrmRecord, Source } from './model.ts';
import type { Store } from './store.ts';

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  now: number;
  random: () => number;
  portalId: number;
  /** How the app's own writes are marked. */
  source: Source;
  /** An admin's conditional rule; see definitions.ts. */
  requiredOnWrite: string | null;
  /** @throws Problem 403 unless the token has one of these scopes */
  need: (...oneOf: string[]) => void;
  /** Tells the webhooks that a property of a record changed. */
  changed: (record: CrmRecord, names: readonly string[], source: Source) => void;
}
