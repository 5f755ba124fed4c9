import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Events, RecordEvent } from '../../core/connector/contract.ts';
import { happenedAt, noEvent, oneEvent } from '../../core/connector/delivery.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { evaluateAll } from '../../core/mapping/expression.ts';
import { compileExpression } from '../../core/mapping/expression-compile.ts';
import { isBlank } from '../../core/visible-text.ts';
import type { csatSettings, ZendeskSettings } from './settings.ts';
import { isDone } from './ticket.ts';

export const ticketEvent = 'zen:event-type:ticket.';
/** The event for a rating in Zendesk's own survey. */
export const csatReceived = `${ticketEvent}csat_received`;

/**
 * An id, mostly a text, sometimes a number. It becomes a text further below: with a transform zod would take four times as long to read a
 * delivery.
 */
const ticketId = z.union([z.string().regex(/^\d{1,15}$/), z.int().positive()]);

/** The id of a user or an account. Zendesk's system has the user id -1. */
const anyId = z.union([z.number(), z.string()]);
type AnyId = z.output<typeof anyId>;

/** A delivery to an event subscription. Every ticket event has the same 21 details, of which closeloop needs three. */
const Subscribed = z.object({
  type: z.string(),
  id: z.string().min(1).max(200),
  account_id: anyId.nullish(),
  /** `zen:ticket:41960` */
  subject: z.string().nullish(),
  /** The time, with up to nanoseconds. */
  time: z.string().nullish(),
  event: z.object({ current: z.unknown(), previous: z.unknown() }).partial().nullish(),
  detail: z.object({ id: ticketId.nullish(), actor_id: anyId.nullish() }).nullish(),
});

/** A delivery by the trigger's template. It has only ids, as quotes in a text could break the JSON. */
const Triggered = z.object({ ticket_id: ticketId, account_id: anyId.nullish() });

/**
 * How Zendesk signs deliveries. The secret is used as text, and never base64-decoded, even if it looks like base64. Zendesk documents no
 * tolerance for the timestamp, and may not sign retries anew: the default of 15 minutes leaves room for retries.
 * Source: developer.zendesk.com/documentation/webhooks/verifying.
 */
export const signatureScheme = (toleranceSeconds: number): HmacScheme => ({
  ...{ header: 'x-zendesk-webhook-signature', algorithm: 'sha256', encoding: 'base64' },
  timestamp: { header: 'x-zendesk-webhook-signature-timestamp', as: 'iso', toleranceMs: toleranceSeconds * 1000 },
  signed: ({ raw }, timestamp) => [timestamp, raw],
});

type EventSettings = Pick<ZendeskSettings, 'accountId' | 'integrationUserId' | 'csat'>;
type Read = (body: unknown, delivery: Delivery) => Promise<Events>;

/** Returns the reader of the event in a verified delivery. */
export function eventReader({ accountId, integrationUserId, csat }: EventSettings): Read {
  const rating = csat && ratingReader(csat);
  const isForeign = ({ account_id: id }: { account_id?: AnyId | null | undefined }): boolean =>
    accountId !== undefined && id != null && String(id) !== accountId;
  const foreign = noEvent('a delivery', 'another Zendesk account than accountId in the configuration');

  return async (json, delivery) => {
    const isTrigger = typeof json === 'object' && json !== null && 'ticket_id' in json;
    const triggered = isTrigger ? Triggered.safeParse(json).data : undefined;
    if (triggered !== undefined)
      return isForeign(triggered) ? foreign : oneEvent(triggerEvent(String(triggered.ticket_id), delivery));
    const { data } = Subscribed.safeParse(json);
    if (data === undefined) return { ok: false, why: 'neither a Zendesk event nor {"ticket_id": …} from a trigger' };
    if (isForeign(data)) return foreign;
    const { type, id: key, subject, time, event, detail } = data;
    if (!type.startsWith(ticketEvent)) return noEvent(short(type), 'not a ticket event');

    const happened = { at: happenedAt(time, delivery), key };
    const recordId = detail?.id == null ? /^zen:ticket:(\d{1,15})$/.exec(subject ?? '')?.[1] : String(detail.id);
    const name = type.slice(ticketEvent.length);
    if (type === csatReceived && rating !== undefined) {
      const said = await rating(json);
      if (!said.ok) return said;
      if (said.grade === undefined) return noEvent(name, 'a rating was offered or taken back, none was given');
      if (recordId === undefined) return noTicket;
      const { grade, comment } = said;
      const what = "a rating in Zendesk's own CSAT";
      return oneEvent({ kind: 'external-grade', recordId, ...happened, what, grade, comment });
    }
    const [previous, current] = [statusOf(event?.previous), statusOf(event?.current)];
    const what = name === 'status_changed' ? `status ${current}, was ${previous}` : short(name);
    const byUs = integrationUserId !== undefined && String(detail?.actor_id) === integrationUserId;
    const meaning = meaningOf({ name, previous, current }, byUs);
    if (meaning.is === 'ignored') return noEvent(what, meaning.why);
    if (recordId === undefined) return noTicket;
    const kind = meaning.is === 'restored' ? 'closed' : meaning.is;
    return oneEvent({ kind, recordId, ...happened, what, ...(meaning.is === 'closed' && { certain: true }) });
  };
}

/** The event of a trigger, which names only the ticket. All attempts of one delivery share the invocation id. */
function triggerEvent(recordId: string, { headers, receivedAt }: Delivery): RecordEvent {
  const invocation = headers['x-zendesk-webhook-invocation-id'] ?? String(Math.floor(receivedAt.getTime() / 1000));
  const key = createHash('sha256').update(`${recordId} ${invocation}`).digest('base64url').slice(0, 32);
  return { kind: 'closed', recordId, at: receivedAt, key: `trigger-${key}`, what: 'a trigger fired' };
}

/** The status, if it is an enum, so that no text of a person gets into a trace. */
const statusOf = (value: unknown): string =>
  typeof value === 'string' && /^[A-Z_]{1,30}$/.test(value) ? value : 'unknown';
const short = (name: string): string => (/^[\w:.-]{1,80}$/.test(name) ? name : 'an unknown event');

const noTicket: Events = { ok: false, why: 'a ticket event without the id of the ticket' };

/** The meaning of a ticket event. */
type EventMeaning = { is: 'closed' | 'changed' | 'restored' } | { is: 'ignored'; why: string };

const isWorkedOn = (status: string): boolean => ['new', 'open', 'pending', 'hold'].includes(status.toLowerCase());

/** Events after which a waiting feedback request may be wrong: the worker reads the ticket. */
const upsets = new Set(['merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam']);

/** Events that closeloop's own write-backs cause. Changes of the status are not among them, as closeloop's write-back changes no status. */
const echoes = new Set(['custom_field_changed', 'tags_changed', 'comment_added']);

/**
 * Decides by the kind of change and not by the actor, because other software that solves tickets may act as the same user.
 * @param event the event's name (`status_changed`) and statuses, in capitals
 * @param byUs whether the event's actor is the user that closeloop acts as
 */
export function meaningOf(event: { name: string; previous: string; current: string }, byUs = false): EventMeaning {
  const { name, previous, current } = event;
  if (upsets.has(name)) return { is: 'changed' };
  // The ticket has its earlier state again: perhaps it is closed, and its customer has not been asked yet.
  if (name === 'undeleted') return { is: 'restored' };
  if (name !== 'status_changed') {
    return ignored(byUs && echoes.has(name) ? 'the echo of what we wrote' : 'neither opens nor closes a ticket');
  }
  if (current === 'ARCHIVED') return ignored('archiving changes nothing');
  if (isDone(current)) return isDone(previous) ? ignored('the ticket was closed before') : { is: 'closed' };
  if (isWorkedOn(current) && !isDone(previous)) return ignored('the ticket was not closed before');
  // The ticket was reopened or deleted, or has an unknown status.
  return { is: 'changed' };
}

const ignored = (why: string): EventMeaning => ({ is: 'ignored', why });

/** A rating. Without a grade: the survey was only offered, or the rating was withdrawn. */
type Rating = { ok: true; grade: number | undefined; comment: string | null } | { ok: false; why: string };

const notGiven = new Set(['offered', 'unoffered', 'none', '']);

/** Returns the reader of the rating in a delivery of `csatReceived`. */
export function ratingReader(csat: z.output<typeof csatSettings>): (delivery: unknown) => Promise<Rating> {
  const { good, bad, ...at } = csat;
  const [score, comment] = [compileExpression(at.score), compileExpression(at.comment)];
  return async (delivery) => {
    const findings = await evaluateAll([score, comment], delivery);
    const [foundScore, foundComment] = [findings.of(score), findings.of(comment)];
    if (!foundScore.ok) return { ok: false, why: `csat: ${foundScore.why}` };
    if (!foundComment.ok) return { ok: false, why: `csat: ${foundComment.why}` };
    const text = String(foundScore.value ?? '').trim();
    const word = text.toLowerCase().replace(/_?with_?comment$/, '');
    const given = /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : undefined;
    const grade = word === 'good' ? good : word === 'bad' ? bad : given;
    const said = foundComment.value;
    const words = typeof said === 'string' && !isBlank(said) ? said : null;
    const isNotGiven = notGiven.has(word) && text !== '';
    if (grade !== undefined || isNotGiven) return { ok: true, grade, comment: words };
    return { ok: false, why: 'a rating without a score where csat.score looks for it: correct that expression' };
  };
}
