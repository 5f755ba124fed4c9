import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Events, SourceEvent } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { noEvent } from '../../core/connector/delivery.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { signedMessageId } from '../../core/connector/standard-webhook.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { isBlank } from '../../core/visible-text.ts';
import { compileAll, type Find, instantFrom, textFrom, Unreadable } from './expressions.ts';
import { type NameOf, type RecordSnapshot, recordIdFrom, senderIdOf } from './record.ts';
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

/** A delivery, and the data that all its events have in common. */
interface Told {
  find: Find;
  /** The sender's time of the event, but never later than the receipt: no later event could replace an event from the future. */
  at: Date;
  /** The time as the sender wrote it, if there is one. */
  saidAt: Date | undefined;
  id: string;
  what: string;
  nameOf: NameOf;
}

/** The event that each condition of the settings leads to. */
export const readers: Readonly<Record<string, (told: Told) => SourceEvent>> = {
  ...{ changed, closed, 'graded.when': externalGrade },
  ...{ 'survey.when': survey, 'erase.when': erase },
};

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
      const told = { find, nameOf, ...happeningOf(find, delivery, signedIdOf(delivery)) };
      const events = Object.entries(readers).flatMap(([condition, read]) =>
        find(condition) === true ? [read(told)] : [],
      );
      if (events.length === 0) return noEvent(told.what, 'none of the conditions in event is true');
      return { ok: true, events, ignored: [] };
    } catch (error) {
      if (error instanceof Unreadable) return { ok: false, why: error.message };
      if (error instanceof RangeError) return { ok: false, why: 'the body is nested too deeply to be read' };
      throw error;
    }
  };
}

function happeningOf(find: Find, { raw, receivedAt }: Delivery, signedId: string | undefined) {
  const saidAt = instantFrom(find, 'at');
  const type = find('type');
  const id = textFrom(find, 'id') ?? signedId ?? raw;
  return {
    saidAt,
    at: saidAt === undefined || saidAt > receivedAt ? receivedAt : saidAt,
    id: createHash('sha256').update(id).digest('base64url').slice(0, 32),
    // A trace must not repeat a text that a person typed.
    what: typeof type === 'string' && /^[\w.:/-]{1,60}$/.test(type) ? type : 'an event',
  };
}

const happened = <K extends SourceEvent['kind']>(kind: K, { at, id, what }: Told) => ({
  ...{ kind, at, what },
  key: `${kind}.${id}`,
});

function changed(told: Told): SourceEvent {
  const { recordId, sender } = recordIn(told);
  return { ...happened('changed', told), recordId, snapshot: { state: 'open', ...sender } };
}

function closed(told: Told): SourceEvent {
  const { recordId, sender } = recordIn(told);
  const record = closedRecord(told);
  const snapshot = { ...record, ...sender };
  return { ...happened('closed', told), certain: true, recordId, closing: record.closing, snapshot };
}

function closedRecord({ find, saidAt, at, id }: Told): Extract<RecordSnapshot, { state: 'closed' }> {
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
    ...(contacts && { contacts }),
    shape: shape.data,
  };
}

/** A grade, with a snapshot of the record for a sender that sends only grades. */
function externalGrade(told: Told): SourceEvent {
  const { find } = told;
  const comment = find('graded.comment') ?? null;
  if (comment !== null && typeof comment !== 'string') throw new Unreadable('event.graded.comment finds no text');
  const { recordId, sender } = recordIn(told);
  return {
    ...happened('external-grade', told),
    recordId,
    grade: gradeFrom(find('graded.grade')),
    comment: comment === null || isBlank(comment) ? null : comment,
    snapshot: { ...closedRecord(told), ...sender },
  };
}

function gradeFrom(found: unknown): number | null {
  if (found === undefined || found === '') return null;
  const grade = typeof found === 'string' && /^-?\d+(?:\.\d+)?$/.test(found.trim()) ? Number(found) : found;
  if (typeof grade !== 'number') throw new Unreadable('event.graded.grade finds no number');
  return grade;
}

function survey(told: Told): SourceEvent {
  const requestId = textFrom(told.find, 'survey.request');
  if (requestId === undefined) throw new Unreadable('event.survey.request finds nothing');
  // Without answers the body differs from what the expression expects, and accepting it would lose the answers.
  const found = Answers.safeParse(told.find('survey.answers'));
  if (!found.success || Object.keys(found.data).length === 0) {
    throw new Unreadable('event.survey.answers must find an object of question ids and answers');
  }
  const given = Object.entries(found.data).flatMap(([question, one]) =>
    one === null ? [] : [[question, one] as const],
  );
  return { ...happened('survey', told), requestId, answers: Object.fromEntries(given) };
}

/** An erasure that identifies no person is refused, so that the sender learns of it. */
function erase(told: Told): SourceEvent {
  const { find } = told;
  const personId = personFrom(find);
  const isOfRecord = textFrom(find, 'record') !== undefined;
  const contacts = contactsFrom(find, 'erase.contacts');
  if (personId === undefined && !isOfRecord && contacts.length === 0) {
    throw new Unreadable('the event is to erase somebody, and neither record, person nor erase.contacts finds whom');
  }
  return {
    ...happened('erase', told),
    ...(personId !== undefined && { personIds: [personId] }),
    ...(isOfRecord && { recordIds: [recordIn(told).recordId] }),
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
function recordIn({ find, nameOf }: Told): { recordId: string; sender: { sender?: string } } {
  const text = textFrom(find, 'record');
  if (text === undefined) throw new Unreadable('event.record finds nothing');
  const id = recordIdFrom(text);
  if (id === undefined)
    throw new Unreadable('event.record finds no id: it is too long (100 characters), or broken Unicode');
  const recordId = nameOf(id);
  return { recordId, sender: recordId === id ? {} : { sender: senderIdOf(id) } };
}
