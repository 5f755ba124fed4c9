import { z } from 'zod';
import { type Contact, contactKey, parseContact } from '../../core/contact.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { erased } from '../journey/transitions.ts';
import { Happened } from './plan.ts';
import type { StageResult } from './stage.ts';
import { withdraw } from './withdraw.ts';

/** Who is to be forgotten. Holds contacts until it is done. A queue of its own: it needs no vendor, and must not wait for one. */
export const EraseJob = Happened.extend({
  kind: z.literal('erase'),
  personIds: z.array(z.string()).default([]),
  recordIds: z.array(z.string()).default([]),
  contacts: z.array(z.string()).default([]),
  everybody: z.boolean().default(false),
});
export type EraseJob = z.output<typeof EraseJob>;

/** Whether the service has a request is being found out. Real time. */
const comeAgain: StageResult = { do: 'wait', delayMs: 2_000 };

/**
 * Forgets people: their contacts are masked at the service, their journeys lose everything personal and end. First the
 * masking, so that whoever is killed in between finds the contacts again. What was done is kept as proof, without them.
 */
export async function erase(event: EraseJob, context: SourceContext): Promise<StageResult> {
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
  const written = [...journeys.values()].filter(({ journey }) => journey.writtenVersion !== undefined);
  const copies = await takeOff(written, context);
  const proof = { journeys: journeys.size, contacts: contacts.size, requestsMasked: requests, copies };
  await context.store.noteErasure({ at: context.clock.now(), key: event.key, what: event.what, ...proof });
  context.log.info({ source: context.name, event: event.what, proof }, 'erased');
  return { do: 'done' };
}

/**
 * Grades and comments that closeloop put on records are taken off again, where the connector can. Access that is gone must
 * not keep the person's data here: it is noted what was left there.
 */
async function takeOff(
  written: readonly { journey: Journey; of: SourceContext }[],
  context: SourceContext,
): Promise<string> {
  const left = new Set<string>();
  for (const of of new Set(written.map((one) => one.of))) {
    const ids = written.flatMap((one) => (one.of === of ? [one.journey.currentId ?? one.journey.recordId] : []));
    try {
      if (of.source.forget) await of.source.forget([...new Set(ids)]);
      else left.add(of.name);
    } catch (error) {
      if (adviceOf(error).kind === 'transient') throw error;
      const why = error instanceof Error ? error.message : String(error);
      context.log.warn({ source: of.name, why }, 'what was written on records could not be taken off again');
      left.add(of.name);
    }
  }
  return left.size === 0 ? 'none left' : `left on the records of ${[...left].join(', ')}`;
}

/** A request that the service refuses to cancel is masked all the same. */
async function end(journey: Journey, event: EraseJob, of: SourceContext): Promise<'ended' | 'asking'> {
  try {
    return await withdraw(journey, event.what, of);
  } catch (error) {
    if (adviceOf(error).kind !== 'permanent') throw error;
    const why = error instanceof Error ? error.message : String(error);
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
  context.log.error(
    { source: context.name, event: event.what, why },
    'a person could not be erased: see to it by hand',
  );
}
