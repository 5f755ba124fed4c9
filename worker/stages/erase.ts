import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { adviceOf, messageOf } from '../../core/errors.ts';
import { isNobody } from '../../core/feedback/failure.ts';
import { refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import { erased } from '../journey/transitions.ts';
import { contactIn, forgetTold, type Meant, names, toldOf } from './erase-told.ts';
import { named } from './erased-meanwhile.ts';
import { Happened } from './plan.ts';
import type { StageResult } from './stage.ts';
import { tryToWithdraw } from './withdraw.ts';

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
  // Before looking for journeys: one that is saved meanwhile finds this (erased-meanwhile.ts).
  const persons = [...event.personIds.map(named.person), ...event.recordIds.map(named.record)];
  const who = event.everybody ? [named.everybody, ...persons] : persons;
  await context.erasures.noteForgotten(who, event.receivedAt, context.keepMs);
  const unreadable = new Set<string>();
  const left = (of: SourceContext) => (id: string) => unreadable.add(refOf(of.name, id));
  const journeys = new Map<string, { journey: Journey; of: SourceContext }>();
  const add = (journey: Journey, of: SourceContext) => journeys.set(refOf(of.name, journey.id), { journey, of });
  for await (const journey of meant(event, context, left(context))) {
    add(journey, context);
    if (journey.contact) contacts.set(contactKey(journey.contact), journey.contact);
  }
  for (const of of await context.sources()) {
    if (contacts.size === 0 || !(await of.told.isUsed())) continue;
    for await (const journey of of.store.all(left(of))) {
      if (names(await toldOf(journey.recordId, of), contacts, of)) add(journey, of);
    }
  }
  // The same person may be known by other sources: a contact is one at the service.
  for (const of of await context.sources()) {
    await of.erasures.noteForgotten([...contacts.values()].map(named.contact), event.receivedAt, of.keepMs);
    for (const contact of contacts.values()) {
      for (const journey of await of.store.of({ contact }, left(of))) add(journey, of);
    }
  }
  let asking = 0;
  for (const { journey, of } of journeys.values()) {
    // A request that the service refuses to cancel is masked all the same.
    if ((await tryToWithdraw(journey, event.what, of)) === 'asking') asking++;
  }
  if (asking > 0) return comeAgain;

  const before = await context.erasures.begun(event.key);
  const counts = {
    journeys: Math.max(before.journeys, journeys.size),
    contacts: Math.max(before.contacts, contacts.size),
    requestsMasked: before.requestsMasked,
  };
  await context.erasures.noteBegun(event.key, counts);
  for (const contact of contacts.values()) {
    counts.requestsMasked += await mask(contact, context);
    await context.erasures.noteBegun(event.key, counts);
    await context.contacts.forgetAsked(contact);
  }
  // Before the journeys are erased: they lead to the records.
  const copies = copiesOf([...journeys.values()]);
  if (copies.length > 0) await context.queueErase(takingOff(event, copies));
  const counted = new Set(copies.flatMap(({ source, recordIds }) => recordIds.map((id) => refOf(source, id))));
  // First: an erased journey can't be found by its contact any more.
  for (const of of await context.sources())
    await forgetTold(meantIn(of, event, context, contacts, journeys.values()), of);
  for (const { journey, of } of journeys.values()) {
    if ((await eraseOne(journey, counted, event, of, context)) === 'creating') return comeAgain;
  }
  const proof = {
    ...counts,
    copies: counted.size === 0 ? 'none were written' : 'being taken off',
    ...(unreadable.size > 0 && { unreadable: [...unreadable] }),
  };
  if (unreadable.size > 0) await tellUnreadable(event, [...unreadable], context);
  await context.erasures.note({ at: context.clock.now(), key: event.key, what: event.what, ...proof });
  context.log.info({ source: context.name, event: event.what, proof }, 'erased');
  return { do: 'done' };
}

/** Ids of people and records mean something in the source of the event only; contacts in all. */
function meantIn(
  of: SourceContext,
  event: EraseJob,
  context: SourceContext,
  contacts: ReadonlyMap<string, Contact>,
  journeys: Iterable<{ journey: Journey; of: SourceContext }>,
): Meant {
  const own = [...journeys].filter((one) => one.of.name === of.name).map(({ journey }) => journey);
  const isHere = of.name === context.name;
  return {
    until: event.receivedAt,
    everybody: isHere && event.everybody,
    contacts,
    personIds: new Set(isHere ? event.personIds : []),
    records: new Set([...own.map(({ recordId }) => recordId), ...(isHere ? event.recordIds : [])]),
    requests: new Set(own.flatMap(({ requestId }) => requestId ?? [])),
  };
}

/** The second half of an erasure. It holds no contacts. */
export function takingOff(
  { at, key, what, receivedAt }: Pick<EraseJob, 'at' | 'key' | 'what' | 'receivedAt'>,
  copies: EraseJob['copies'],
): EraseJob {
  const nobody = { personIds: [], recordIds: [], contacts: [], everybody: false };
  return { kind: 'erase', at, key, what, receivedAt, ...nobody, copies };
}

/**
 * The journey loses everything personal. What was written, or began to be, after the copies were `counted` is taken off as
 * well: noted before, as the journey leads to its record.
 */
async function eraseOne(
  journey: Journey,
  counted: Set<string>,
  event: EraseJob,
  of: SourceContext,
  context: SourceContext,
): Promise<Journey['state'] | undefined> {
  for (;;) {
    const uncounted: string[] = [];
    const after = await of.store.update(journey.id, (now) => {
      uncounted.length = 0;
      if (now.erasedAt || now.state === 'creating') return undefined;
      const record = copyOf(now);
      if (record !== undefined && !counted.has(refOf(of.name, record))) uncounted.push(record);
      if (uncounted.length > 0) return undefined;
      return { journey: erased(now, of.clock.now()), trace: [`erased: ${event.what}`] };
    });
    if (uncounted.length === 0) return after?.state;
    // The first of all is what the proof tells of.
    const key = counted.size === 0 ? event.key : `written meanwhile ${refOf(of.name, journey.id)}`;
    await context.queueErase(takingOff({ ...event, key }, [{ source: of.name, recordIds: uncounted }]));
    for (const record of uncounted) counted.add(refOf(of.name, record));
  }
}

/** The record that closeloop wrote on for it, or may be writing on now. */
function copyOf({ state, writtenVersion, noAnswerWritten, currentId, recordId }: Journey): string | undefined {
  const isThere = writtenVersion !== undefined || noAnswerWritten === true || state === 'answered';
  return isThere ? (currentId ?? recordId) : undefined;
}

function copiesOf(journeys: readonly { journey: Journey; of: SourceContext }[]): EraseJob['copies'] {
  const bySource = new Map<string, Set<string>>();
  for (const { journey, of } of journeys) {
    const record = copyOf(journey);
    if (record === undefined) continue;
    const records = bySource.get(of.name) ?? new Set();
    bySource.set(of.name, records.add(record));
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
    const source = (await context.sources()).find((one) => one.name === name)?.source;
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
  await context.erasures.noteCopies(key, copies);
  if (left.length > 0) context.log.warn({ source: context.name, event: what, copies }, 'not all could be taken off');
}

async function* meant(event: EraseJob, { store }: SourceContext, left: (id: string) => void): AsyncGenerator<Journey> {
  if (event.everybody) return yield* store.all(left);
  for (const personId of event.personIds) yield* await store.of({ personId }, left);
  for (const recordId of event.recordIds) yield* await store.ofRecord(recordId, left);
}

/** Who they are about can't be told: a person has to look. */
async function tellUnreadable(event: EraseJob, unreadable: string[], context: SourceContext): Promise<void> {
  const why = 'journeys that can not be read were left out of an erasure: their personal data may still be there';
  context.log.error({ source: context.name, event: event.what, journeys: unreadable }, why);
  await context.alert('to-do', why, 'look at them in Redis, and remove them there; the log names them');
}

/** How many requests were masked by it; none where the service knows nobody by this contact. */
async function mask(contact: Contact, { feedback }: SourceContext): Promise<number> {
  try {
    const { masked } = await feedback.mask(contact);
    return masked.appeals ?? 0;
  } catch (error) {
    if (isNobody(error)) return 0;
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
