import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { associationsPerCall, BatchResponse, type BatchResult, batchSize, type Fate, fates } from './batch.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';
import { type HubSpotContact, timeZoneOf } from './record.ts';
import { ErrorBody, inWords, refusalOf } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/** The most contacts of a record that are read, lowest ids first. */
const candidatesPerRecord = 10;

const Associations = z.object({
  results: listOf(
    z.object({
      from: z.object({ id: z.coerce.string() }),
      to: listOf(
        z.object({
          // typed as text, sent as a number
          toObjectId: z.coerce.string(),
          associationTypes: listOf(z.object({ typeId: z.number() })).default([]),
        }),
      ),
    }),
  ),
  errors: listOf(ErrorBody).optional(),
});
type Associated = z.output<typeof Associations>['results'][number]['to'];

/** The properties that are read of every contact. */
export const contactProperties = [
  'email',
  'phone',
  'mobilephone',
  'firstname',
  'lastname',
  'hs_language',
  'hs_timezone',
  'country',
  'hs_country_region_code',
  'state',
  'hs_state_code',
];

/** The contact to ask, and how it was chosen: a sentence without personal data. */
export interface ContactChoice {
  contact: HubSpotContact | null;
  why: string;
}

interface Candidate {
  id: string;
  labelled: boolean;
}

/**
 * The contact to ask for each record, or the error of reading it. One associations call per 1,000 records and (with one contact each) one
 * contacts call per 100. HubSpot has no primary contact of a ticket or deal, so of several contacts closeloop takes the one with the configured
 * label, else the first with an email address, else the first; lowest id first.
 */
export async function chooseContacts(
  api: HubSpotApi,
  type: ObjectType,
  ids: readonly string[],
  settings: Pick<HubSpotSettings, 'contactLabel' | 'contactProperties'>,
): Promise<Map<string, ContactChoice | CloseloopError>> {
  const candidates = await readCandidates(api, type, ids, settings.contactLabel);
  const wanted = [...candidates.values()].flatMap((some) => (some instanceof CloseloopError ? [] : some));
  const contacts = await readContacts(
    api,
    wanted.map(({ id }) => id),
    settings.contactProperties,
  );
  return new Map(
    ids.map((id) => {
      const own = candidates.get(id) ?? [];
      return [id, own instanceof CloseloopError ? own : choose(type, own, contacts)];
    }),
  );
}

async function readCandidates(api: HubSpotApi, type: ObjectType, ids: readonly string[], label: number | undefined) {
  const path = paths.contactsOf(objectTypes[type].plural);
  const candidates = new Map<string, Candidate[] | CloseloopError>();
  await Promise.all(
    chunks(ids, associationsPerCall).map(async (some) => {
      const body = { inputs: some.map((id) => ({ id })) };
      const { results, errors = [] } = await api.call('POST', path, Associations, { body });
      for (const { from, to } of results) candidates.set(from.id, shortlist(to, label));
      for (const error of errors) {
        // HubSpot returns an error for a record without contacts, not an empty list
        if (error.category === 'OBJECT_NOT_FOUND' || error.subCategory?.endsWith('NO_ASSOCIATIONS_FOUND')) continue;
        const refusal = refusalOf(0, error);
        const failure = new CloseloopError(`HubSpot: POST ${path}: ${inWords(refusal)}`, { kind: 'transient' });
        if (refusal.ids.length === 0) throw failure;
        for (const id of refusal.ids) candidates.set(id, failure);
      }
    }),
  );
  return candidates;
}

function shortlist(to: Associated, label: number | undefined): Candidate[] {
  const all = to
    .map(({ toObjectId, associationTypes }) => ({
      id: toObjectId,
      labelled: associationTypes.some(({ typeId }) => typeId === label),
    }))
    .sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1)); // ids are numbers, however long
  const labelled = all.filter((candidate) => candidate.labelled);
  return (labelled.length > 0 ? labelled : all).slice(0, candidatesPerRecord);
}

async function readContacts(api: HubSpotApi, ids: readonly string[], extra: readonly string[]) {
  const path = paths.batchRead('contacts');
  const properties = [...new Set([...contactProperties, ...extra])];
  const found = new Map<string, Fate<BatchResult>>();
  await Promise.all(
    chunks([...new Set(ids)], batchSize).map(async (some) => {
      const body = { inputs: some.map((id) => ({ id })), properties, propertiesWithHistory: [] };
      const answer = await api.call('POST', path, BatchResponse, { body });
      for (const [id, fate] of fates(`POST ${path}`, some, answer)) found.set(id, fate);
    }),
  );
  return found;
}

/** A contact that HubSpot doesn't find (deleted since) is no candidate; a refusal is an error. */
function choose(
  type: ObjectType,
  candidates: readonly Candidate[],
  contacts: ReadonlyMap<string, Fate<BatchResult>>,
): ContactChoice | CloseloopError {
  const there: HubSpotContact[] = [];
  for (const { id } of candidates) {
    const fate = contacts.get(id);
    if (fate?.is === 'refused') return fate.error;
    if (fate?.is === 'done') there.push(presentContact(fate.result));
  }
  const chosen = there.find(({ email }) => email !== null) ?? there[0];
  if (chosen === undefined) return { contact: null, why: `the ${type} has no contact` };
  if (candidates.some(({ labelled }) => labelled))
    return { contact: chosen, why: 'the contact with the configured label' };
  if (candidates.length === 1) return { contact: chosen, why: 'the only contact' };
  const rule = chosen.email === null ? 'none has an email address, lowest id' : 'lowest id with an email address';
  return { contact: chosen, why: `one of ${candidates.length} contacts: ${rule}` };
}

export function presentContact({ id, properties }: Pick<BatchResult, 'id' | 'properties'>): HubSpotContact {
  const text = (name: string) => properties[name] || null;
  return {
    id,
    email: text('email'),
    phone: text('phone'),
    mobilePhone: text('mobilephone'),
    firstName: text('firstname'),
    lastName: text('lastname'),
    language: text('hs_language'),
    timeZone: timeZoneOf(properties.hs_timezone) ?? null,
    country: text('hs_country_region_code') ?? text('country'),
    region: text('hs_state_code') ?? text('state'),
    properties,
  };
}
