import type { StandinRequest } from '../kit/message.ts';
import type { CrmRecord, Source } from './model.ts';
import type { OAuthGrant } from './oauth.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  now: number;
  random: () => number;
  portalId: number;
  appId: number;
  clientSecret: string;
  oauth: OAuthGrant;
  /** Of the token; null: all. */
  scopes: readonly string[] | null;
  nextSubscriptionId: () => number;
  /** How the app's own writes are marked. */
  source: Source;
  settings: Settings;
  /** @throws Problem 403 unless the token has one of these scopes */
  need: (...oneOf: string[]) => void;
  /** Tells the webhooks that a property of a record changed. */
  changed: (record: CrmRecord, names: readonly string[], source: Source) => void;
}
