import type { Occurrence } from './store.ts';
import type { Sight } from './views.ts';

/** What the root of a call works with. */
export interface Context extends Sight {
  shop: { id: string; domain: string };
  scopes: readonly string[];
  now: number;
  searchLagMs: number;
  /** Tells the webhooks. */
  notify: (occurrences: readonly Occurrence[]) => void;
}
