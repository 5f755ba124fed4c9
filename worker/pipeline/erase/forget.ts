import { type Contact, contactKey } from '../../../core/contact.ts';
import { adviceOf } from '../../../core/errors.ts';
import { isNobody } from '../../../core/feedback/failure.ts';
import type { MaskResult } from '../../../core/feedback/schemas.ts';
import { spread } from '../../../core/spread.ts';
import { type Erasure, keysOf, type SubjectOf } from '../../journey/erasures.ts';
import { erased } from '../../journey/forget.ts';
import type { Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import { isUnreadable } from '../../journey/stored-journey.ts';
import type { PlanJob } from '../jobs.ts';
import { withoutMentions } from '../people-in-snapshot.ts';
import { vendorsPerson } from '../policy/known-as.ts';
import { tryToWithdraw } from '../withdraw.ts';
import type { EraseContext, ErasureFindings } from './find.ts';
import { type Held, heldBy, storeVendorIds } from './written-answers.ts';

/**
 * How long masking waits for the search for a request of unknown outcome, once the search may begin. A masked request shows no
 * contact, so no search could find out whose request it is: neither this journey's search nor another journey's search in the campaign.
 */
const soughtForMs = 600_000;
/** After this many failures in a row (an outage, a revoked key) the other contacts wait for the next attempt. */
const mostInARow = 3;

/** Masks people at the service, then erases their data here, where every contact of the person is masked. */
export async function forget(found: ErasureFindings, erasure: Erasure, context: EraseContext): Promise<Held[]> {
  const { held, busy } = await withdrawAll(found, erasure);
  const unmasked = await maskAll(found, held, erasure, context);
  const isHeld = (contacts: readonly string[]) => contacts.some((key) => unmasked.has(key));
  const heldRecords = new Set<string>();
  const free: { journey: Journey; of: EraseContext }[] = [];
  for await (const [ref, { journey, of }] of spread(found.journeys)) {
    const contacts = [journey.contact, journey.test?.contact].flatMap((one) => (one ? [contactKey(one)] : []));
    if (busy.has(ref) || isHeld(contacts)) heldRecords.add(refOf(of.storedAs, journey.recordId));
    else free.push({ journey, of });
  }
  for (const [ref, { contacts }] of found.snapshots) if (isHeld(contacts)) heldRecords.add(ref);
  await storeVendorIds(found, erasure, context);
  await wipeSnapshots(found, heldRecords, context);
  await unlink(free, erasure, context);
  for (const { journey, of } of free) {
    const after = await eraseOne(journey, erasure, of, context);
    if (after?.state === 'creating') held.push(asking);
  }
  return held;
}

/** Throttles know the person by further addresses, and by the vendor's id. */
async function unlink(
  journeys: readonly { journey: Journey }[],
  { id }: Erasure,
  { contacts, ...context }: EraseContext,
): Promise<void> {
  const sources = new Map((await context.sources()).map((of) => [of.storedAs, of]));
  for (const subject of await context.erasures.subjects(id)) {
    const of = subject.kind === 'person' ? sources.get(subject.source) : undefined;
    if (subject.kind === 'person' && of) await contacts.unlink(contacts.addressOf(vendorsPerson(of, subject.id)));
  }
  for (const { journey } of journeys) {
    for (const address of journey.alsoKnownAs ?? []) await contacts.unlink(address);
  }
}

const asking: Held = {
  what: 'journeys are asking at this moment',
  why: 'whether the service has taken a request is being found out',
  passes: true,
};

/**
 * Cancels requests that were not sent yet. A request that the service refuses to cancel is masked all the same.
 * @returns `busy`: journeys in `creating`, or whose request could not be cancelled because the service is down
 */
async function withdrawAll(found: ErasureFindings, { what }: Erasure): Promise<{ held: Held[]; busy: Set<string> }> {
  const held: Held[] = [];
  const busy = new Set<string>();
  let inARow = 0;
  for (const [ref, { journey, of }] of found.journeys) {
    if (journey.state === 'asked' && inARow >= mostInARow) {
      busy.add(ref);
      continue;
    }
    try {
      if ((await tryToWithdraw(journey, what, of)) === 'asking') {
        busy.add(ref);
        held.push(asking);
      }
      inARow = 0;
    } catch (error) {
      // The contact's note can't be read: it is deleted after the masking.
      if (isUnreadable(error)) continue;
      inARow++;
      busy.add(ref);
      held.push(heldBy(error, 'requests could not be cancelled'));
    }
  }
  return { held, busy };
}

/**
 * Masks each contact by every form under which the service may have stored it. Masks again while a journey of the person is not erased, as
 * its request may have come after the masking. @returns the keys of contacts that are not masked
 */
async function maskAll(
  found: ErasureFindings,
  held: Held[],
  { id }: Erasure,
  context: EraseContext,
): Promise<Set<string>> {
  const isLive = new Set<string>();
  const isSought = new Set<string>();
  for await (const { journey, of } of spread(found.journeys.values())) {
    if (!journey.contact) continue;
    const key = contactKey(journey.contact);
    isLive.add(key);
    const { searchAfter } = journey.intent ?? {};
    const now = of.clock.now().getTime();
    if (journey.state === 'creating' && searchAfter && now < searchAfter.getTime() + soughtForMs) isSought.add(key);
  }
  const unmasked = new Set<string>();
  let inARow = 0;
  for await (const contact of spread(found.contacts.values())) {
    const keys = keysOf(contact);
    if (contact.done && !keys.some((key) => isLive.has(key))) continue;
    if (inARow >= mostInARow || keys.some((key) => isSought.has(key))) {
      for (const key of keys) unmasked.add(key);
      continue;
    }
    try {
      await mask(contact, id, context);
      inARow = 0;
    } catch (error) {
      if (adviceOf(error).kind !== 'permanent') inARow++;
      for (const key of keys) unmasked.add(key);
      held.push(heldBy(error, 'contacts are not masked'));
    }
  }
  for (const [key, contact] of testContactsOf(found)) {
    try {
      await maskForm(contact, context);
    } catch (error) {
      unmasked.add(key);
      held.push(heldBy(error, 'requests of tests are not masked'));
    }
  }
  return unmasked;
}

/** The test contacts to mask. A test request to such a contact holds the customer's values, so all requests of the test contact are masked. */
function testContactsOf({ journeys }: ErasureFindings): Map<string, Contact> {
  const tests = [...journeys.values()].flatMap(({ journey: { test, requestId } }) =>
    test && requestId !== undefined ? [test.contact] : [],
  );
  return new Map(tests.map((contact) => [contactKey(contact), contact]));
}

async function mask(contact: SubjectOf<'contact'>, id: string, context: EraseContext): Promise<void> {
  let { masked, wasMasked = false } = contact;
  for (const form of contact.forms) {
    const found = await maskForm(form, context);
    masked += found?.appeals ?? 0;
    wasMasked ||= found !== undefined && found.appeals === undefined;
  }
  const after = { ...contact, masked, ...(wasMasked && { wasMasked }) };
  await context.erasures.change(id, [{ ...after, done: false }]);
  for (const form of contact.forms) await context.contacts.forgetAsked(form);
  // The contact is marked as done last, so that after a kill the next attempt finds the rest.
  await context.erasures.change(id, [{ ...after, done: true }]);
}

/** The result of masking this form; without `appeals` where everything was masked before, undefined where the service does not know the form. */
async function maskForm(form: Contact, { feedback }: EraseContext): Promise<MaskResult['masked'] | undefined> {
  try {
    return (await feedback.mask(form)).masked;
  } catch (error) {
    if (isNobody(error)) return undefined;
    throw error;
  }
}

/** Removes all personal data from the journey. Written answers are noted first, as the journey leads to their record. */
async function eraseOne(
  journey: Journey,
  { id, what }: Erasure,
  of: EraseContext,
  context: EraseContext,
): Promise<Journey | undefined> {
  for (const noted = new Set<string>(); ; ) {
    const written: string[] = [];
    const after = await of.store.update(journey.id, (now) => {
      written.length = 0;
      if (now.state === 'creating') return undefined;
      written.push(...recordsWrittenFor(now, of).filter((record) => !noted.has(record)));
      return written.length > 0 ? undefined : { journey: erased(now, of.clock.now()), trace: [`erased: ${what}`] };
    });
    if (written.length === 0) return after;
    await context.erasures.change(
      id,
      written.map((record) => ({ kind: 'written-answer', source: of.storedAs, id: record })),
    );
    for (const record of written) noted.add(record);
  }
}

/**
 * The records that closeloop wrote the journey's answer on, or may be writing on now. A vendor may have taken an answer without
 * confirming it, and an answer from before a merge is on the merged record.
 */
function recordsWrittenFor(journey: Journey, { source }: EraseContext): string[] {
  const { state, answer, writtenVersion, noAnswerWritten = false, currentId, recordId } = journey;
  const isSilenceWritten = noAnswerWritten || (state === 'expired' && source.writesNoAnswer === true);
  const isThere = writtenVersion !== undefined || answer !== undefined || isSilenceWritten;
  return isThere ? [...new Set([recordId, currentId ?? recordId])] : [];
}

/**
 * Erases the snapshots of the people's records, and removes the people from events that wait to be planned. In snapshots of other
 * people's records only the mentions of a contact are removed.
 */
export async function wipeSnapshots(
  found: ErasureFindings,
  held: ReadonlySet<string>,
  context: EraseContext,
): Promise<void> {
  const isContact = (key: string) => found.hasContact(key);
  for (const of of await context.sources()) {
    const waiting = new Set<string>();
    await of.changeEvents(async (event) => {
      const part = await found.partIn(event, of);
      if (part === 'none') return undefined;
      if (part === 'mention')
        return 'snapshot' in event && event.snapshot
          ? { ...event, snapshot: await withoutMentions(event.snapshot, isContact, of) }
          : undefined;
      if ('recordId' in event && held.has(refOf(of.storedAs, event.recordId))) return undefined;
      if ('snapshot' in event && event.snapshot) waiting.add(event.recordId);
      return withoutPerson(event);
    });
    // Erasing needs a stored snapshot: then the older snapshot that a worker may be about to store is ignored.
    for (const recordId of waiting) await of.snapshots.save(recordId, new Date(0), {}, { onlyFirst: true });
    for (const recordId of waiting) await of.snapshots.erase(recordId, found.until);
  }
  for (const [ref, { recordId, of }] of found.mentions) {
    if (!found.snapshots.has(ref))
      await of.snapshots.change(recordId, (snapshot) => withoutMentions(snapshot, isContact, of));
  }
  for (const [ref, { recordId, of }] of found.snapshots) {
    if (!held.has(ref)) await of.snapshots.erase(recordId, found.until);
  }
}

/** The event without personal data; undefined where it holds none. */
function withoutPerson(event: PlanJob): PlanJob | undefined {
  if (event.kind === 'revoked') return undefined;
  if (event.kind === 'survey') return Object.keys(event.answers).length === 0 ? undefined : { ...event, answers: {} };
  const { snapshot, ...rest } = event;
  if (rest.kind === 'external-grade') return snapshot || rest.comment !== null ? { ...rest, comment: null } : undefined;
  return snapshot ? rest : undefined;
}
