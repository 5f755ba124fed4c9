import { contactKey } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { isTo } from '../../core/feedback/request-form.ts';
import type { Journey, JourneyState } from '../journey/journey.ts';
import { unaskedStates } from '../journey/outcomes.ts';
import { refOf } from '../journey/refs.ts';
import { askedContactOf, ifStill, step } from '../journey/transitions.ts';
import { type AskContext, queueGrade, withContact } from '../pipeline/ask/ask-steps.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { Queues } from '../pipeline/queues.ts';
import { type WithdrawContext, withdraw } from '../pipeline/withdraw.ts';
import { findJourney } from './journey-filter.ts';

/** Finds a journey, also of a source that this configuration does not have. @throws CloseloopError if there is no such journey */
export async function findAnywhere(engine: Pick<Engine, 'source'>, ref: string) {
  return await findJourney(ref, (name) => engine.source(name));
}

/** A person's ways to change a journey. */
export type Repair = 'ask-now' | 'replay' | 'cancel' | 'resolve';

/** The repairs that this journey allows, as it was read. */
export function repairsOf({ state, answer, requestId, erasedAt, acting }: Journey): Repair[] {
  const isStuck = state === 'failed' || state === 'parked';
  const mayReplay = answer
    ? isStuck || hasParkedActs({ acting })
    : requestId === undefined && (state === 'failed' || state === 'skipped');
  const mayCancel = isStuck || state === 'asked' || unaskedStates.includes(state);
  return [
    ...(state === 'waiting' ? (['ask-now'] as const) : []),
    ...(mayReplay && !erasedAt ? (['replay'] as const) : []),
    ...(state === 'parked' ? (['resolve'] as const) : []),
    ...(mayCancel ? (['cancel'] as const) : []),
  ];
}

type RepairContext = AskContext & Pick<Queues, 'queueWriteBack' | 'queueAsk' | 'queueAct'>;

/** Replays a failed or skipped journey; never asks twice. @returns what was done with it; a text that begins with "not" when nothing was done */
export async function replay(journey: Journey, context: RepairContext): Promise<string> {
  const { store, clock } = context;
  const { id } = journey;
  const why = 'taken up again by a person';
  const move = async (to: Journey['state'], change: Partial<Journey> = {}) =>
    (await store.update(id, ifStill(journey.state, { to, at: clock.now(), change, trace: [why] })))?.state === to;

  if (journey.erasedAt) return 'not replayed: it was erased';
  if (hasOpenActs(journey)) return await actAgain(journey, context);
  if (journey.answer && (journey.state === 'failed' || journey.state === 'parked')) {
    if (await move('answered')) await context.queueWriteBack([id]);
    return 'written back again';
  }
  if (journey.state === 'parked')
    return 'not replayed: whether the customer was asked has to be settled first ("journeys resolve")';
  if (journey.requestId !== undefined) return 'not replayed: the customer was asked';
  if (journey.state === 'failed' && journey.intent) {
    // The next attempt finds the intent, and looks for the request before creating another one.
    if (await move('creating', { attempts: 1 })) await context.queueAsk(journey, clock.now());
    return 'asked anew';
  }
  if (journey.state !== 'failed' && journey.state !== 'skipped') return `not replayed: it is ${journey.state}`;
  // A journey of an event that couldn't be read has no closing of its own: the record's closing gets another journey.
  const isEvents = journey.closing.startsWith('event:') || journey.closing === 'out';
  if (!isEvents && !(await move('received'))) return 'not replayed: it has changed meanwhile';
  await context.queueEvent({
    kind: 'closed',
    recordId: journey.recordId,
    ...(!isEvents && { closing: journey.closing }),
    at: journey.closedAt,
    key: `replay:${id}:${clock.now().toISOString()}`,
    what: why,
    receivedAt: new Date(),
  });
  // Last: after an interruption in between the journey is still in the list.
  if (isEvents && journey.state === 'failed') await move('cancelled', { why: 'replayed: its record is read anew' });
  return 'planned anew';
}

/** The action was begun before it was parked, so closeloop first looks whether it was done. */
const mayBeDone = { state: 'begun' } as const;

/** Whether actions are parked, or were resumed by a command that was killed before it had queued them. */
const hasOpenActs = ({ acting }: Pick<Journey, 'acting'>): boolean =>
  acting?.acts.some(({ state }) => state === 'parked' || state === 'wanted' || state === 'begun') === true;

const hasParkedActs = ({ acting }: Pick<Journey, 'acting'>): boolean =>
  acting?.acts.some(({ state }) => state === 'parked') === true;

/** The parked actions of its answer are tried again. Its answer is written again, too, where that is parked. */
async function actAgain(
  { id, answer }: Journey,
  { store, clock, queueAct, queueWriteBack }: RepairContext,
): Promise<string> {
  const after = await store.update(id, (now) => {
    if (!now.acting || !hasParkedActs(now)) return undefined;
    const acts = now.acting.acts.map((act) => {
      const { why: _, ...one } = act;
      if (one.state !== 'parked') return act;
      return { ...one, ...(one.closing === undefined ? { state: 'wanted' as const, at: clock.now() } : mayBeDone) };
    });
    return { journey: { ...now, acting: { ...now.acting, acts } }, trace: ['actions taken up again by a person'] };
  });
  if (after === undefined) return 'not replayed: it has changed meanwhile';
  await queueAct(id, answer?.version ?? 0, clock.now());
  const isStuck = after.state === 'failed' || after.state === 'parked';
  const moved = isStuck && (await store.update(id, ifStill(after.state, { to: 'answered', at: clock.now() })));
  if (moved) await queueWriteBack([id]);
  return 'its actions are tried again';
}

/**
 * Ends a journey before it asks; a request that has not been sent yet is cancelled at the service.
 * @throws CloseloopError config for one that can't be cancelled any more
 */
export async function cancel(journey: Journey, why: string, context: WithdrawContext): Promise<'cancelled'> {
  const { store, clock, name } = context;
  if (journey.state === 'failed' || journey.state === 'parked') {
    await store.update(journey.id, ifStill(journey.state, { to: 'cancelled', at: clock.now(), why }));
  } else if (unaskedStates.includes(journey.state) || journey.state === 'asked') {
    await withdraw(journey, why, context);
  }
  const state = (await store.get(journey.id))?.state;
  if (state === 'cancelled') return state;
  throw refusal(`${refOf(name, journey.id)} is ${state ?? 'gone'} and can't be cancelled ("journeys show" says more).`);
}

/** A person's finding about a parked journey: the customer was asked by this request, or was not asked, or the grade is on the record. */
export type Settled = { asked: string } | 'not-asked' | 'written';

/** Resolves a parked journey by what a person knows. @throws CloseloopError config if that is impossible */
export async function resolve(journey: Journey, settled: Settled, context: RepairContext): Promise<JourneyState> {
  if (journey.state !== 'parked') throw refusal(`${refOf(context.name, journey.id)} is ${journey.state}, not parked.`);
  if (settled === 'written') return await asWritten(journey, context);
  return settled === 'not-asked' ? await asNotAsked(journey, context) : await asAsked(journey, settled.asked, context);
}

async function asWritten(journey: Journey, { store, clock }: RepairContext): Promise<JourneyState> {
  const { answer } = journey;
  if (!answer) throw refusal('It has no answer that could have been written.');
  const after = await store.update(journey.id, (now) => {
    if (now.state !== 'parked') return undefined;
    const written = step(step(now, 'answered', clock.now()), 'written', clock.now(), {
      writtenVersion: answer.version,
    });
    return { journey: written, trace: ['a person says that the grade is on the record'] };
  });
  return resolved(after, 'written');
}

async function asNotAsked(journey: Journey, context: RepairContext): Promise<JourneyState> {
  const { answer, intent } = journey;
  const contact = askedContactOf(journey);
  if (answer) throw refusal('It has an answer: the customer was asked.');
  // The counters as the person saw them, or later: if they move before the next attempt, the earlier request arrived after all.
  const known = contact && intent && (await context.feedback.contact(contact));
  const at = context.clock.now();
  const counters = { numAppeals: known?.num_appeals ?? 0, lastAppeal: known?.last_appeal ?? null };
  const searched = contact && intent && { at, intent, contact: contactKey(contact), ...counters };
  const after = await context.store.update(
    journey.id,
    ifStill('parked', {
      to: 'waiting',
      at,
      // The outcome of this attempt is known: its request isn't searched for again.
      change: { attempts: 1, ...(searched && { searched }) },
      without: ['intent', 'searched'],
      trace: ['a person says that the customer was not asked'],
    }),
  );
  const state = resolved(after, 'waiting');
  await context.queueAsk(journey, context.clock.now());
  return state;
}

/** @throws CloseloopError when another process was faster: nothing was stored */
function resolved(after: Journey | undefined, state: JourneyState, requestId = after?.requestId): JourneyState {
  if (after?.state === state && after.requestId === requestId) return state;
  throw refusal(`Nothing was changed: the journey is ${after?.state ?? 'gone'} since.`);
}

async function asAsked(journey: Journey, requestId: string, context: RepairContext): Promise<JourneyState> {
  const request = await context.feedback.request(requestId).catch((error: unknown) => {
    if (!(error instanceof FeedbackError && error.status === 404)) throw error;
    throw refusal(`The service has no feedback request ${requestId}.`);
  });
  const isShown = [request.phone, request.email, request.identifier].some((contact) => contact !== null);
  const contact = askedContactOf(journey);
  if (contact && isShown && !isTo(request, contactKey(contact))) {
    throw refusal(`Feedback request ${requestId} went to another contact than the journey's.`);
  }
  const campaign = journey.intent?.campaign ?? journey.campaign;
  if (campaign !== undefined) await context.askedIn(campaign, true);
  const after = await aloneWith(journey, context, async () => {
    const [owner] = await context.areOwned([requestId]);
    if (owner) throw refusal(`Feedback request ${requestId} belongs to another journey.`);
    return await context.store.update(
      journey.id,
      ifStill('parked', {
        to: 'asked',
        at: context.clock.now(),
        change: ({ intent }) => ({ requestId, askedAt: intent?.at ?? context.clock.now() }),
        without: ['intent', 'searched'],
        trace: [`a person says that feedback request ${requestId} is its own`],
      }),
    );
  });
  const state = resolved(after, 'asked', requestId);
  // A collecting pass in between may have passed over the answer, as the request belonged to no journey.
  if (campaign !== undefined) await context.askedIn(campaign, true);
  if (after) await queueGrade(after, context);
  return state;
}

/** Runs alone among all journeys of this person, over all sources: another journey may be about to take the same request as its own. */
async function aloneWith(
  journey: Journey,
  context: RepairContext,
  work: () => Promise<Journey | undefined>,
): Promise<Journey | undefined> {
  const contact = askedContactOf(journey);
  if (!contact) return await work();
  const results: (Journey | undefined)[] = [];
  await withContact(journey.test ? { contact } : { ...journey, contact }, context, async () => {
    results.push(await work());
    return { do: 'done' };
  });
  if (results.length === 0) throw refusal('Another journey is asking this person right now: try again in a minute.');
  return results[0];
}
