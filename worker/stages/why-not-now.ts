import type { ContactRecord } from '../../core/feedback/schemas.ts';
import type { LastAsked } from '../journey/contacts.ts';
import type { LoadedRule } from '../rules.ts';
import { explains } from './forgotten-request.ts';

/** Why this person is not to be asked by this rule now, if so: the service's lists, and the throttle over all sources. */
export function whyNotNow(
  known: ContactRecord | undefined,
  lastHere: LastAsked | undefined,
  rule: LoadedRule,
  now: Date,
): string | undefined {
  const listed = onList(known, rule);
  if (listed !== undefined || rule.throttle === undefined) return listed;
  // What was cancelled before it was sent doesn't count, neither here nor at the service.
  const atService = known?.last_appeal ?? undefined;
  const isOurs = lastHere?.withdrawn && atService !== undefined && explains(lastHere, atService);
  const here = lastHere?.withdrawn ? 0 : (lastHere?.at.getTime() ?? 0);
  const last = Math.max(here, isOurs ? 0 : (atService?.getTime() ?? 0));
  if (last + rule.throttle <= now.getTime()) return undefined;
  const days = (ms: number) => `${Math.round(ms / 8_640_000) / 10} days`;
  return `the contact was asked ${days(now.getTime() - last)} ago (throttle ${days(rule.throttle)})`;
}

/** The service's own lists. */
export function onList(known: ContactRecord | undefined, { campaign }: LoadedRule): string | undefined {
  if (known?.blacklist) return 'the contact is on the blacklist of the Feedback service';
  if (known?.graylist?.campaigns.some(({ id }) => id === campaign)) {
    return `the contact is on the graylist of campaign ${campaign}`;
  }
  return undefined;
}
