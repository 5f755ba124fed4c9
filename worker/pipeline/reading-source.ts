import type { ConfiguredSource } from '../config/config.ts';
import { CampaignCache } from './campaigns.ts';
import type { Journeys, Named, Policy, Service, Timing, Vendor } from './context.ts';
import type { EngineOptions } from './engine-options.ts';
import { openService } from './open-service.ts';
import { namedOf, openSource, type SourceOptions } from './open-source.ts';
import { policyOf } from './source-policy.ts';
import { storedOf } from './source-store.ts';

/** What a source is looked at with: its data, its vendor, the service and the rules, without queues and jobs. */
export interface ReadingContext
  extends Named,
    Pick<Journeys, 'store' | 'contacts' | 'caps'>,
    Pick<Service, 'feedback' | 'campaigns'>,
    Pick<Vendor, 'source'>,
    Policy,
    Timing {}

/** Opens one configured source after the other for commands that decide about closings, and change nothing. */
export function openingForReading(
  options: SourceOptions & Pick<EngineOptions, 'clock'>,
): (configured: ConfiguredSource) => ReadingContext {
  const { feedback } = openService(options);
  const { clock, ports } = options;
  const shared = { feedback, campaigns: new CampaignCache(feedback), clock, ports };
  return (configured) => {
    const named = namedOf(configured);
    const stored = storedOf(named, { ...options, now: clock.now });
    const { source } = openSource(configured, stored, options);
    return { ...named, ...stored, ...shared, source, ...policyOf(configured, options.config) };
  };
}
