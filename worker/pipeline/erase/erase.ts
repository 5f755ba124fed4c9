import { type Contact, contactKey } from '../../../core/contact.ts';
import { adviceOf } from '../../../core/errors.ts';
import { isNobody } from '../../../core/feedback/failure.ts';
import { spread } from '../../../core/spread.ts';
import { type Erasure, keysOf, noCopies, type Proof, type Subject, type SubjectOf } from '../../journey/erasures.ts';
import type { Journey } from '../../journey/journey.ts';
import { isUnreadable } from '../../journey/reader.ts';
import { refOf } from '../../journey/refs.ts';
import { erased } from '../../journey/transitions.ts';
import type { SourceContext } from '../context.ts';
import { type AskedToErase, done, type EraseJob, type JobResult, retryLater } from '../jobs.ts';
import { tryToWithdraw } from '../withdraw.ts';
import { takeOff } from './copies.ts';
import { type Found, findAll } from './find.ts';
import { type Held, heldBy } from './held.ts';
import { subjectOf } from './people-in-snapshot.ts';
import { wipeSnapshots } from './snapshots.ts';

/** The next attempt comes after a second, then two, then four …; an hour at most, a minute where all passes by itself. Real time. */
const firstMs = 1_000;
const longestMs = 3_600_000;
const longestPassingMs = 60_000;
/** That somebody is just being asked, or the service away for a moment, is no reason to tell a person. */
const toldAfter = 5;
/** The service is away, or takes our key no more: after so many failures in a row the others wait for the next attempt. */
const mostInARow = 3;

export async function erase(job: EraseJob, context: SourceContext): Promise<JobResult> {
  if (job.kind === 'go-on') return await attempt(job.erasure, context);
  const id = await begin(job, context);
  const result = await attempt(id, context);
  // By its id only: this job, which names the people, goes.
  if (result.do === 'wait') await context.queueErasure(id, result.delayMs);
  return done;
}

/** Stored, with whom it is about, until it is done. */
export async function begin(asked: AskedToErase, context: SourceContext): Promise<string> {
  const source = context.name;
  return await context.erasures.begin(asked, [
    ...asked.contacts.flatMap((text) => subjectOf(text, context) ?? []),
    ...asked.personIds.map((id) => ({ kind: 'person' as const, source, id })),
    ...asked.recordIds.map((id) => ({ kind: 'record' as const, source, id })),
  ]);
}

/**
 * Forgets people: whom it is about is found and stored with the erasure, then masked at the service, then taken out of
 * journeys, snapshots and waiting events here, and what was written on records is taken off at the vendor. Whoever is killed
 * in between finds the rest again. What can't be done yet holds up nobody else, and is tried again; nothing is given up. What
 * was done is kept as proof, without the people.
 */
export async function attempt(id: string, context: SourceContext): Promise<JobResult> {
  const places = await context.placesOfSources();
  if (places === undefined) return retryLater;
  const erasure = await context.erasures.get(id);
  if (!erasure) return done;
  let held: Held[];
  let found: Found;
  do {
    found = await findAll(erasure, context);
    held = await forget(found, erasure, context);
    // What came in meanwhile is theirs as well: done is what finds nothing any more.
  } while (held.length === 0 && found.journeys.size + found.snapshots.size + found.mentions.size > 0);
  held.push(...(await takeOff(id, context)));
  if (held.length > 0) return await postpone(erasure, held, context);
  // A source that was on its way to another name may have been passed by: in a command, no rename waits for this to end.
  if ((await context.placesOfSources()) !== places) return retryLater;
  await prove(erasure, found, context);
  return done;
}

/** Masks them at the service, then takes them out here: only where every contact of theirs is masked. */
async function forget(found: Found, erasure: Erasure, context: SourceContext): Promise<Held[]> {
  const { held, busy } = await withdrawAll(found, erasure);
  const unmasked = await maskAll(found, held, erasure, context);
  const isHeld = (contacts: readonly string[]) => contacts.some((key) => unmasked.has(key));
  const heldRecords = new Set<string>();
  const free: { journey: Journey; of: SourceContext }[] = [];
  for await (const [ref, { journey, of }] of spread(found.journeys)) {
    const contacts = journey.contact ? [contactKey(journey.contact)] : [];
    if (busy.has(ref) || isHeld(contacts)) heldRecords.add(refOf(of.name, journey.recordId));
    else free.push({ journey, of });
  }
  for (const [ref, { contacts }] of found.snapshots) if (isHeld(contacts)) heldRecords.add(ref);
  await wipeSnapshots(found, heldRecords, context);
  for (const { journey, of } of free) {
    const after = await eraseOne(journey, erasure, of, context);
    if (after?.state === 'creating') held.push(asking);
  }
  return held;
}

const asking: Held = {
  what: 'journeys are asking at this moment',
  why: 'whether the service has taken a request is being found out',
  passes: true,
};

/**
 * Cancels what was not sent yet. A request that the service refuses to cancel is masked all the same.
 * @returns `busy`: journeys that hold up themselves, as they are asking, or the service can't be reached
 */
async function withdrawAll(found: Found, { what }: Erasure): Promise<{ held: Held[]; busy: Set<string> }> {
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
      // The note of when they were asked last can't be read: it goes with the masking.
      if (isUnreadable(error)) continue;
      inARow++;
      busy.add(ref);
      held.push(heldBy(error, 'requests could not be cancelled'));
    }
  }
  return { held, busy };
}

/**
 * Masks each contact by every form that the service may know it by; once more while a journey of theirs is not erased, as its
 * request may have come after the masking. @returns the keys of those that are not masked
 */
async function maskAll(found: Found, held: Held[], { id }: Erasure, context: SourceContext): Promise<Set<string>> {
  const isLive = new Set<string>();
  for await (const { journey } of spread(found.journeys.values())) {
    if (journey.contact) isLive.add(contactKey(journey.contact));
  }
  const unmasked = new Set<string>();
  let inARow = 0;
  for await (const contact of spread(found.contacts.values())) {
    const keys = keysOf(contact);
    if (contact.done && !keys.some((key) => isLive.has(key))) continue;
    if (inARow >= mostInARow) {
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
  return unmasked;
}

async function mask(contact: SubjectOf<'contact'>, id: string, context: SourceContext): Promise<void> {
  let { masked } = contact;
  for (const form of contact.forms) masked += await maskForm(form, context);
  await context.erasures.change(id, [{ ...contact, masked, done: false }]);
  for (const form of contact.forms) await context.contacts.forgetAsked(form);
  // Last: whoever is killed before finds what is still to be done.
  await context.erasures.change(id, [{ ...contact, masked, done: true }]);
}

/** How many requests were masked by it; none where the service knows nobody by this form. */
async function maskForm(form: Contact, { feedback }: SourceContext): Promise<number> {
  try {
    return (await feedback.mask(form)).masked.appeals ?? 0;
  } catch (error) {
    if (isNobody(error)) return 0;
    throw error;
  }
}

/** The journey loses everything personal. What was written for it is noted before, as it leads to its record. */
async function eraseOne(
  journey: Journey,
  { id, what }: Erasure,
  of: SourceContext,
  context: SourceContext,
): Promise<Journey | undefined> {
  for (const noted = new Set<string>(); ; ) {
    const written: string[] = [];
    const after = await of.store.update(journey.id, (now) => {
      written.length = 0;
      if (now.erasedAt || now.state === 'creating') return undefined;
      written.push(...copiesOf(now, of).filter((record) => !noted.has(record)));
      return written.length > 0 ? undefined : { journey: erased(now, of.clock.now()), trace: [`erased: ${what}`] };
    });
    if (written.length === 0) return after;
    await context.erasures.change(
      id,
      written.map((record) => ({ kind: 'copy', source: of.name, id: record })),
    );
    for (const record of written) noted.add(record);
  }
}

/**
 * Records that closeloop wrote on for it, or may be writing on now. A vendor may have taken an answer that it never confirmed,
 * and what was written before a merge is on the record that is gone.
 */
function copiesOf(journey: Journey, { source }: SourceContext): string[] {
  const { state, answer, writtenVersion, noAnswerWritten = false, currentId, recordId } = journey;
  const isSilenceWritten = noAnswerWritten || (state === 'expired' && source.writesNoAnswer === true);
  const isThere = writtenVersion !== undefined || answer !== undefined || isSilenceWritten;
  return isThere ? [...new Set([recordId, currentId ?? recordId])] : [];
}

/** Kept, told where it doesn't pass by itself, and tried again, less and less often. */
async function postpone(erasure: Erasure, held: readonly Held[], context: SourceContext): Promise<JobResult> {
  const tries = erasure.tries + 1;
  const longest = held.every(({ passes }) => passes) ? longestPassingMs : longestMs;
  const delayMs = Math.min(longest, firstMs * 2 ** Math.min(erasure.tries, 30));
  const groups = Map.groupBy(held, ({ what, why }) => `${what}: ${why}`);
  const said = [...groups].map(([text, { length }]) => (length === 1 ? text : `${length} times ${text}`));
  const nextAt = new Date(context.ports.now().getTime() + delayMs);
  await context.erasures.postpone({ ...erasure, tries, held: said, nextAt });
  const about = { source: context.name, erasure: erasure.id, event: erasure.what, held: said, nextAt };
  context.log.warn(about, 'an erasure is not done yet; it is kept, and tried again');
  if (tries >= toldAfter || held.some(({ passes }) => !passes)) {
    const why = `an erasure is not done yet: ${said.join('; ')}`;
    await context.alert('to-do', why, 'see "closeloop contact erasures list"; it is tried again by itself');
  }
  return { do: 'wait', delayMs };
}

async function prove({ id, what }: Erasure, found: Found, context: SourceContext): Promise<void> {
  const subjects = await context.erasures.subjects(id);
  const contacts = subjects.filter((one) => one.kind === 'contact');
  const unreadable = [...found.unreadable];
  const proof: Proof = {
    id,
    at: found.until,
    what,
    journeys: await context.erasures.journeys(id),
    contacts: contacts.length,
    requestsMasked: contacts.reduce((sum, { masked }) => sum + masked, 0),
    mentions: mentionsIn(subjects),
    copies: copiesIn(subjects),
    kept: keptOf(subjects, context),
    ...(unreadable.length > 0 && { unreadable }),
  };
  if (unreadable.length > 0) {
    const why = 'what can not be read was left out of an erasure: personal data may still be in it';
    context.log.error({ source: context.name, event: what, unreadable }, why);
    await context.alert('to-do', why, 'look at it in Redis, and remove it there; the log names it');
  }
  // Last: what was written on records is taken off by their ids.
  for (const of of await context.sources()) {
    const records = subjects.flatMap((one) =>
      ['record', 'snapshot', 'copy'].includes(one.kind) && 'source' in one && one.source === of.name ? [one.id] : [],
    );
    // A record may be called by their address, though nothing was known of it but that.
    const named: string[] = [];
    for await (const { forms } of spread(contacts)) named.push(...forms.map(({ value }) => of.aliases.of(value)));
    await of.aliases.forget([...records, ...named], found.until);
  }
  await context.erasures.end(proof);
  context.log.info({ source: context.name, event: what, proof }, 'erased');
}

/** Not of those that turned out to be theirs. */
function mentionsIn(subjects: readonly Subject[]): number {
  const own = new Set(
    subjects.flatMap((one) => (one.kind === 'record' || one.kind === 'snapshot' ? [refOf(one.source, one.id)] : [])),
  );
  return subjects.filter((one) => one.kind === 'mention' && !own.has(refOf(one.source, one.id))).length;
}

function copiesIn(subjects: readonly Subject[]): string {
  if (subjects.every(({ kind }) => kind !== 'copy')) return noCopies;
  const left = leftIn(subjects);
  return left.length === 0 ? 'none left' : `left at ${left.join('; ')}`;
}

/** At vendors, by source. */
function leftIn(subjects: readonly Subject[]): string[] {
  const copies = subjects.filter((one) => one.kind === 'copy');
  return copies.flatMap(({ source, left = [] }) => left.map((what) => `${source}: ${what}`));
}

const keptByService =
  "the service: grades, comments and statistics of the masked requests, and their custom fields that are not marked as personal data (the journey's reference is one), under nobody's name";

/** What an erasure can't reach. The service's part: specification, section 4.3. */
function keptOf(subjects: readonly Subject[], { keepMs }: SourceContext): string[] {
  const isMasked = subjects.some((one) => one.kind === 'contact' && one.masked > 0);
  const isWritten = subjects.some(({ kind }) => kind === 'copy');
  return [
    ...(isMasked ? [keptByService] : []),
    ...leftIn(subjects),
    ...(isWritten
      ? ['answers that were written by earlier settings of a source, where these name no place of theirs now']
      : []),
    `answers on records whose journeys were removed before (retention.journeys, ${Math.round(keepMs / 86_400_000)} days): nothing leads to them any more`,
  ];
}

/** A bug of ours: whatever it was asked for is kept all the same, and tried again by the sweep. */
export async function giveUpErase(job: EraseJob, why: string, context: SourceContext): Promise<void> {
  const id = job.kind === 'go-on' ? job.erasure : await begin(job, context);
  context.log.error({ source: context.name, erasure: id, why }, 'an erasure failed; it is kept, and tried again');
}
