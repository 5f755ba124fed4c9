import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import { unobserved } from '../operations/observer.ts';
import { Outage, serviceEndpoint } from '../operations/outage.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import type { EngineOptions } from './engine-options.ts';
import { readingService } from './reading-only.ts';

/** Opens the Feedback service, at which a dry run writes nothing. `service`: whether it is down. */
export function openService({
  config,
  ports,
  redis,
  log,
  observer = unobserved,
}: Pick<EngineOptions, 'config' | 'ports' | 'redis' | 'log' | 'observer'>): {
  feedback: FeedbackClient;
  service: Outage;
} {
  const service = new Outage(redis, { ...serviceEndpoint, log });
  const client = watchCalls(createFeedbackClient(config.feedback, ports), service, {
    isShared: true,
    onCall: observer.serviceCall,
  });
  return { feedback: config.dryRun ? readingService(client) : client, service };
}
