import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { Campaign, ContactRecord } from '../../core/feedback/schemas.ts';
import { lookAt, refOf, type SourceContext } from '../context.ts';
import { failpoint } from '../failpoints.ts';
import type { LastAsked } from '../journey/contacts.ts';
import type { Intent, Journey } from '../journey/journey.ts';
import { askedStates, mayFollow, step, unaskedStates } from '../journey/transitions.ts';
import type { LoadedRule } from '../rules.ts';
import { campaignOf, mapFields, sendTime } from './decide.ts';
import { explains, forgottenRequest } from './forgotten-request.ts';
import { type Found, lookForRequest } from './look-for-request.ts';
import { planned } from './plan.ts';
import type { StageResult } from './stage.ts';

export const AskJob = z.object({ journeyId: z.string() });

/** Another journey is asking the same person: look again soon. Real time. */
const lockedMs = 1_000;
/** A process that stood still for longer than this, between noting the intent and sending, no longer sends. Real time. */
const staleMs = 5_000;
/** Attempts whose outcome was unknown and turned out to be nothing; then a person should look at the service. */
const mostAttempts = 8;

const unclear = 'it could not be found out whether customers were asked';

const done: StageResult = { do: 'done' };

/**
 * Asks the customer, once. The journey goes waiting → creating (the intent is stored) → asked. Whoever finds a journey
 * in `creating` doesn't know whether the service got the request, and looks for it before anything else.
 */
export async function ask({ journeyId }: z.output<typeof AskJob>, context: SourceContext): Promise<StageResult> {
  failpoint('ask-begun');
  const journey = await context.store.get(journeyId);
  if (journey?.state === 'creating') return await resolveUnknown(journey, context);
  if (journey?.state !== 'waiting' && !(journey?.state === 'received' && journey.rule !== undefined)) return done;

  const rule = context.rules.find(({ name }) => name === journey.rule);
  const { contact } = journey;
  const isPlanned = journey.state === 'waiting' && rule?.campaign === journey.campaign;
  if (!isPlanned || !rule || !contact) return await planAnew(journey, context);

  const campaign = await campaignOf(rule, context);
  const due = sendTime(rule, campaign, journey.closedAt, journey.recipientZone, context);
  if (due.at > context.clock.now()) return await wait(journey, due, context);

  const gone = await recheck(journey, context);
  failpoint('record-read-again');
  if (gone) return await end(journey, 'cancelled', gone, context);

  return await withContact(contact, context, () => create(journey, rule, campaign, contact, context));
}

/** The job failed for good. A journey in `creating` may have reached the customer: that needs a person. */
export async function giveUpAsk({ journeyId }: z.output<typeof AskJob>, why: string, context: SourceContext) {
  await context.store.update(journeyId, (now) => {
    if (now.state === 'creating') {
      const reason = `it is not known whether the service got the request: ${why}`;
      return { journey: step(now, 'parked', context.clock.now(), { why: reason }), trace: [`parked: ${reason}`] };
    }
    if (now.state !== 'waiting') return undefined;
    return { journey: step(now, 'failed', context.clock.now(), { why }), trace: [`failed: ${why}`] };
  });
}

/** The rule was renamed, removed or given another campaign while the journey waited: what was planned no longer fits. */
async function planAnew(journey: Journey, context: SourceContext): Promise<StageResult> {
  const look = lookAt(await context.read(journey.recordId, 'plan'));
  if (look.is === 'open') return await end(journey, 'cancelled', 'the record is open again', context);
  if (look.is === 'out') return await end(journey, 'cancelled', look.why, context);
  const received = await context.store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? { journey: step(now, 'received', context.clock.now()), trace: ['its rule changed: planned anew'] }
      : undefined,
  );
  if (received?.state !== 'received') return done;
  const anew = await planned(received, look.record, context);
  return anew.state === 'waiting' && anew.dueAt ? { do: 'wait', delayMs: context.clock.until(anew.dueAt) } : done;
}

async function wait(journey: Journey, due: { at: Date; why: string[] }, context: SourceContext): Promise<StageResult> {
  await context.store.update(journey.id, (now) =>
    now.state === 'waiting' && now.dueAt?.getTime() !== due.at.getTime()
      ? {
          journey: step(now, 'waiting', context.clock.now(), { dueAt: due.at }),
          trace: [...due.why, `to be asked at ${due.at.toISOString()}`],
        }
      : undefined,
  );
  return { do: 'wait', delayMs: context.clock.until(due.at) };
}

/** Why the customer should no longer be asked, if so. */
async function recheck(journey: Journey, context: SourceContext): Promise<string | undefined> {
  const look = lookAt(await context.read(journey.recordId, 'ask'));
  if (look.is === 'closed' && look.record.currentId !== journey.recordId) {
    return await mergedUnseen(journey, look.record.currentId, look.closedAt, context);
  }
  if (look.is === 'open') return 'the record is open again';
  if (look.is === 'out') return look.why;
  // A reading without history can't name the closing; that it is closed has to do then.
  if (look.closing === '' || look.closing === journey.closing) return undefined;
  // Its webhook may have been missed; if not, the closing's journey is found and nothing happens.
  await context.queueEvent({
    kind: 'closed',
    recordId: journey.recordId,
    at: look.closedAt,
    key: `seen when asking:${journey.recordId}:${look.closing}`,
    what: 'found closed again when its customer was to be asked',
    receivedAt: new Date(),
  });
  return 'the record was reopened and closed again since: the new closing has a journey of its own';
}

/** The record turns out to be another one now: that one is looked at, and decided about, by itself. */
async function mergedUnseen(journey: Journey, remaining: string, at: Date, context: SourceContext): Promise<string> {
  await context.store.merge(journey.recordId, remaining);
  await context.queueEvent({
    kind: 'closed',
    recordId: remaining,
    at,
    key: `merged, seen when asking:${journey.recordId}:${remaining}`,
    what: `${journey.recordId} was merged into it`,
    receivedAt: new Date(),
  });
  return `the record was merged into ${remaining}`;
}

async function end(
  journey: Journey,
  state: 'cancelled' | 'skipped',
  why: string,
  context: SourceContext,
): Promise<StageResult> {
  const ref = refOf(context.name, journey.id);
  await context.store.update(journey.id, (now) =>
    unaskedStates.includes(now.state)
      ? { journey: step(now, state, context.clock.now(), { why }), trace: [`${state}: ${why}`] }
      : undefined,
  );
  // An attempt that came to nothing is no reason not to ask this person about something else.
  if (journey.contact) await context.contacts.forgetAsked(journey.contact, ref);
  context.log.info({ journey: ref, why }, state);
  return done;
}

/**
 * One journey at a time asks a person, over all sources. The lock is taken only when one of this process's places for
 * calls to the service is free, so that it is never held while queueing for one.
 */
async function withContact(
  contact: Contact,
  context: SourceContext,
  work: () => Promise<StageResult>,
): Promise<StageResult> {
  const key = contactKey(contact);
  const token = randomUUID();
  return await context.limited(async () => {
    // Longer than a look at the contact (a cut connection is tried twice) and a create take together: then the lock of a
    // killed worker ends by itself.
    const lockMs = 3 * context.callMs + 2 * staleMs;
    if (!(await context.contacts.lock(key, token, lockMs))) return { do: 'wait', delayMs: lockedMs };
    failpoint('contact-locked');
    try {
      return await work();
    } finally {
      await context.contacts.release(key, token);
    }
  });
}

async function create(
  journey: Journey,
  rule: LoadedRule,
  campaign: Campaign,
  contact: Contact,
  context: SourceContext,
): Promise<StageResult> {
  const { store, contacts, clock, feedback } = context;
  const ref = refOf(context.name, journey.id);
  // Waiting for a place among those who talk to the service may have taken us past the window.
  const due = sendTime(rule, campaign, journey.closedAt, journey.recipientZone, context);
  if (due.at > clock.now()) return await wait(journey, due, context);

  const { asked: askedBefore } = await store.memoryOf(journey.recordId);
  if (rule.again === 'never' && askedBefore !== undefined && askedBefore !== journey.id) {
    const why = `this record's customer was asked already: journey ${refOf(context.name, askedBefore)} (again: never)`;
    return await end(journey, 'skipped', why, context);
  }
  const key = contactKey(contact);
  const known = await feedback.contact(contact);
  const leaveBy = new Date(Date.now() + staleMs);
  const lastHere = await contacts.lastAsked(key);
  const intentAt = (at: Date): Intent => ({
    token: randomUUID(),
    at,
    campaign: campaign.id,
    ...(hasMarker(campaign, context.marker) ? { marker: { field: context.marker, value: ref } } : {}),
    numAppeals: known?.num_appeals ?? 0,
    lastAppeal: known?.last_appeal ?? null,
    lookAfter: new Date(clock.now().getTime() + context.lookAfterMs + context.callMs + staleMs),
  });
  const forgotten = forgottenRequest(journey, ref, known, lastHere);
  if (forgotten && onList(known, rule) === undefined)
    return await lookFirst(journey, intentAt(forgotten.at), forgotten.why, context);

  // What an earlier attempt of this very journey noted doesn't count against it: it came to nothing.
  const lastOther = lastHere?.journey === ref ? undefined : lastHere;
  const no = whyNotNow(known, lastOther, rule, clock.now());
  if (no) return await end(journey, 'skipped', no, context);

  const at = clock.now();
  const intent = intentAt(at);
  const delayMs = context.serviceAddsDelay ? (campaign.send_delay ?? 0) * 60_000 : 0;
  const scheduled = delayMs > 0 ? { scheduled: new Date(at.getTime() + delayMs) } : {};
  await contacts.setLastAsked(key, { at, journey: ref, ...scheduled });
  failpoint('last-asked-noted');
  const creating = await store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? {
          journey: step(now, 'creating', at, { intent, attempts: (now.attempts ?? 0) + 1 }),
          trace: ['creating the feedback request'],
        }
      : undefined,
  );
  failpoint('intent-saved');
  // Somebody else went ahead, on this job or on an event: it is theirs now. Where it was ended, nobody is asked.
  if (creating?.intent?.token !== intent.token) {
    if (!creating || !askedStates.includes(creating.state)) await contacts.setLastAsked(key, lastOther);
    return done;
  }
  try {
    await context.replicated();
  } catch (error) {
    await contacts.setLastAsked(key, lastOther);
    await backToWaiting(creating, `nothing was sent: ${messageOf(error)}`, context, { counts: false });
    throw error;
  }

  try {
    const customFields = { ...creating.values, ...(intent.marker && { [intent.marker.field]: intent.marker.value }) };
    const request = await feedback.create({ campaign: campaign.id, contact, scheduled: at, customFields }, { leaveBy });
    failpoint('create-answered');
    return await asked(creating, request.id, 'the service took it', context);
  } catch (error) {
    const outcome = error instanceof CloseloopError ? error.outcome : 'unknown';
    if (outcome === 'unknown') return await laterLook(creating, error, context);
    await contacts.setLastAsked(key, lastOther);
    await backToWaiting(creating, `the service did not take it: ${messageOf(error)}`, context, { counts: false });
    if (error instanceof FeedbackError && error.status === 400 && error.fields) {
      context.campaigns.drop(campaign.id);
      if (!creating.remapped && (await remap(creating, rule, context))) return { do: 'wait', delayMs: 0 };
    }
    throw error;
  }
}

/** The journey may have asked already: nothing is sent before that is known. */
async function lookFirst(journey: Journey, intent: Intent, why: string, context: SourceContext): Promise<StageResult> {
  await context.store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? {
          journey: step(now, 'creating', context.clock.now(), { intent, attempts: (now.attempts ?? 0) + 1 }),
          trace: [`${why}: looks for that request first, at ${intent.lookAfter.toISOString()}`],
        }
      : undefined,
  );
  return { do: 'wait', delayMs: context.clock.until(intent.lookAfter) };
}

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

function onList(known: ContactRecord | undefined, { campaign }: LoadedRule): string | undefined {
  if (known?.blacklist) return 'the contact is on the blacklist of the Feedback service';
  if (known?.graylist?.campaigns.some(({ id }) => id === campaign)) {
    return `the contact is on the graylist of campaign ${campaign}`;
  }
  return undefined;
}

/** A custom field of this name is ours: it takes the journey's reference, by which a lost request is found again. */
function hasMarker(campaign: Campaign, marker: string): boolean {
  return campaign.custom_fields.some(({ name, field_type }) => name === marker && field_type === 'Text');
}

async function asked(
  journey: Journey,
  requestId: string,
  how: string,
  context: SourceContext,
  options = { late: false },
): Promise<StageResult> {
  const { clock, log } = context;
  const campaign = journey.intent?.campaign ?? journey.campaign;
  if (campaign !== undefined) await context.askedIn(campaign, options.late);
  failpoint('campaign-noted');
  const after = await context.store.update(journey.id, (now) => {
    // A look-up may have come to another end while the service's answer was on its way.
    if (now.requestId !== undefined || !mayFollow(now.state, 'asked')) return undefined;
    const { intent: _, ...rest } = now;
    const after = step(rest, 'asked', clock.now(), { requestId, askedAt: journey.intent?.at ?? clock.now() });
    return { journey: after, trace: [`asked: feedback request ${requestId} (${how})`] };
  });
  failpoint('asked-saved');
  if (after?.requestId === requestId)
    log.info({ journey: refOf(context.name, journey.id), request: requestId }, 'asked');
  // Another journey has taken it for its own: what became of this one's is to be found out.
  return after?.state === 'creating' ? { do: 'wait', delayMs: lockedMs } : done;
}

/** @param options `counts`: it is one of the attempts whose outcome was unknown */
async function backToWaiting(
  journey: Journey,
  why: string,
  context: SourceContext,
  options = { counts: true },
): Promise<void> {
  await context.store.update(journey.id, (now) => {
    if (now.state !== 'creating' || now.intent?.token !== journey.intent?.token) return undefined;
    const { intent: _, ...rest } = now;
    const attempts = (now.attempts ?? 1) - (options.counts ? 0 : 1);
    return { journey: step(rest, 'waiting', context.clock.now(), { attempts }), trace: [why] };
  });
  failpoint('back-to-waiting');
}

async function laterLook(journey: Journey, error: unknown, context: SourceContext): Promise<StageResult> {
  const patience = context.lookAfterMs * 2 ** Math.min((journey.attempts ?? 1) - 1, 7);
  const lookAfter = new Date(context.clock.now().getTime() + patience);
  await context.store.update(journey.id, (now) =>
    now.state === 'creating' && now.intent?.token === journey.intent?.token && now.intent
      ? {
          journey: step(now, 'creating', context.clock.now(), { intent: { ...now.intent, lookAfter } }),
          trace: [`outcome unknown (${messageOf(error)}): will look for the request at ${lookAfter.toISOString()}`],
        }
      : undefined,
  );
  failpoint('unknown-noted');
  context.log.warn({ journey: refOf(context.name, journey.id), why: messageOf(error) }, 'outcome of create unknown');
  return { do: 'wait', delayMs: context.clock.until(lookAfter) };
}

/** The service rejected a value: the campaign may have changed. True when there are other values to try now. */
async function remap(journey: Journey, rule: LoadedRule, context: SourceContext): Promise<boolean> {
  const look = lookAt(await context.read(journey.recordId, 'plan'));
  if (look.is !== 'closed') return false;
  const campaign = await campaignOf(rule, context);
  const mapped = await mapFields(rule, look.record, campaign, context);
  if (!mapped.ok || JSON.stringify(mapped.values) === JSON.stringify(journey.values)) return false;
  await context.store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? {
          journey: step(now, 'waiting', context.clock.now(), { values: mapped.values, remapped: true }),
          trace: ['the campaign changed: custom fields mapped anew'],
        }
      : undefined,
  );
  return true;
}

/** A journey in `creating` that isn't in our hands: killed, timed out, or another worker is at it. Never create here. */
async function resolveUnknown(journey: Journey, context: SourceContext): Promise<StageResult> {
  const { intent, contact } = journey;
  if (!intent || !contact) throw new Error(`journey ${journey.id} is creating without an intent`);
  const notYet = context.clock.until(intent.lookAfter);
  if (notYet > 0) return { do: 'wait', delayMs: notYet };

  const found = await context.limitedLooks(() =>
    lookForRequest({ contact, intent, closedAt: journey.closedAt }, context),
  );
  failpoint('looked-for');
  if (found.is === 'created') {
    return await withContact(contact, context, () => take(journey, intent, found, context));
  }
  if (found.is === 'unclear') {
    await settle(journey, 'parked', found.why, context);
    return done;
  }
  const attempts = journey.attempts ?? 1;
  if (attempts >= mostAttempts) {
    await settle(
      journey,
      'failed',
      `the service never took the request in ${attempts} attempts (${found.how})`,
      context,
    );
    return done;
  }
  await backToWaiting(journey, `looked for the request: the service never got it (${found.how})`, context);
  return { do: 'wait', delayMs: 0 };
}

/**
 * Another journey may have found the same request, or be about to note it as its own: one at a time over all sources, by the
 * contact's lock. The loser looks on.
 */
async function take(
  journey: Journey,
  intent: Intent,
  found: Extract<Found, { is: 'created' }>,
  context: SourceContext,
): Promise<StageResult> {
  const [isTaken] = await context.areOwned([found.requestId]);
  if (!isTaken) return await asked(journey, found.requestId, found.how, context, { late: true });
  if (!intent.marker) return { do: 'wait', delayMs: lockedMs };
  const why = `request ${found.requestId} names this journey, and belongs to another`;
  await settle(journey, 'parked', why, context);
  return done;
}

async function settle(
  journey: Journey,
  state: 'parked' | 'failed',
  why: string,
  context: SourceContext,
): Promise<void> {
  const after = await context.store.update(journey.id, (now) =>
    now.state === 'creating' && now.intent?.token === journey.intent?.token
      ? { journey: step(now, state, context.clock.now(), { why }), trace: [`${state}: ${why}`] }
      : undefined,
  );
  if (after?.state !== state) return;
  context.log.error({ journey: refOf(context.name, journey.id), why }, state);
  if (state === 'parked')
    await context.alert('parked', unclear, 'see what the service has, then "closeloop journeys resolve"');
}
