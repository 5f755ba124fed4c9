import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { Campaign, ContactRecord } from '../../core/feedback/schemas.ts';
import { lookAt, refOf, type SourceContext } from '../context.ts';
import type { Intent, Journey } from '../journey/journey.ts';
import { step } from '../journey/transitions.ts';
import type { LoadedRule } from '../rules.ts';
import { lookForRequest } from './look-for-request.ts';
import { campaignOf, mapFields, sendTime } from './plan.ts';
import type { StageResult } from './stage.ts';

export const AskJob = z.object({ journeyId: z.string() });

/** Longer than a contact check and a create can take together; then the lock of a killed worker ends by itself. */
const lockMs = 60_000;
/** Another journey is asking the same person: look again soon. Real time. */
const lockedMs = 1_000;

const done: StageResult = { do: 'done' };

/**
 * Asks the customer, once. The journey goes waiting → creating (the intent is stored) → asked. Whoever finds a journey
 * in `creating` doesn't know whether the service got the request, and looks for it before anything else.
 */
export async function ask({ journeyId }: z.output<typeof AskJob>, context: SourceContext): Promise<StageResult> {
  const journey = await context.store.get(journeyId);
  if (journey?.state === 'creating') return await resolveUnknown(journey, context);
  if (journey?.state !== 'waiting') return done;

  const { rule, contact } = requirements(journey, context);
  const campaign = await campaignOf(rule, context);
  const due = sendTime(rule, campaign, journey.closedAt, journey.recipientZone, context);
  if (due.at > context.clock.now()) return await wait(journey, due, context);

  const gone = await recheck(journey, context);
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

/** What planning has stored. @throws CloseloopError permanent when the configuration no longer has the rule */
function requirements(journey: Journey, context: SourceContext): { rule: LoadedRule; contact: Contact } {
  const rule = context.rules.find(({ name }) => name === journey.rule);
  if (!rule || !journey.contact) {
    throw new CloseloopError(`rule "${journey.rule}" is no longer in the configuration of source ${context.name}`, {
      kind: 'permanent',
    });
  }
  return { rule, contact: journey.contact };
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

async function end(
  journey: Journey,
  state: 'cancelled' | 'skipped',
  why: string,
  context: SourceContext,
): Promise<StageResult> {
  await context.store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? { journey: step(now, state, context.clock.now(), { why }), trace: [`${state}: ${why}`] }
      : undefined,
  );
  context.log.info({ journey: refOf(context.name, journey.id), why }, state);
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
    if (!(await context.contacts.lock(key, token, lockMs))) return { do: 'wait', delayMs: lockedMs };
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
  const key = contactKey(contact);
  const known = await feedback.contact(contact);
  const lastHere = await contacts.lastAsked(key);
  const no = whyNotNow(known, lastHere?.at, rule, clock.now());
  if (no) return await end(journey, 'skipped', no, context);

  const intent: Intent = {
    token: randomUUID(),
    at: clock.now(),
    numAppeals: known?.num_appeals ?? 0,
    lastAppeal: known?.last_appeal ?? null,
    lookAfter: new Date(clock.now().getTime() + context.lookAfterMs),
  };
  const creating = await store.update(journey.id, (now) =>
    now.state === 'waiting'
      ? { journey: step(now, 'creating', clock.now(), { intent }), trace: ['creating the feedback request'] }
      : undefined,
  );
  // Somebody else went ahead, on this job or on an event: it is theirs now.
  if (creating?.intent?.token !== intent.token) return done;
  await contacts.setLastAsked(key, { at: intent.at, journey: refOf(context.name, journey.id) });

  try {
    const request = await feedback.create({
      campaign: campaign.id,
      contact,
      scheduled: intent.at,
      customFields: { ...creating.values, ...markerOf(journey, campaign, context) },
    });
    await asked(creating, request.id, 'the service took it', context);
    return done;
  } catch (error) {
    const outcome = error instanceof CloseloopError ? error.outcome : 'unknown';
    if (outcome === 'unknown') return await laterLook(creating, error, context);
    await contacts.setLastAsked(key, lastHere);
    await backToWaiting(creating, `the service did not take it: ${messageOf(error)}`, context);
    if (error instanceof FeedbackError && error.status === 400 && error.fields) {
      context.campaigns.drop(campaign.id);
      if (await remap(creating, rule, context)) return { do: 'wait', delayMs: 0 };
    }
    throw error;
  }
}

/** Why this person is not to be asked by this rule now, if so: the service's lists, and the throttle over all sources. */
function whyNotNow(
  known: ContactRecord | undefined,
  lastHere: Date | undefined,
  rule: LoadedRule,
  now: Date,
): string | undefined {
  if (known?.blacklist) return 'the contact is on the blacklist of the Feedback service';
  if (known?.graylist?.campaigns.some(({ id }) => id === rule.campaign)) {
    return `the contact is on the graylist of campaign ${rule.campaign}`;
  }
  if (rule.throttle === undefined) return undefined;
  const last = Math.max(lastHere?.getTime() ?? 0, known?.last_appeal?.getTime() ?? 0);
  if (last + rule.throttle <= now.getTime()) return undefined;
  const days = (ms: number) => `${Math.round(ms / 8_640_000) / 10} days`;
  return `the contact was asked ${days(now.getTime() - last)} ago (throttle ${days(rule.throttle)})`;
}

/** The journey's reference in the campaign's custom field of that name, by which a lost request is found again. */
function markerOf(journey: Journey, campaign: Campaign, context: SourceContext): Record<string, string> {
  return hasMarker(campaign, context.marker) ? { [context.marker]: refOf(context.name, journey.id) } : {};
}

function hasMarker(campaign: Campaign, marker: string): boolean {
  return campaign.custom_fields.some(({ name, field_type }) => name === marker && field_type === 'Text');
}

async function asked(journey: Journey, requestId: string, how: string, context: SourceContext): Promise<void> {
  await context.store.update(journey.id, (now) => {
    if (now.state !== 'creating') return undefined;
    const { intent: _, ...rest } = now;
    const after = step(rest, 'asked', context.clock.now(), {
      requestId,
      askedAt: now.intent?.at ?? context.clock.now(),
    });
    return { journey: after, trace: [`asked: feedback request ${requestId} (${how})`] };
  });
  context.log.info({ journey: refOf(context.name, journey.id), request: requestId }, 'asked');
}

async function backToWaiting(journey: Journey, why: string, context: SourceContext): Promise<void> {
  await context.store.update(journey.id, (now) => {
    if (now.state !== 'creating' || now.intent?.token !== journey.intent?.token) return undefined;
    const { intent: _, ...rest } = now;
    return { journey: step(rest, 'waiting', context.clock.now()), trace: [why] };
  });
}

async function laterLook(journey: Journey, error: unknown, context: SourceContext): Promise<StageResult> {
  const lookAfter = new Date(context.clock.now().getTime() + context.lookAfterMs);
  await context.store.update(journey.id, (now) =>
    now.state === 'creating' && now.intent?.token === journey.intent?.token && now.intent
      ? {
          journey: step(now, 'creating', context.clock.now(), { intent: { ...now.intent, lookAfter } }),
          trace: [`outcome unknown (${messageOf(error)}): will look for the request at ${lookAfter.toISOString()}`],
        }
      : undefined,
  );
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
          journey: step(now, 'waiting', context.clock.now(), { values: mapped.values }),
          trace: ['the campaign changed: custom fields mapped anew'],
        }
      : undefined,
  );
  return true;
}

/** A journey in `creating` that isn't in our hands: killed, timed out, or another worker is at it. Never create here. */
async function resolveUnknown(journey: Journey, context: SourceContext): Promise<StageResult> {
  const { intent, contact } = journey;
  const { rule } = requirements(journey, context);
  if (!intent || !contact) throw new Error(`journey ${journey.id} is creating without an intent`);
  const notYet = context.clock.until(intent.lookAfter);
  if (notYet > 0) return { do: 'wait', delayMs: notYet };

  return await withContact(contact, context, async () => {
    const campaign = await campaignOf(rule, context);
    const found = await lookForRequest(
      {
        campaign: campaign.id,
        contact,
        intent,
        marker: hasMarker(campaign, context.marker)
          ? { field: context.marker, value: refOf(context.name, journey.id) }
          : undefined,
      },
      context,
    );
    if (found.is === 'created') await asked(journey, found.requestId, found.how, context);
    if (found.is === 'unclear') {
      await context.store.update(journey.id, (now) =>
        now.state === 'creating'
          ? {
              journey: step(now, 'parked', context.clock.now(), { why: found.why }),
              trace: [`parked: ${found.why}`],
            }
          : undefined,
      );
      context.log.error({ journey: refOf(context.name, journey.id), why: found.why }, 'parked: a person has to decide');
    }
    if (found.is !== 'absent') return done;
    await backToWaiting(journey, `looked for the request: the service never got it (${found.how})`, context);
    return { do: 'wait', delayMs: 0 };
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
