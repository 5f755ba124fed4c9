import type { StandinRequest } from '../kit/message.ts';
import type { Conversation, Part } from './model.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  settings: Settings;
  nowMs: number;
  appId: string;
  /** A part was made; the webhooks are notified. */
  notify(topic: string, one: Conversation, part: Part | undefined): void;
}
