import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Intent, Journey } from '../../journey/journey.ts';
import { askedContactOf } from '../../journey/transitions.ts';
import { done, type JobResult } from '../jobs.ts';
import { asCampaignFault } from '../policy/decide.ts';
import { needOf } from '../rules.ts';
import { type AskContext, lockedMs, markAsked, withContact } from './ask-steps.ts';
import { type FoundRequest, findRequest, type WantedRequest } from './find-request.ts';
import { backToWaiting, fail, park, searchLater } from './not-asked.ts';

/** After this many attempts with an unknown outcome that turned out to have sent nothing, a person should check the service. */
const fewAttempts = 8;
/** After this many searches without a clear result, a person should decide. */
const mostSearches = 4;

/** Finds out the outcome for a journey in `creating`: its worker was killed, its call timed out, or another worker asks. Never creates a request. */
export async function resolveUnknown(journey: Journey, context: AskContext): Promise<JobResult> {
  const { intent } = journey;
  const contact = askedContactOf(journey);
  if (!intent || !contact) throw new Error(`journey ${journey.id} is creating without an intent`);
  const notYet = context.clock.until(intent.searchAfter);
  if (notYet > 0) return { do: 'wait', delayMs: notYet };

  const found = await search({ journey, contact, intent, others: () => othersOf(journey, contact, context) }, context);
  if (found.is === 'created') {
    const asked = journey.test ? { contact } : { ...journey, contact };
    return await withContact(asked, context, () => take(journey, intent, found, context));
  }
  const searches = (intent.searches ?? 0) + 1;
  if (found.is === 'not yet clear' && searches < mostSearches)
    return await searchLater(journey, found.why, context, searches);
  if (found.is === 'unclear' || found.is === 'not yet clear') {
    await park(journey, found.why, context);
    return done;
  }
  const attempts = journey.attempts ?? 1;
  const forMs = context.clock.now().getTime() - (journey.dueAt ?? journey.closedAt).getTime();
  if (attempts >= fewAttempts && forMs >= context.retryForMs) {
    await fail(journey, `the service never took the request in ${attempts} attempts (${found.how})`, context);
    return done;
  }
  const { numAppeals, lastAppeal } = found;
  const searched = { at: context.clock.now(), intent, contact: contactKey(contact), numAppeals, lastAppeal };
  const why = `looked for the request: the service never got it (${found.how})`;
  await backToWaiting(journey, why, context, { counts: true, searched });
  return { do: 'wait', delayMs: 0 };
}

/**
 * An inactive campaign can't be searched: the journey waits with all journeys that ask in this campaign, and the stage goes on with
 * other journeys. A successful search does not prove that asking in the campaign works, so another job is let through to find out.
 */
async function search(sought: WantedRequest, context: AskContext): Promise<FoundRequest> {
  const { campaign } = sought.intent;
  await context.holds.pass('ask', [needOf.campaign(campaign)]);
  const found = await context
    .limitedSearches(() => findRequest(sought, context))
    .catch((error: unknown) => {
      throw asCampaignFault(error, campaign);
    });
  await context.holds.probe();
  return found;
}

/** The other journeys of every source that may have asked this contact. */
async function othersOf(journey: Journey, contact: Contact, context: AskContext): Promise<Journey[]> {
  const sources = await context.sources();
  const who = journey.test === undefined ? { contact } : { testContact: contact };
  const ofSources = await Promise.all(sources.map(({ store }) => store.queries.of(who)));
  return ofSources
    .flat()
    .filter(({ source, id, test }) => (source !== journey.source || id !== journey.id) && !test === !journey.test);
}

/**
 * Takes the found request for this journey, under the contact's lock, as another journey may have found the same request. The
 * journey that comes second searches again.
 */
async function take(
  journey: Journey,
  intent: Intent,
  found: Extract<FoundRequest, { is: 'created' }>,
  context: AskContext,
): Promise<JobResult> {
  const [isTaken] = await context.areOwned([found.requestId]);
  if (!isTaken) return await markAsked(journey, found.requestId, found.how, context, { late: true });
  if (!intent.marker) return { do: 'wait', delayMs: lockedMs };
  const why = `request ${found.requestId} names this journey, and belongs to another`;
  await park(journey, why, context);
  return done;
}
