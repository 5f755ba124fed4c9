import { type Erasure, noWrittenAnswers, type Proof, type Subject } from '../../journey/erasures.ts';
import { refOf } from '../../journey/refs.ts';
import type { EraseContext, ErasureFindings } from './find.ts';

/** Ends the erasure: stores and logs its proof, which holds no personal data, and alerts a person to unreadable data. */
export async function prove({ id, what }: Erasure, found: ErasureFindings, context: EraseContext): Promise<void> {
  const subjects = await context.erasures.subjects(id);
  const contacts = subjects.filter((one) => one.kind === 'contact');
  const unreadable = [...found.unreadable];
  const maskedBefore = contacts.filter(({ masked, wasMasked }) => masked === 0 && wasMasked === true).length;
  const sources = await context.sources();
  const proof: Proof = {
    id,
    at: found.until,
    what,
    journeys: await context.erasures.journeys(id),
    contacts: contacts.length,
    requestsMasked: contacts.reduce((sum, { masked }) => sum + masked, 0),
    ...(maskedBefore > 0 && { maskedBefore }),
    mentions: mentionsIn(subjects),
    writtenAnswers: writtenAnswersIn(subjects, sources),
    kept: keptOf(subjects, sources, context),
    ...(unreadable.length > 0 && { unreadable }),
  };
  if (unreadable.length > 0) {
    const why = 'what can not be read was left out of an erasure: personal data may still be in it';
    context.log.error({ source: context.name, event: what, unreadable }, why);
    await context.alert('to-do', why, 'look at it in Redis, and remove it there; the log names it');
  }
  await context.erasures.end(proof);
  context.log.info({ source: context.name, event: what, proof }, 'erased');
}

/** The number of mentions in other people's records. A record counted as a mention may have turned out to be the person's own. */
function mentionsIn(subjects: readonly Subject[]): number {
  const own = new Set(
    subjects.flatMap((one) => (one.kind === 'record' || one.kind === 'snapshot' ? [refOf(one.source, one.id)] : [])),
  );
  return subjects.filter((one) => one.kind === 'mention' && !own.has(refOf(one.source, one.id))).length;
}

function writtenAnswersIn(subjects: readonly Subject[], sources: readonly EraseContext[]): string {
  if (subjects.every(({ kind }) => kind !== 'written-answer')) return noWrittenAnswers;
  const left = leftIn(subjects, sources);
  return left.length === 0 ? 'none left' : `left at ${left.join('; ')}`;
}

/** The data that stays at the vendors, as `<source>: <what>`. */
function leftIn(subjects: readonly Subject[], sources: readonly EraseContext[]): string[] {
  const writtenAnswers = subjects.filter((one) => one.kind === 'written-answer');
  const nameOf = (source: string) => sources.find(({ storedAs }) => storedAs === source)?.name ?? source;
  return writtenAnswers.flatMap(({ source, left = [] }) => left.map((what) => `${nameOf(source)}: ${what}`));
}

const keptByService =
  "the service: grades, comments and statistics of the masked requests, and their custom fields that are not marked as personal data (the journey's reference is one), under nobody's name";

/** The data that the erasure does not remove. For the service see its specification, section 4.3. */
function keptOf(subjects: readonly Subject[], sources: readonly EraseContext[], { keepMs }: EraseContext): string[] {
  const days = Math.round(keepMs / 86_400_000);
  const isMasked = subjects.some((one) => one.kind === 'contact' && one.masked > 0);
  const isWritten = subjects.some(({ kind }) => kind === 'written-answer');
  return [
    ...(isMasked ? [keptByService] : []),
    ...leftIn(subjects, sources),
    ...sources.flatMap((of) => idsLeftIn(subjects, of, days)),
    ...(isWritten
      ? ['answers that were written by earlier settings of a source, where these name no place of theirs now']
      : []),
    `answers on records whose journeys were removed before (retention.journeys, ${days} days): nothing leads to them any more`,
  ];
}

/**
 * Ids of the person's records, which stay in the names of journeys and keys. If a sender has chosen an id, closeloop can't know whether the id names
 * the person, unless the connector has put a digest in its place.
 */
function idsLeftIn(subjects: readonly Subject[], { name, storedAs, source }: EraseContext, days: number): string[] {
  const ids = subjects.flatMap((one) =>
    (one.kind === 'record' || one.kind === 'snapshot') &&
    one.source === storedAs &&
    source.mayNamePerson?.(one.id) === true
      ? [one.id]
      : [],
  );
  const { size } = new Set(ids);
  if (size === 0) return [];
  const what = size === 1 ? 'the id of 1 record' : `the ids of ${size} records`;
  return [
    `${name}: ${what}, in clear in the names of journeys for ${days} days (retention.journeys): personal data where the sender calls a record by a person's name, or by a phone number without its country`,
  ];
}
