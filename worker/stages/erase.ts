import { type Contact, contactKey, parseContact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { erased } from '../journey/transitions.ts';
import type { EraseJob } from './plan.ts';
import type { StageResult } from './stage.ts';
import { withdraw } from './withdraw.ts';

/** Whether the service has a request is being found out: come again. Real time. */
const creatingMs = 2_000;

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
  if ([...journeys.values()].some(({ journey }) => journey.state === 'creating')) {
    return { do: 'wait', delayMs: creatingMs };
  }

  for (const { journey, of } of journeys.values()) await withdraw(journey, event.what, of);
  let requests = 0;
  for (const contact of contacts.values()) {
    requests += await mask(contact, context);
    await context.contacts.forgetAsked(contact);
  }
  for (const { journey, of } of journeys.values()) {
    await of.store.update(journey.id, (now) =>
      now.erasedAt || now.state === 'creating'
        ? undefined
        : { journey: erased(now, of.clock.now()), trace: [`erased: ${event.what}`] },
    );
  }
  for (const { journey, of } of journeys.values()) await of.told.erase(journey.recordId, event.receivedAt);
  const proof = { journeys: journeys.size, contacts: contacts.size, requestsMasked: requests };
  await context.store.noteErasure({ at: context.clock.now(), key: event.key, what: event.what, ...proof });
  context.log.info({ source: context.name, event: event.what, proof }, 'erased');
  return { do: 'done' };
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
