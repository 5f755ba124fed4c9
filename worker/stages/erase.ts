import { z } from 'zod';
import { type Contact, contactKey, parseContact } from '../../core/contact.ts';
import { adviceOf, CloseloopError, messageOf } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { erased } from '../journey/transitions.ts';
import { Happened } from './plan.ts';
import type { StageResult } from './stage.ts';
import { withdraw } from './withdraw.ts';

/**
 * Who is to be forgotten. Holds contacts until it is done. A queue of its own: it must not wait for a vendor, so what is
 * left to do there (`copies`) is a job of its own.
 */
export const EraseJob = Happened.extend({
  kind: z.literal('erase'),
  personIds: z.array(z.string()).default([]),
  recordIds: z.array(z.string()).default([]),
  contacts: z.array(z.string()).default([]),
  everybody: z.boolean().default(false),
  /** Second half of an erasure, and nothing else is done then: grades are taken off these records. */
  copies: z.array(z.object({ source: z.string(), recordIds: z.array(z.string()) })).default([]),
});
export type EraseJob = z.output<typeof EraseJob>;

/** Whether the service has a request is being found out. Real time. */
const comeAgain: StageResult = { do: 'wait', delayMs: 2_000 };

/**
 * Forgets people: their contacts are masked at the service, their journeys lose everything personal and end. First the
 * masking, so that whoever is killed in between finds the contacts again. What was done is kept as proof, without them.
 */
export async function erase(event: EraseJob, context: SourceContext): Promise<StageResult> {
  if (event.copies.length > 0) return await takeOff(event, context);
  const contacts = new Map<string, Contact>();
  for (const text of event.contacts) {
    const contact = contactIn(text, context);
    if (contact) contacts.set(contactKey(contact), contact);
  }
  const journeys = new Map<string, { journey: Journey; of: SourceContext }>();
  const add = (journey: Journey, of: SourceContext) => journeys.set(refOf(of.name, journey.id), { journey, of });
  for await (const journey of meant(event, context)) {
    add(journey, context);
    if (journey.contact) contacts.set(contactKey(journey.contact), journey.contact);
  }
  for (const of of context.sources()) {
    for await (const journey of toldOf(contacts, of)) add(journey, of);
  }
  // The same person may be known by other sources: a contact is one at the service.
  for (const of of context.sources()) {
    for (const contact of contacts.values()) {
      for (const journey of await journeysOf({ contact }, of)) add(journey, of);
    }
  }
  let asking = 0;
  for (const { journey, of } of journeys.values()) if ((await end(journey, event, of)) === 'asking') asking++;
  if (asking > 0) return comeAgain;

  let requests = 0;
  for (const contact of contacts.values()) {
    requests += await mask(contact, context);
    await context.contacts.forgetAsked(contact);
  }
  // Before the journeys are erased: they lead to the records.
  const copies = copiesOf([...journeys.values()]);
  if (copies.length > 0) await context.queueErase(takingOff(event, copies));
  // First: an erased journey can't be found by its contact any more.
  for (const { journey, of } of journeys.values()) await of.told.erase(journey.recordId, event.receivedAt);
  for (const { journey, of } of journeys.values()) {
    const after = await of.store.update(journey.id, (now) =>
      now.erasedAt || now.state === 'creating'
        ? undefined
        : { journey: erased(now, of.clock.now()), trace: [`erased: ${event.what}`] },
    );
    if (after?.state === 'creating') return comeAgain;
  }
  for (const recordId of event.recordIds) await context.told.erase(recordId, event.receivedAt);
  const done = { journeys: journeys.size, contacts: contacts.size, requestsMasked: requests };
  const proof = { ...done, copies: copies.length === 0 ? 'none were written' : 'being taken off' };
  await context.store.noteErasure({ at: context.clock.now(), key: event.key, what: event.what, ...proof });
  context.log.info({ source: context.name, event: event.what, proof }, 'erased');
  return { do: 'done' };
}

/** The second half of an erasure. It holds no contacts. */
export function takingOff(
  { at, key, what, receivedAt }: Pick<EraseJob, 'at' | 'key' | 'what' | 'receivedAt'>,
  copies: EraseJob['copies'],
): EraseJob {
  const nobody = { personIds: [], recordIds: [], contacts: [], everybody: false };
  return { kind: 'erase', at, key, what, receivedAt, ...nobody, copies };
}

/** The records that closeloop wrote on, or may be writing on now, by source. */
function copiesOf(journeys: readonly { journey: Journey; of: SourceContext }[]): EraseJob['copies'] {
  const bySource = new Map<string, Set<string>>();
  for (const { journey, of } of journeys) {
    const { state, writtenVersion, noAnswerWritten } = journey;
    if (writtenVersion === undefined && noAnswerWritten !== true && state !== 'answered') continue;
    const records = bySource.get(of.name) ?? new Set();
    bySource.set(of.name, records.add(journey.currentId ?? journey.recordId));
  }
  return [...bySource].map(([source, records]) => ({ source, recordIds: [...records] }));
}

/**
 * Takes off records again what closeloop put there, where the connector can. Access that is gone isn't waited for: the proof
 * tells what was left at the vendor, and why.
 */
async function takeOff(event: EraseJob, context: SourceContext): Promise<StageResult> {
  const left: string[] = [];
  let later: unknown;
  for (const { source: name, recordIds } of event.copies) {
    const source = context.sources().find((one) => one.name === name)?.source;
    try {
      const some = await (source?.forget?.(recordIds) ?? ['everything: its connector takes nothing off again']);
      left.push(...some.map((what) => `${name}: ${what}`));
    } catch (error) {
      if (adviceOf(error).kind === 'transient') later = error;
      left.push(`${name}: ${messageOf(error)}`);
    }
  }
  if (later !== undefined) throw later;
  await noteCopies(event, left, context);
  return { do: 'done' };
}

async function noteCopies({ key, what }: EraseJob, left: readonly string[], context: SourceContext): Promise<void> {
  const copies = left.length === 0 ? 'none left' : `left at ${left.join('; ')}`;
  await context.store.noteCopies(key, copies);
  if (left.length > 0) context.log.warn({ source: context.name, event: what, copies }, 'not all could be taken off');
}

/** A request that the service refuses to cancel is masked all the same. */
async function end(journey: Journey, event: EraseJob, of: SourceContext): Promise<'ended' | 'asking'> {
  try {
    return await withdraw(journey, event.what, of);
  } catch (error) {
    if (adviceOf(error).kind !== 'permanent') throw error;
    const why = messageOf(error);
    of.log.warn({ journey: refOf(of.name, journey.id), why }, 'the request could not be cancelled before it is masked');
    return 'ended';
  }
}

async function* meant(event: EraseJob, context: SourceContext): AsyncGenerator<Journey> {
  if (event.everybody) return yield* context.store.all();
  for (const personId of event.personIds) yield* await journeysOf({ personId }, context);
  for (const recordId of event.recordIds) yield* await context.store.ofRecord(recordId);
}

async function journeysOf(who: Parameters<JourneyStore['idsOf']>[0], { store }: SourceContext): Promise<Journey[]> {
  const journeys = await Promise.all((await store.idsOf(who)).map((id) => store.get(id)));
  return journeys.filter((one) => one !== undefined);
}

/** Journeys about records that were told with one of the contacts anywhere in them, also where nobody was asked. */
async function* toldOf(contacts: ReadonlyMap<string, Contact>, of: SourceContext): AsyncGenerator<Journey> {
  if (contacts.size === 0 || !(await of.told.isUsed())) return;
  for await (const journey of of.store.all()) {
    const [told] = await of.told.of([journey.recordId]);
    const isMeant = textsIn(told).some((text) => {
      const contact = /@|\d{4}/.test(text) ? contactIn(text, of) : undefined;
      return contact !== undefined && contacts.has(contactKey(contact));
    });
    if (isMeant) yield journey;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Undefined for what can't name anybody. */
function contactIn(text: string, { defaultCountry }: SourceContext): Contact | undefined {
  try {
    return parseContact(text, { defaultCountry });
  } catch (error) {
    if (error instanceof CloseloopError) return undefined;
    throw error;
  }
}

/** How many requests were masked by it; none where the service knows nobody by this contact. */
async function mask(contact: Contact, { feedback }: SourceContext): Promise<number> {
  try {
    const { masked } = await feedback.mask(contact);
    return masked.appeals ?? 0;
  } catch (error) {
    if (error instanceof FeedbackError && error.status === 404) return 0;
    throw error;
  }
}

export async function giveUpErase(event: EraseJob, why: string, context: SourceContext): Promise<void> {
  if (event.copies.length > 0) return await noteCopies(event, [why], context);
  context.log.error(
    { source: context.name, event: event.what, why },
    'a person could not be erased: see to it by hand',
  );
}
