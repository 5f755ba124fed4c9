import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import {
  type Delivery,
  type Events,
  mostEvents,
  type RecordEvent,
  type SourceEvent,
} from '../../core/connector/contract.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { type ObjectType, objectTypes, recordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/** HubSpot decodes these twelve escapes, once, before it signs; others (`%20`, `%26`, `%3D`) stay. */
const decoded = new Set(['%3A', '%2F', '%3F', '%40', '%21', '%24', '%27', '%28', '%29', '%2A', '%2C', '%3B']);

/**
 * Signature v3 only: v1 and v2, which HubSpot sends as well, can be replayed for ever. The tolerance of the time is five minutes, in
 * both directions; HubSpot signs a retry anew.
 * Source: HubSpot, request validation.
 * @param publicUrl The address that HubSpot signs, still encoded, where it isn't the delivery's.
 */
export const proofOf = (publicUrl?: string): HmacScheme => ({
  ...{ header: 'x-hubspot-signature-v3', algorithm: 'sha256', encoding: 'base64' },
  timestamp: { header: 'x-hubspot-request-timestamp', as: 'milliseconds', toleranceMs: 300_000 },
  signed({ method, url, raw }, timestamp) {
    const address = publicUrl ?? url;
    return [
      method + address.replace(/%[0-9A-F]{2}/g, (code) => (decoded.has(code) ? decodeURIComponent(code) : code)),
      raw,
      timestamp,
    ];
  },
});

// Ids have up to 12 digits today; strings allow for more.
const Id = z.union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)]).transform(String);

/** A field of another type (null, a number for a string) counts as left out, so that the event stays readable. */
const lenient = <S extends z.ZodType>(schema: S) => orElse(schema, undefined);
const id = lenient(Id);
/** HubSpot's strings are shorter. They become parts of keys, one per record of a merge. */
const text = lenient(z.union([z.string().max(200), z.number()]).transform(String));

/** Classic (`ticket.propertyChange`) and generic (`object.propertyChange` with `objectTypeId`) alike; the rest may be anything. */
const HubSpotEvent = z
  .object({
    subscriptionType: text,
    /** The name of `subscriptionType` in HubSpot's field table. */
    eventType: text,
    eventId: id,
    portalId: id,
    appId: id,
    /** Epoch ms. */
    occurredAt: lenient(Id.transform(Number).pipe(z.number().max(8.64e15))),
    objectId: id,
    objectTypeId: text,
    propertyName: text,
    propertyValue: text,
    changeSource: text,
    sourceId: text,
    primaryObjectId: id,
    mergedObjectIds: lenient(z.array(z.unknown()).max(mostEvents).pipe(listOf(Id))),
    newObjectId: id,
    associationType: text,
    associationRemoved: lenient(z.boolean()),
    fromObjectId: id,
    fromObjectTypeId: text,
    toObjectId: id,
    toObjectTypeId: text,
  })
  .transform(({ eventType, ...event }) => ({ ...event, type: event.subscriptionType ?? eventType ?? '' }));
type HubSpotEvent = z.output<typeof HubSpotEvent>;

type Said = { kind: RecordEvent['kind']; id: string | undefined; what: string; mergedInto?: string };

/** The meaning of one event for records, or why it has none. */
type Reading = { type: ObjectType; said: Said[] } | { forget: string } | { why: string };

const contact = '0-1';

/**
 * A delivery is a JSON array of at most 100 events by HubSpot's documentation; longer ones are signed as well, and accepted. An unreadable
 * event is left out with its reason: HubSpot would repeat a refused delivery ten times.
 */
export function events(body: unknown, delivery: Delivery, settings: HubSpotSettings): Events {
  if (!Array.isArray(body)) return { ok: false, why: 'the body is not a JSON array of HubSpot events' };
  if (body.length > mostEvents) return { ok: false, why: `a delivery may hold ${mostEvents} events at most` };
  const found: SourceEvent[] = [];
  const ignored: { what: string; why: string }[] = [];
  for (const item of body) {
    // The intake refuses the whole delivery.
    if (found.length > mostEvents) break;
    const parsed = HubSpotEvent.safeParse(item);
    if (!parsed.success) {
      ignored.push({ what: 'an event', why: 'it is not a JSON object' });
      continue;
    }
    const event = parsed.data;
    const what = [event.type || 'an event', ...(event.propertyName ? [`of ${event.propertyName}`] : [])].join(' ');
    const why = unwanted(event, settings);
    const reading: Reading = why === undefined ? read(event) : { why };
    const at = event.occurredAt === undefined ? delivery.receivedAt : new Date(event.occurredAt);
    if ('why' in reading) ignored.push({ what, why: reading.why });
    else if ('forget' in reading) {
      const { forget: id } = reading;
      found.push({ kind: 'erase', personIds: [id], at, key: keyOf(event, id), what: 'a contact is to be forgotten' });
    } else if (!settings.objects.includes(reading.type)) {
      ignored.push({ what, why: `this source's objects don't include ${reading.type}` });
    } else {
      for (const { kind, id, what, mergedInto } of reading.said) {
        if (id === undefined) continue;
        const more = mergedInto === undefined ? {} : { mergedInto: recordId(reading.type, mergedInto) };
        found.push({ kind, recordId: recordId(reading.type, id), at, key: keyOf(event, id), what, ...more });
      }
    }
  }
  return { ok: true, events: found, ignored };
}

/** The same for every attempt at this event (so never `attemptNumber`); `eventId` alone isn't unique. */
function keyOf(event: HubSpotEvent, id: string): string {
  const { portalId, type, eventId, occurredAt, propertyName, toObjectId } = event;
  return [portalId, type, id, eventId, occurredAt, propertyName, toObjectId].map((part) => part ?? '').join('|');
}

/**
 * Only changes of properties that closeloop writes are its own echo: another part of the app with the same id may close tickets, and a
 * workflow that a write triggers has another actor but the same closing. The closing recognises what remains.
 */
function unwanted(
  event: HubSpotEvent,
  { portalId, appId = event.appId, writeBack }: HubSpotSettings,
): string | undefined {
  if (portalId !== undefined && event.portalId !== portalId) return 'it is of another HubSpot account';
  const { propertyName, changeSource, sourceId } = event;
  if (propertyName === undefined || !writtenBy(writeBack).has(propertyName)) return undefined;
  const byUs = changeSource === 'INTEGRATION' && appId !== undefined && sourceId === appId;
  return byUs ? 'we changed it ourselves' : 'only we write this property';
}

/** The properties that closeloop writes, on records and on contacts. */
const writtenBy = (writeBack: HubSpotSettings['writeBack']): Set<string> =>
  new Set([writeBack, writeBack.contact].flatMap((places) => [...placesOf(places).values()]));

function read(event: HubSpotEvent): Reading {
  const [object = '', change = ''] = event.type.split('.');
  if (change === 'associationChange') return readAssociation(event);
  if (change === 'privacyDeletion') return event.objectId ? { forget: event.objectId } : { why: 'it names no contact' };
  const type = typeOf(object === 'object' ? (event.objectTypeId ?? '') : object);
  if (type === undefined && object === 'contact' && change === 'deletion')
    return { why: 'only an erasure (privacyDeletion) takes a person out of their journeys' };
  if (type === undefined) return { why: 'neither of a ticket nor of a deal' };
  if (event.objectId === undefined && change !== 'merge') return { why: 'it names no record' };
  const one = (kind: Said['kind'], what: string): Reading => ({ type, said: [{ kind, id: event.objectId, what }] });
  switch (change) {
    case 'creation':
      return one('closed', `${type} created`); // some are born closed
    case 'restore':
      return one('closed', `${type} restored`);
    case 'deletion':
      return one('changed', `${type} deleted`);
    case 'merge':
      return readMerge(event, type);
    case 'propertyChange':
      if (event.propertyName !== objectTypes[type].stage) return { why: 'this property does not close a record' };
      return one('closed', `stage is now ${stageText(event.propertyValue)}`);
    default:
      return { why: 'this kind of event says nothing about closing' };
  }
}

/** The merged records are gone; what remains is a new record, or the primary one. */
function readMerge(event: HubSpotEvent, type: ObjectType): Reading {
  const remaining = event.newObjectId ?? event.primaryObjectId ?? event.objectId;
  if (remaining === undefined) return { why: 'it names no record' };
  const gone = new Set([...(event.mergedObjectIds ?? []), ...(event.primaryObjectId ? [event.primaryObjectId] : [])]);
  gone.delete(remaining);
  return {
    type,
    said: [
      ...[...gone].map(
        (id): Said => ({ kind: 'changed', id, what: `merged into ${type} ${remaining}`, mergedInto: remaining }),
      ),
      { kind: 'closed', id: remaining, what: `${type} merged from others` },
    ],
  };
}

/** A closed record may get its contact late. */
function readAssociation(event: HubSpotEvent): Reading {
  const [, from = event.fromObjectTypeId ?? '', to = event.toObjectTypeId ?? ''] =
    /^([A-Z]+)_TO_([A-Z]+)$/.exec(event.associationType ?? '') ?? [];
  const type = typeOf(from.toLowerCase());
  if (type === undefined || (to !== 'CONTACT' && to !== contact)) return { why: 'not a contact on a ticket or deal' };
  if (event.associationRemoved) return { why: 'a contact was taken off, which closes nothing' };
  if (event.fromObjectId === undefined) return { why: 'it names no record' };
  return { type, said: [{ kind: 'closed', id: event.fromObjectId, what: `contact added to the ${type}` }] };
}

function typeOf(name: string): ObjectType | undefined {
  if (name === 'ticket' || name === objectTypes.ticket.objectTypeId) return 'ticket';
  if (name === 'deal' || name === objectTypes.deal.objectTypeId) return 'deal';
  return undefined;
}

/** A stage's id; any other text is not repeated. */
const stageText = (value: string | undefined) => (/^[\w-]{1,64}$/.test(value ?? '') ? value : 'another one');
