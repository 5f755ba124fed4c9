import pLimit from 'p-limit';
import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import { canFilterBy, resolveOperations } from '../../core/feedback/operations.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { unobserved } from '../operations/observer.ts';
import { Outage, serviceEndpoint } from '../operations/outage.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { askedInKey, passKey, seenKey } from '../redis/keys.ts';
import { shared } from '../redis/shared.ts';
import type { EngineOptions } from './engine-options.ts';
import { readingService } from './reading-only.ts';
import { SharedExports } from './shared-exports.ts';

type Limit = <T>(call: () => Promise<T>) => Promise<T>;

/** The most searches for requests of unknown outcome in a process at once, and the most exports that are read for them at once. */
const serviceSearches = 100;
const exportReadings = 2;
/** A stage holds a job that found the service down after at most this time. Real time. */
const heldWithinMs = 2_000;

/** The Feedback service, as all sources of a process share it. */
export type Service = Omit<ReturnType<typeof openService>, 'outage'>;

/** Opens the Feedback service, at which a dry run writes nothing. `outage`: whether it is down. */
export function openService({
  config,
  ports,
  redis,
  log,
  observer = unobserved,
}: Pick<EngineOptions, 'config' | 'ports' | 'redis' | 'log' | 'observer'>) {
  const outage = new Outage(redis, { ...serviceEndpoint, log });
  const client = watchCalls(createFeedbackClient(config.feedback, ports), outage, {
    isShared: true,
    onCall: observer.serviceCall,
  });
  const feedback: FeedbackClient = config.dryRun ? readingService(client) : client;
  const limited: Limit = pLimit(config.feedback.callsAtOnce);
  const limitedSearches: Limit = pLimit(serviceSearches);
  const isByContact = canFilterBy(resolveOperations(config.feedback.operations), '{contact}');
  const noted = new Map<number, () => Promise<unknown>>();
  return {
    outage,
    feedback,
    campaigns: new CampaignCache(feedback),
    /** Limits the journeys of this process that talk to the service at the same time. */
    limited,
    /** Limits searches separately, as they must not hold up asking. */
    limitedSearches,
    /** Shares the reading of an export among searches for requests. */
    exports: new SharedExports(pLimit(exportReadings), { isByContact }),
    /** How long a job that has begun waits for the service, until its stage holds the job; 0 where the service is not known to be down. Real time. */
    untilService: async () => Math.min(heldWithinMs, (await outage.down())?.untilProbeMs ?? 0),
    /** Has the campaign's grades collected, even if no rule names it later. `late`: a request may be graded already, so read the whole export. */
    askedIn: async (campaign: number, late: boolean): Promise<void> => {
      const note = noted.get(campaign) ?? shared(() => redis.zadd(askedInKey, Date.now(), String(campaign)));
      noted.set(campaign, note);
      await note();
      if (late) await redis.del(seenKey(campaign), passKey(campaign));
    },
  };
}

/** How long a campaign's definition is cached. Real time. */
const keepMs = 60_000;

/** Caches campaign definitions for a short time, so that rules are checked against the live campaign at little cost. */
export class CampaignCache {
  readonly #feedback: FeedbackClient;
  readonly #cached = new Map<number, { until: number; campaign: Promise<Campaign> }>();

  constructor(feedback: FeedbackClient) {
    this.#feedback = feedback;
  }

  get(id: number): Promise<Campaign> {
    const cached = this.#cached.get(id);
    if (cached && cached.until > Date.now()) return cached.campaign;
    const campaign = this.#feedback.campaign(id);
    this.#cached.set(id, { until: Date.now() + keepMs, campaign });
    campaign.catch(() => this.#cached.delete(id));
    return campaign;
  }

  /** Drops a cached definition: the service rejected something that it allows. */
  drop(id: number): void {
    this.#cached.delete(id);
  }
}
