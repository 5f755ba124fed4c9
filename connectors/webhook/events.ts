import { createHash } from 'node:crypto';
import { z } from 'zod';
import type {
  Delivery,
  EraseEvent,
  Events,
  ExternalGradeEvent,
  RecordEvent,
  SourceEvent,
  SurveyEvent,
} from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { signedMessageId } from '../../core/connector/standard-webhook.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { isBlank } from '../../core/visible-text.ts';
import { compileAll, type Find, instantFrom, textFrom, Unreadable } from './expressions.ts';
import type { RecordSnapshot } from './record.ts';
import { type NameOf, recordIdFrom, senderIdOf } from './record-id.ts';
import type { WebhookSettings } from './settings.ts';

const Shape = z.record(z.string(), z.unknown());
const Answer = z.union([z.string(), z.number(), z.boolean(), listOf(z.string())]);
const Answers = mapOf(Answer.nullable()).refine((answers) =>
  Object.keys(answers).every((question) => question !== '' && question.length <= 100),
);
const Text = z.union([z.string(), z.int().transform(String)]);
const Contacts = z
  .union([Text, listOf(Text.nullable())])
  .transform((found) => [found].flat().flatMap((text) => (text === null || text.trim() === '' ? [] : [text])));

/** The values that the events of one delivery share. */
interface Happening {
  /** The sender's time of the event, but never later than the receipt: no later event could replace an event from the future. */
  at: Date;
  /** The time as the sender wrote it, if there is one. */
  saidAt: Date | undefined;
  id: string;
  what: string;
  nameOf: NameOf;
}

/**
 * Reads the events of a verified delivery by the expressions of `event`. A delivery may hold several events (a grade that also closes the
 * record). A body that an expression can't read is refused, because the sender would not repeat an acknowledged delivery.
 */
export function eventReader(
  { event, signature }: Pick<WebhookSettings, 'event' | 'signature'>,
  nameOf: NameOf,
): (delivery: Delivery) => Promise<Events> {
  const { over } = compileAll(event);
  // Only Standard Webhooks sign the id. An attacker could change an unsigned id to make a replay look new.
  const signedIdOf = ({ headers }: Delivery) => (signature.kind === 'standard' ? signedMessageId(headers) : undefined);

  return async (delivery) => {
    const body = jsonBody(delivery.raw);
    if (body === undefined) return { ok: false, why: 'the body is not JSON in UTF-8' };
    try {
      const find = await over(body);
      const happening = { ...happeningOf(find, delivery, signedIdOf(delivery)), nameOf };
      const events = eventsIn(find, happening);
      const ignored =
        events.length > 0 ? [] : [{ what: happening.what, why: 'none of the conditions in event is true' }];
      return { ok: true, events, ignored };
    } catch (error) {
      if (error instanceof Unreadable) return { ok: false, why: error.message };
      if (error instanceof RangeError) return { ok: false, why: 'the body is nested too deeply to be read' };
      throw error;
    }
  };
}

function happeningOf(
  find: Find,
  { raw, receivedAt }: Delivery,
  signedId: string | undefined,
): Omit<Happening, 'nameOf'> {
  const saidAt = instantFrom(find, 'at');
  const type = find('type');
  return {
    saidAt,
    at: saidAt === undefined || saidAt > receivedAt ? receivedAt : saidAt,
    id: digest(textFrom(find, 'id') ?? signedId ?? raw),
    // A trace must not repeat a text that a person typed.
    what: typeof type === 'string' && /^[\w.:/-]{1,60}$/.test(type) ? type : 'an event',
  };
}

function eventsIn(find: Find, happening: Happening): SourceEvent[] {
  const is = (at: string): boolean => find(at) === true;
  return [
    ...(is('changed') ? [changed(find, happening)] : []),
    ...(is('closed') ? [closed(find, happening)] : []),
    ...(is('graded.when') ? [externalGrade(find, happening)] : []),
    ...(is('survey.when') ? [survey(find, happening)] : []),
    ...(is('erase.when') ? [erase(find, happening)] : []),
  ];
}

const happened = <K extends SourceEvent['kind']>(kind: K, { at, id, what }: Happening) => ({
  kind,
  at,
  key: `${kind}.${id}`,
  what,
});

function changed(find: Find, happening: Happening): RecordEvent {
  const { recordId, sender } = recordIn(find, happening);
  const open: RecordSnapshot = { state: 'open', ...sender };
  return { ...happened('changed', happening), recordId, snapshot: open };
}

function closed(find: Find, happening: Happening): RecordEvent {
  const { recordId, sender } = recordIn(find, happening);
  const record = closedRecord(find, happening);
  return {
    ...happened('closed', happening),
    certain: true,
    recordId,
    closing: record.closing,
    snapshot: { ...record, ...sender },
  };
}

function closedRecord(find: Find, happening: Happening): Extract<RecordSnapshot, { state: 'closed' }> {
  const { saidAt, at, id } = happening;
  const closedAt = instantFrom(find, 'closedAt') ?? saidAt;
  const shape = Shape.safeParse(find('shape'));
  if (!shape.success) throw new Unreadable('event.shape finds no object');
  const [timeZone, country, region, locale] = ['timeZone', 'country', 'region', 'locale'].map((at) =>
    textFrom(find, at),
  );
  const contacts = find('contacts') === undefined ? undefined : contactsFrom(find, 'contacts');
  return {
    state: 'closed',
    closing: closedAt?.toISOString() ?? `id-${id}`,
    closedAt: (closedAt ?? at).toISOString(),
    ...customerOf({ personId: personFrom(find), timeZone, country, region, locale }),
    ...(contacts === undefined ? {} : { contacts }),
    shape: shape.data,
  };
}

/** A grade, with a snapshot of the record for a sender that sends only grades. */
function externalGrade(find: Find, happening: Happening): ExternalGradeEvent {
  const comment = find('graded.comment') ?? null;
  if (comment !== null && typeof comment !== 'string') throw new Unreadable('event.graded.comment finds no text');
  const { recordId, sender } = recordIn(find, happening);
  return {
    ...happened('external-grade', happening),
    recordId,
    grade: gradeFrom(find('graded.grade')),
    comment: comment === null || isBlank(comment) ? null : comment,
    snapshot: { ...closedRecord(find, happening), ...sender },
  };
}

function gradeFrom(found: unknown): number | null {
  if (found === undefined || found === '') return null;
  const grade = typeof found === 'string' && /^-?\d+(?:\.\d+)?$/.test(found.trim()) ? Number(found) : found;
  if (typeof grade !== 'number') throw new Unreadable('event.graded.grade finds no number');
  return grade;
}

function survey(find: Find, happening: Happening): SurveyEvent {
  const requestId = textFrom(find, 'survey.request');
  if (requestId === undefined) throw new Unreadable('event.survey.request finds nothing');
  // Without answers the body differs from what the expression expects, and accepting it would lose the answers.
  const found = Answers.safeParse(find('survey.answers'));
  if (!found.success || Object.keys(found.data).length === 0) {
    throw new Unreadable('event.survey.answers must find an object of question ids and answers');
  }
  const given = Object.entries(found.data).flatMap(([question, value]) => (value === null ? [] : [[question, value]]));
  const answers = mapOf(Answer).parse(Object.fromEntries(given));
  return { ...happened('survey', happening), requestId, answers };
}

/** An erasure that identifies no person is refused, so that the sender learns of it. */
function erase(find: Find, happening: Happening): EraseEvent {
  const personId = personFrom(find);
  const record = textFrom(find, 'record');
  const contacts = contactsFrom(find, 'erase.contacts');
  if (personId === undefined && record === undefined && contacts.length === 0) {
    throw new Unreadable('the event is to erase somebody, and neither record, person nor erase.contacts finds whom');
  }
  return {
    ...happened('erase', happening),
    ...(personId === undefined ? {} : { personIds: [personId] }),
    ...(record === undefined ? {} : { recordIds: [recordIn(find, happening).recordId] }),
    contacts,
  };
}

/** The person's id. Many systems give all guests the id 0, which identifies nobody. */
function personFrom(find: Find): string | undefined {
  const id = textFrom(find, 'person');
  return id === '0' ? undefined : id;
}

function contactsFrom(find: Find, at: string): string[] {
  const contacts = Contacts.safeParse(find(at) ?? []);
  if (!contacts.success) throw new Unreadable(`event.${at} finds neither a text nor a list of texts`);
  return contacts.data;
}

/** The record's id and, for the snapshot, the sender's own id if the event's id is a digest. */
function recordIn(find: Find, { nameOf }: Happening): { recordId: string; sender: { sender?: string } } {
  const text = textFrom(find, 'record');
  if (text === undefined) throw new Unreadable('event.record finds nothing');
  const id = recordIdFrom(text);
  if (id === undefined)
    throw new Unreadable('event.record finds no id: it is too long (100 characters), or broken Unicode');
  const recordId = nameOf(id);
  return { recordId, sender: recordId === id ? {} : { sender: senderIdOf(id) } };
}

function digest(of: string | Uint8Array): string {
  return createHash('sha256').update(of).digest('base64url').slice(0, 32);
}
