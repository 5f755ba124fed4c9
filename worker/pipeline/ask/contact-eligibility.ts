import type { ContactRecord } from '../../../core/feedback/schemas.ts';
import { asEarlier, beforeThat, elsewhere, type LastAsked } from '../../journey/contacts.ts';
import type { LoadedRule } from '../rules.ts';
import { explains } from './lost-request.ts';

/** Why this person is not to be asked by this rule now, if so: the service's lists, and the throttle over all sources. */
export function whyIneligible(
  known: ContactRecord | undefined,
  lastHere: LastAsked | undefined,
  rule: LoadedRule,
  now: Date,
): string | undefined {
  const listed = onList(known, rule);
  if (listed !== undefined || rule.throttle === undefined) return listed;
  const last = lastCounted(known, lastHere)?.at.getTime();
  if (last === undefined || last + rule.throttle <= now.getTime()) return undefined;
  const days = (ms: number) => `${Math.round(ms / 8_640_000) / 10} days`;
  return `the contact was asked ${days(now.getTime() - last)} ago (throttle ${days(rule.throttle)})`;
}

/**
 * The last request to this person that counts, ours or one that the service knows of. What was cancelled before it was sent
 * doesn't, neither here nor at the service.
 */
export function lastCounted(
  known: Pick<ContactRecord, 'last_appeal'> | undefined,
  lastHere: LastAsked | undefined,
): LastAsked | undefined {
  const here = lastHere?.withdrawn ? beforeThat(lastHere) : lastHere;
  const atService = known?.last_appeal;
  if (!atService || (here && here.at >= atService)) return here;
  if (lastHere?.withdrawn && explains(lastHere, atService)) return here;
  if (here && explains(here, atService)) return { ...here, at: atService };
  return { at: atService, journey: elsewhere, ...(here && asEarlier(here)) };
}

/** The service's own lists. */
export function onList(known: ContactRecord | undefined, { campaign }: LoadedRule): string | undefined {
  if (known?.blacklist) return 'the contact is on the blacklist of the Feedback service';
  if (known?.graylist?.campaigns.some(({ id }) => id === campaign)) {
    return `the contact is on the graylist of campaign ${campaign}`;
  }
  return undefined;
}
