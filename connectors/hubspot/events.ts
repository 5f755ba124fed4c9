import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import {
  type Delivery,
  type EraseEvent,
  type Events,
  mostEvents,
  type RecordEvent,
  type SourceEvent,
} from '../../core/connector/contract.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { type ObjectType, objectTypes, recordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/** HubSpot decodes these twelve escapes in the address, once, before it signs; other escapes (`%20`, `%26`, `%3D`) stay. */
const decoded = new Set(['%3A', '%2F', '%3F', '%40', '%21', '%24', '%27', '%28', '%29', '%2A', '%2C', '%3B']);

/**
 * Accepts only signature v3: an attacker could replay v1 and v2, which HubSpot sends as well, for ever. The tolerance of the time is five
 * minutes in both directions; HubSpot signs a retry anew. Source: HubSpot, request validation.
 * @param publicUrl the address that HubSpot signs, still encoded, if it isn't the delivery's own address
 */
export const proofOf = (publicUrl?: string): HmacScheme => ({
  ...{ header: 'x-hubspot-signature-v3', algorithm: 'sha256', encoding: 'base64' },
  timestamp: { header: 'x-hubspot-request-timestamp', as: 'milliseconds', toleranceMs: 300_000 },
  signed({ method, url, raw }, timestamp) {
    const plain = (code: string) => (decoded.has(code) ? decodeURIComponent(code) : code);
    return [method + (publicUrl ?? url).replace(/%[0-9A-F]{2}/g, plain), raw, timestamp];
  },
});

// Ids have up to 12 digits today; strings allow for more.
const Id = z.union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)]).transform(String);

/** A field of another type (null, a number for a string) counts as left out, so that the event stays readable. */
const lenient = <S extends z.ZodType>(schema: S) => orElse(schema, undefined);
const id = lenient(Id);
/** A string of at most 200 characters: HubSpot's strings are shorter. They become parts of keys, one per record of a merge. */
const text = lenient(z.union([z.string().max(200), z.number()]).transform(String));

/**
 * An event in the classic form (`ticket.propertyChange`) or the generic form (`object.propertyChange` with `objectTypeId`); other fields may
 * hold anything.
 */
const HubSpotEvent = z
  .object({
    /** `eventType`: the name of `subscriptionType` in HubSpot's field table. */
    ...{ subscriptionType: text, eventType: text, eventId: id, portalId: id, appId: id },
    /** Epoch ms. */
    occurredAt: lenient(Id.transform(Number).pipe(z.number().max(8.64e15))),
    ...{
      objectId: id,
      objectTypeId: text,
      propertyName: text,
      propertyValue: text,
      changeSource: text,
      sourceId: text,
    },
    ...{ primaryObjectId: id, mergedObjectIds: lenient(listOf(Id, mostEvents)), newObjectId: id },
    ...{ associationType: text, associationRemoved: lenient(z.boolean()) },
    ...{ fromObjectId: id, fromObjectTypeId: text, toObjectId: id, toObjectTypeId: text },
  })
  .transform(({ eventType, ...event }) => ({ ...event, type: event.subscriptionType ?? eventType ?? '' }));
type HubSpotEvent = z.output<typeof HubSpotEvent>;

type Untimed<Event> = Event extends SourceEvent ? Omit<Event, 'at' | 'key'> : never;
type ReadEvent = Untimed<RecordEvent | EraseEvent>;

/** The events that one HubSpot event means, or why it means none. */
type Reading = ReadEvent[] | { why: string };

/**
 * Reads a delivery. By HubSpot's documentation it is a JSON array of at most 100 events; longer deliveries are signed as well, and accepted.
 * An unreadable event is left out with its reason: HubSpot would repeat a refused delivery ten times.
 */
export function events(body: unknown, delivery: Delivery, settings: HubSpotSettings): Events {
  if (!Array.isArray(body)) return { ok: false, why: 'the body is not a JSON array of HubSpot events' };
  if (body.length > mostEvents) return { ok: false, why: `a delivery may hold ${mostEvents} events at most` };
  const found: SourceEvent[] = [];
  const ignored: { what: string; why: string }[] = [];
  for (const item of body) {
    // The intake refuses a delivery with so many events, so the rest need not be read.
    if (found.length > mostEvents) break;
    const { data: event } = HubSpotEvent.safeParse(item);
    if (event === undefined) {
      ignored.push({ what: 'an event', why: 'it is not a JSON object' });
      continue;
    }
    const { type, propertyName, occurredAt } = event;
    const what = (type || 'an event') + (propertyName ? ` of ${propertyName}` : '');
    const why = unwanted(event, settings);
    const reading = why === undefined ? read(event, settings) : { why };
    const at = occurredAt === undefined ? delivery.receivedAt : new Date(occurredAt);
    if ('why' in reading) ignored.push({ what, why: reading.why });
    else found.push(...reading.map((told) => ({ ...told, at, key: keyOf(event, told) })));
  }
  return { ok: true, events: found, ignored };
}

/** The key of an event, the same for every attempt (so never with `attemptNumber`); `eventId` alone isn't unique. */
function keyOf(
  { portalId, type, eventId, occurredAt, propertyName, toObjectId }: HubSpotEvent,
  told: ReadEvent,
): string {
  const id = told.kind === 'erase' ? told.personIds?.[0] : told.recordId;
  return [portalId, type, id, eventId, occurredAt, propertyName, toObjectId].map((part) => part ?? '').join('|');
}

/**
 * Says why an event is ignored. Only changes of the properties that closeloop writes count as its own echo: another part of the app with the
 * same id may close tickets, and a workflow that a write triggers has another actor but the same closing. The name of the closing covers the
 * remaining cases.
 */
function unwanted(event: HubSpotEvent, settings: HubSpotSettings): string | undefined {
  const { portalId, appId = event.appId, writeBack } = settings;
  if (portalId !== undefined && event.portalId !== portalId) return 'it is of another HubSpot account';
  const { propertyName = '', changeSource, sourceId } = event;
  const written = [writeBack, writeBack.contact].flatMap((places) => [...placesOf(places).values()]);
  if (!written.includes(propertyName)) return undefined;
  const byUs = changeSource === 'INTEGRATION' && appId !== undefined && sourceId === appId;
  return byUs ? 'we changed it ourselves' : 'only we write this property';
}

const noRecord = { why: 'it names no record' };

function read(event: HubSpotEvent, settings: HubSpotSettings): Reading {
  const { objectId, objectTypeId = '', propertyName, propertyValue = '' } = event;
  const [object = '', change = ''] = event.type.split('.');
  if (change === 'associationChange') return readAssociation(event, settings);
  if (change === 'privacyDeletion' && objectId === undefined) return { why: 'it names no contact' };
  if (change === 'privacyDeletion' && objectId)
    return [{ kind: 'erase', personIds: [objectId], what: 'a contact is to be forgotten' }];
  if (object === 'contact' && change === 'deletion')
    return { why: 'only an erasure (privacyDeletion) takes a person out of their journeys' };
  const type = typeOf(object === 'object' ? objectTypeId : object);
  if (type === undefined) return { why: 'neither of a ticket nor of a deal' };
  if (!settings.objects.includes(type)) return { why: `this source's objects don't include ${type}` };
  if (change === 'merge') return readMerge(event, type);
  if (objectId === undefined) return noRecord;
  const one = (kind: 'closed' | 'changed', what: string) => [{ kind, recordId: recordId(type, objectId), what }];
  // Some records are closed from their creation.
  if (change === 'creation') return one('closed', `${type} created`);
  if (change === 'restore') return one('closed', `${type} restored`);
  if (change === 'deletion') return one('changed', `${type} deleted`);
  if (change !== 'propertyChange') return { why: 'this kind of event says nothing about closing' };
  if (propertyName !== objectTypes[type].stage) return { why: 'this property does not close a record' };
  // The trace repeats a stage's id, and no other text.
  return one('closed', `stage is now ${/^[\w-]{1,64}$/.test(propertyValue) ? propertyValue : 'another one'}`);
}

/** The merged records no longer exist; the new record or the primary record remains. */
function readMerge(event: HubSpotEvent, type: ObjectType): Reading {
  const { newObjectId, primaryObjectId, objectId, mergedObjectIds = [] } = event;
  const remaining = newObjectId ?? primaryObjectId ?? objectId;
  if (remaining === undefined) return noRecord;
  const gone = new Set([...mergedObjectIds, ...(primaryObjectId ? [primaryObjectId] : [])]);
  gone.delete(remaining);
  const mergedInto = recordId(type, remaining);
  const what = `merged into ${type} ${remaining}`;
  return [
    ...[...gone].map((id): ReadEvent => ({ kind: 'changed', recordId: recordId(type, id), what, mergedInto })),
    { kind: 'closed', recordId: mergedInto, what: `${type} merged from others` },
  ];
}

/** A new association matters because a closed record may get its contact late. */
function readAssociation(event: HubSpotEvent, { objects }: HubSpotSettings): Reading {
  const { associationType = '', associationRemoved, fromObjectId, fromObjectTypeId = '', toObjectTypeId } = event;
  const [, from = fromObjectTypeId, to = toObjectTypeId] = /^([A-Z]+)_TO_([A-Z]+)$/.exec(associationType) ?? [];
  const type = typeOf(from.toLowerCase());
  if (type === undefined || (to !== 'CONTACT' && to !== '0-1')) return { why: 'not a contact on a ticket or deal' };
  if (associationRemoved) return { why: 'a contact was taken off, which closes nothing' };
  if (fromObjectId === undefined) return noRecord;
  if (!objects.includes(type)) return { why: `this source's objects don't include ${type}` };
  return [{ kind: 'closed', recordId: recordId(type, fromObjectId), what: `contact added to the ${type}` }];
}

const typeOf = (name: string): ObjectType | undefined =>
  (['ticket', 'deal'] as const).find((type) => name === type || name === objectTypes[type].objectTypeId);
