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

/** HubSpot decodes these twelve escapes, once, before it signs; others (`%20`, `%26`, `%3D`) stay. */
const decoded = new Set(['%3A', '%2F', '%3F', '%40', '%21', '%24', '%27', '%28', '%29', '%2A', '%2C', '%3B']);

/**
 * Signature v3 only: v1 and v2, which HubSpot sends as well, can be replayed for ever. The tolerance of the time is five minutes, in
 * both directions; HubSpot signs a retry anew. Source: HubSpot, request validation.
 * @param publicUrl The address that HubSpot signs, still encoded, where it isn't the delivery's.
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
/** HubSpot's strings are shorter. They become parts of keys, one per record of a merge. */
const text = lenient(z.union([z.string().max(200), z.number()]).transform(String));

/** Classic (`ticket.propertyChange`) and generic (`object.propertyChange` with `objectTypeId`) alike; the rest may be anything. */
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

/** What one event says, or why it says nothing. */
type Reading = ReadEvent[] | { why: string };

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

/** The same for every attempt at this event (so never `attemptNumber`); `eventId` alone isn't unique. */
function keyOf(
  { portalId, type, eventId, occurredAt, propertyName, toObjectId }: HubSpotEvent,
  told: ReadEvent,
): string {
  const id = told.kind === 'erase' ? told.personIds?.[0] : told.recordId;
  return [portalId, type, id, eventId, occurredAt, propertyName, toObjectId].map((part) => part ?? '').join('|');
}

/**
 * Only changes of properties that closeloop writes are its own echo: another part of the app with the same id may close tickets, and a
 * workflow that a write triggers has another actor but the same closing. The closing recognises what remains.
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
  // Some are born closed.
  if (change === 'creation') return one('closed', `${type} created`);
  if (change === 'restore') return one('closed', `${type} restored`);
  if (change === 'deletion') return one('changed', `${type} deleted`);
  if (change !== 'propertyChange') return { why: 'this kind of event says nothing about closing' };
  if (propertyName !== objectTypes[type].stage) return { why: 'this property does not close a record' };
  // A stage's id; any other text is not repeated.
  return one('closed', `stage is now ${/^[\w-]{1,64}$/.test(propertyValue) ? propertyValue : 'another one'}`);
}

/** The merged records are gone; what remains is a new record, or the primary one. */
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

/** A closed record may get its contact late. */
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
