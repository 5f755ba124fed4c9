import type { StandinRequest } from '../kit/message.ts';
import type { Order, Webhook } from './model.ts';
import type { Store } from './store.ts';

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  /** Where the route's own parameters are, however the route was named. */
  query: URLSearchParams;
  store: Store;
  now: number;
  /** The shop's address, without a slash at the end. */
  site: string;
  /** An order was saved. */
  saved: (order: Order) => void;
  /** A webhook was made: its address is pinged. */
  ping: (webhook: Webhook) => void;
}
