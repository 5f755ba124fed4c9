import type { StandinRequest } from '../kit/message.ts';
import type { Jobs } from './jobs.ts';
import type { Happening, Ticket, User, Webhook } from './model.ts';
import type { Limit } from './rate-limits.ts';
import type { Store } from './store.ts';

export type NewWebhook = Omit<Webhook, 'id' | 'turn' | 'invocations'>;

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  jobs: Jobs;
  user: User;
  /** `https://sub.zendesk.com` of the links in answers; here the address the caller used. */
  base: string;
  /** When the request came; `clock` for work done later. */
  now: number;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Tells the webhooks. */
  announce: (ticket: Ticket, actorId: number, happened: readonly Happening[]) => void;
  addWebhook: (webhook: NewWebhook) => Webhook;
  /** Takes from the limits an endpoint has besides the account's. Adds its headers to the answer. @throws Problem 429 */
  limit: (limits: readonly Limit[]) => void;
}
