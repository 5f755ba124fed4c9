import type { Contact } from '../../core/contact.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { Journey } from '../journey/journey.ts';
import type { SkipReason } from '../journey/reasons.ts';
import type { LoadedRule } from '../pipeline/rules.ts';

/** The decision about a closing by everything that is known now. `skip` says why nobody would be asked. */
export interface Forecast {
  decision: 'ask' | 'skip';
  reason?: SkipReason | undefined;
  why?: string | undefined;
  rule?: LoadedRule | undefined;
  /** Left out if the decision needed no request. */
  request?: {
    campaign: Campaign;
    contact: Contact;
    /** Who would get it in the customer's place, in test mode. */
    test?: Contact;
    values: NonNullable<Journey['values']>;
    /** The expression of each value. */
    sources: Record<string, string>;
    dueAt: Date;
  };
  trace: string[];
}

/** A forecast as JSON. */
export function forecastForMachines({ decision, reason, why, rule, request, trace }: Forecast) {
  const { campaign, ...sent } = request ?? {};
  return { decision, reason, why, rule: rule?.name, campaign: campaign?.id, ...sent, trace };
}
