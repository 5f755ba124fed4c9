import { z } from 'zod';
import type { PresentedRecord } from '../../core/connector.ts';
import { contactFor } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { applyMapping, checkMapping } from '../../core/mapping/mapping.ts';
import { checkWindows, nextSendTime } from '../../core/send-time.ts';
import { lookAt, refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import { step, unaskedStates } from '../journey/transitions.ts';
import { chooseRule, inSample, type LoadedRule } from '../rules.ts';
import type { StageResult } from './stage.ts';

/** One event of a delivery: what intake stores. No personal data. */
export const PlanJob = z.object({
  kind: z.enum(['closed', 'changed']),
  recordId: z.string(),
  at: z.coerce.date(),
  key: z.string(),
  what: z.string(),
  certain: z.boolean().default(false),
  receivedAt: z.coerce.date(),
});

/** How long a vendor's reading may lag behind its own webhook. Real time. */
const lagMs = 30_000;
export type PlanJob = z.output<typeof PlanJob>;

/**
 * Event → journey → decision. The event is a hint; the record, read now, is the truth. May run any number of times for
 * one event, and be killed anywhere: the journey of a closing is claimed once, and every step looks at its state first.
 */
export async function plan(event: PlanJob, context: SourceContext): Promise<StageResult> {
  const { store } = context;
  const known = await store.ofEvent(event.recordId, event.key);
  if (known && known.state !== 'received') return await goOn(known, context);

  const memory = await store.memoryOf(event.recordId);
  const latest = memory.latest === undefined ? undefined : await store.get(memory.latest);
  if (event.kind === 'changed' && !(latest && unaskedStates.includes(latest.state))) return { do: 'done' };

  const look = lookAt(await context.read(event.recordId, 'plan'));
  if (look.is === 'open') {
    if (latest) await cancel(latest, `the record is open again (${event.what})`, context);
    if (event.certain) return await closedButOpen(event, context);
    context.log.info({ source: context.name, record: event.recordId, event: event.what }, 'not closed: nothing to ask');
    return { do: 'done' };
  }
  if (look.is === 'out') {
    if (latest) await cancel(latest, look.why, context);
    if (event.kind === 'changed' || (latest && unaskedStates.includes(latest.state))) return { do: 'done' };
    const { journey } = await claim(event, { recordId: event.recordId, closing: 'out', closedAt: event.at }, context);
    await skip(journey, look.why, [], context);
    return { do: 'done' };
  }
  if (event.kind === 'changed') return { do: 'done' };

  const { closing, closedAt, record } = look;
  const { journey, created } = await claim(event, { recordId: record.currentId, closing, closedAt }, context);
  if (journey.state === 'received') await cancelEarlier(journey, context);
  if (!created && journey.state !== 'received') {
    await store.note(journey.id, `another webhook for the same closing: ${event.what}`);
    return await goOn(journey, context);
  }
  return await goOn(await decide(journey, record, context), context);
}

/** The vendor said closed, and shows it open: reopened at once, or its reading lags behind its webhook. */
async function closedButOpen(event: PlanJob, context: SourceContext): Promise<StageResult> {
  if (Date.now() - event.receivedAt.getTime() < lagMs) return { do: 'wait', delayMs: lagMs };
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const { journey } = await claim(event, at, context);
  await skip(journey, 'it was open again when it was read', [], context);
  return { do: 'done' };
}

/** Journeys of earlier closings that have not asked yet: this closing is the one to ask about. */
async function cancelEarlier(journey: Journey, context: SourceContext): Promise<void> {
  const dot = journey.id.lastIndexOf('.');
  for (let n = Number(journey.id.slice(dot + 1)) - 1; n >= 1; n--) {
    const earlier = await context.store.get(`${journey.id.slice(0, dot)}.${n}`);
    if (!earlier || !unaskedStates.includes(earlier.state)) return;
    await cancel(earlier, `the record was closed again: journey ${refOf(context.name, journey.id)}`, context);
  }
}

/** The event's job failed for good: the closing is not lost, it stands in the list with its reason. */
export async function giveUpPlan(event: PlanJob, why: string, context: SourceContext): Promise<void> {
  if (event.kind === 'changed') return;
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const { journey } = await claim(event, at, context);
  await context.store.update(journey.id, (now) =>
    now.state === 'received'
      ? { journey: step(now, 'failed', context.clock.now(), { why }), trace: [`failed: ${why}`] }
      : undefined,
  );
}

/** The next stage's job, made after the journey was saved: a process killed in between finds it missing and adds it. */
async function goOn(journey: Journey, context: SourceContext): Promise<StageResult> {
  if (journey.state === 'waiting' && journey.dueAt) await context.queueAsk(journey.id, journey.dueAt);
  return { do: 'done' };
}

async function claim(
  event: PlanJob,
  closing: { recordId: string; closing: string; closedAt: Date },
  context: SourceContext,
): Promise<{ journey: Journey; created: boolean }> {
  const { key: eventKey, receivedAt } = event;
  const claimed = await context.store.claim({ ...closing, eventKey, receivedAt }, [
    `received ${receivedAt.toISOString()}: ${event.what}, at ${event.at.toISOString()}`,
  ]);
  if (claimed.created) {
    context.log.info({ journey: refOf(context.name, claimed.journey.id), event: event.what }, 'received');
  }
  return claimed;
}

async function cancel(journey: Journey, why: string, context: SourceContext): Promise<void> {
  const after = await context.store.update(journey.id, (now) =>
    unaskedStates.includes(now.state)
      ? { journey: step(now, 'cancelled', context.clock.now(), { why }), trace: [`cancelled: ${why}`] }
      : undefined,
  );
  if (after?.state === 'cancelled' && after.why === why) {
    context.log.info({ journey: refOf(context.name, journey.id), why }, 'cancelled');
  }
}

async function skip(
  journey: Journey,
  why: string,
  trace: string[],
  context: SourceContext,
  planned: Partial<Journey> = {},
): Promise<Journey> {
  const skipped = await context.store.update(journey.id, (now) =>
    now.state === 'received'
      ? {
          journey: step(now, 'skipped', context.clock.now(), { ...planned, why }),
          trace: [...trace, `skipped: ${why}`],
        }
      : undefined,
  );
  context.log.info({ journey: refOf(context.name, journey.id), why }, 'skipped');
  return skipped ?? journey;
}

/**
 * The rule, the campaign, the values, the contact and the time; or the reason why not.
 * @throws CloseloopError config for a rule that can't work with its campaign: the journey waits until a person mended it
 */
export async function decide(journey: Journey, record: PresentedRecord, context: SourceContext): Promise<Journey> {
  const { clock, store } = context;
  const ref = refOf(context.name, journey.id);
  const no = (why: string, trace: string[] = [], planned: Partial<Journey> = {}) =>
    skip(journey, why, trace, context, planned);

  const choice = await chooseRule(context.rules, record.shape);
  if (!choice.rule) return await no(choice.why);
  const { rule } = choice;
  const trace = [`rule "${rule.name}", campaign ${rule.campaign}`];
  const chosen = { rule: rule.name, campaign: rule.campaign };

  const { asked } = await store.memoryOf(journey.recordId);
  if (rule.again === 'never' && asked !== undefined && asked !== journey.id) {
    return await no(
      `this record's customer was asked already: journey ${refOf(context.name, asked)} (again: never)`,
      trace,
      chosen,
    );
  }
  if (!inSample(rule.sample, ref))
    return await no(`outside the sample of ${(rule.sample ?? 1) * 100} %`, trace, chosen);

  const campaign = await campaignOf(rule, context);
  const mapped = await mapFields(rule, record, campaign, context);
  if (!mapped.ok) return await no(`custom fields: ${mapped.problems.join('; ')}`, trace);
  trace.push(`custom fields: ${describe(mapped.sources)}`);
  for (const [name, { source }] of rule.mapping) {
    if (!(name in mapped.values)) trace.push(`custom field "${name}" is left out: ${source} found nothing`);
  }

  const candidates: unknown[] = [];
  for (const expression of rule.contact) candidates.push(await expression.evaluate(record.shape));
  const contact = contactFor(candidates, campaign.type, { defaultCountry: context.defaultCountry });
  const passedOver = contact.rejected.map(({ index, why }) => `${rule.contact[index]?.source}: ${why}`);
  if (!contact.ok) return await no(`no usable contact: ${passedOver.join('; ')}`, trace);
  trace.push(`contact: ${[contact.contact.kind, ...passedOver.map((why) => `not ${why}`)].join('; ')}`);

  let send: ReturnType<typeof sendTime>;
  try {
    send = sendTime(rule, campaign, journey.closedAt, record.timeZone, context);
  } catch (error) {
    // For this recipient's zone the windows never meet; the rule is good for others.
    if (!(error instanceof CloseloopError && error.advice.kind === 'permanent')) throw error;
    return await no(error.message, trace, chosen);
  }
  trace.push(...send.why, `to be asked at ${send.at.toISOString()}`);

  const grades = campaign.grade_list;
  const planned = await store.update(journey.id, (now) =>
    now.state === 'received'
      ? {
          journey: step(now, 'waiting', clock.now(), {
            rule: rule.name,
            campaign: campaign.id,
            campaignName: campaign.name,
            ...(grades.length > 0 ? { maxGrade: Math.max(...grades) } : {}),
            ...(record.timeZone === undefined ? {} : { recipientZone: record.timeZone }),
            contact: contact.contact,
            values: mapped.values,
            dueAt: send.at,
          }),
          trace,
        }
      : undefined,
  );
  context.log.info({ journey: ref, rule: rule.name, campaign: campaign.id, dueAt: send.at }, 'waiting');
  return planned ?? journey;
}

function describe(sources: Record<string, string>): string {
  const list = Object.entries(sources).map(([name, source]) => `${name} from ${source}`);
  return list.length > 0 ? list.join(', ') : 'none';
}

/**
 * The rule's campaign. One that isn't there is a mistake of the rule: its journeys wait until a person mended it.
 * @throws CloseloopError config for a campaign the service doesn't know
 */
export async function campaignOf(rule: LoadedRule, context: SourceContext): Promise<Campaign> {
  try {
    return await context.campaigns.get(rule.campaign);
  } catch (error) {
    if (!(error instanceof FeedbackError && error.status === 404)) throw error;
    const message = `source ${context.name}, rule "${rule.name}": the account has no campaign ${rule.campaign}, or it is a draft. Mend the rule, or activate the campaign`;
    throw new CloseloopError(message, { kind: 'config' }, { cause: error });
  }
}

/** Values for the campaign as it is now. Problems of the rule itself are a person's to mend, not the journey's. */
export async function mapFields(rule: LoadedRule, record: PresentedRecord, campaign: Campaign, context: SourceContext) {
  const problems = rulesProblems(rule, campaign, context);
  if (problems.length > 0) {
    throw new CloseloopError(
      `source ${context.name}, rule "${rule.name}": ${problems.join('; ')}. Mend the rule's fields, or the campaign's, then restart`,
      { kind: 'config' },
    );
  }
  return await applyMapping(rule.mapping, record.shape, definitionsOf(campaign, context.marker), {
    timeZone: context.timeZone,
  });
}

/** What is wrong with a rule before any record is looked at. */
export function rulesProblems(rule: LoadedRule, campaign: Campaign, context: SourceContext): string[] {
  const hours = { campaign: hoursOf(campaign), window: rule.window, accountZone: context.timeZone };
  return [...checkMapping(rule.mapping, definitionsOf(campaign, context.marker)), ...checkWindows(hours)];
}

/** The marker field is ours to fill: a rule need not map it, even where it is required. */
function definitionsOf(campaign: Campaign, marker: string): Campaign['custom_fields'] {
  return campaign.custom_fields.filter((field) => field.name !== marker);
}

function hoursOf({ id, send_from, send_until, send_delay }: Campaign) {
  return { id, sendFrom: send_from, sendUntil: send_until, sendDelayMinutes: send_delay };
}

/** When to ask, by the rule, the campaign and the zones (core/send-time.ts). */
export function sendTime(
  rule: LoadedRule,
  campaign: Campaign,
  closedAt: Date,
  recipientZone: string | undefined,
  context: SourceContext,
): { at: Date; why: string[] } {
  return nextSendTime({
    now: context.clock.now(),
    closedAt,
    delayMs: rule.delay,
    campaign: hoursOf(campaign),
    ...(rule.window === undefined ? {} : { window: rule.window }),
    accountZone: context.timeZone,
    ...(recipientZone === undefined ? {} : { recipientZone }),
    serviceAddsDelay: context.serviceAddsDelay,
  });
}
