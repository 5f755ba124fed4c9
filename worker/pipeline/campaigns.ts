import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';

const usualKeepMs = 60_000;

/** Campaign definitions, kept for `keepMs` of real time: rules are checked against the live campaign at little cost. */
export class CampaignCache {
  readonly #feedback: FeedbackClient;
  readonly #keepMs: number;
  readonly #cached = new Map<number, { until: number; campaign: Promise<Campaign> }>();

  constructor(feedback: FeedbackClient, keepMs = usualKeepMs) {
    this.#feedback = feedback;
    this.#keepMs = keepMs;
  }

  get(id: number): Promise<Campaign> {
    const cached = this.#cached.get(id);
    if (cached && cached.until > Date.now()) return cached.campaign;
    const campaign = this.#feedback.campaign(id);
    this.#cached.set(id, { until: Date.now() + this.#keepMs, campaign });
    campaign.catch(() => this.#cached.delete(id));
    return campaign;
  }

  /** Drops a cached definition: the service rejected something that it allows. */
  drop(id: number): void {
    this.#cached.delete(id);
  }
}
