import type { Source } from '../../core/connector/contract.ts';
import type { Ports } from '../../core/ports.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { Clock } from './clock.ts';
import { openService, type Service } from './open-service.ts';
import { type Named, namedOf, openSource, type SourceOptions } from './open-source.ts';
import { type Policy, policyOf } from './policy/source-policy.ts';
import { type Journeys, storedOf } from './source-store.ts';

/** The parts of a source that reading commands need: its data, its vendor, the service and the rules, without queues and jobs. */
export interface ReadingContext
  extends Named,
    Policy,
    Pick<Journeys, 'store' | 'contacts' | 'caps' | 'followUps' | 'erasures'>,
    Pick<Service, 'feedback' | 'campaigns'> {
  source: Source;
  clock: Clock;
  ports: Ports;
}

/** Opens one configured source after the other for commands that decide about closings, and change nothing. */
export function openingForReading(
  options: SourceOptions & { clock: Clock },
): (configured: ConfiguredSource) => ReadingContext {
  const { feedback, campaigns } = openService(options);
  const { clock, ports } = options;
  return (configured) => {
    const named = namedOf(configured);
    const stored = storedOf(named, { ...options, now: clock.now });
    const { source } = openSource(configured, stored, options);
    return { ...named, ...policyOf(configured, options.config), ...stored, feedback, campaigns, source, clock, ports };
  };
}
