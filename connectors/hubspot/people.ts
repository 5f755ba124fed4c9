import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { cached } from '../../core/connector/cached.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { type BatchResult, batchSize, type Fate, fates, readBatch } from './batch.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';
import { type HubSpotContact, type HubSpotOwner, timeZoneOf } from './record.ts';
import { ErrorBody, inWords, refusalOf } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/* Reads the contacts and the owners of records. */

/** The most records in one call that reads their associations. Source: HubSpot's changelog, batch read limit of the associations API. */
const associationsPerCall = 1_000;

/** The most contacts that closeloop reads of a record, lowest ids first. */
const candidatesPerRecord = 10;

// HubSpot's types say that an id is text, but its API sends a number.
const AssociationType = z.object({ typeId: z.number() });
const Associated = z.object({ toObjectId: z.coerce.string(), associationTypes: listOf(AssociationType).default([]) });
const Associations = z.object({
  results: listOf(z.object({ from: z.object({ id: z.coerce.string() }), to: listOf(Associated) })),
  errors: listOf(ErrorBody).default([]),
});

/** The properties that closeloop reads of every contact. */
export const contactProperties = [
  ...['email', 'phone', 'mobilephone', 'firstname', 'lastname', 'hs_language', 'hs_timezone'],
  ...['country', 'hs_country_region_code', 'state', 'hs_state_code'],
];

/** The contact to ask, and a sentence without personal data that says how closeloop chose the contact. */
export interface ContactChoice {
  contact: HubSpotContact | null;
  why: string;
}

interface Candidate {
  id: string;
  labelled: boolean;
}

/**
 * The contact to ask for each record, or the error of reading it. Makes one associations call per 1,000 records, and (with one contact each)
 * one contacts call per 100 records. HubSpot marks no contact of a ticket or deal as primary, so among several contacts closeloop takes the
 * contact with the configured label, else the first with an e-mail address, else the first; lowest id first.
 */
export async function chooseContacts(
  api: HubSpotApi,
  type: ObjectType,
  ids: readonly string[],
  { contactLabel, contactProperties }: Pick<HubSpotSettings, 'contactLabel' | 'contactProperties'>,
): Promise<Map<string, ContactChoice | CloseloopError>> {
  const candidates = await readCandidates(api, type, ids, contactLabel);
  const wanted = [...candidates.values()].flatMap((some) => (some instanceof CloseloopError ? [] : some));
  const contacts = await readContacts(api, [...new Set(wanted.map(({ id }) => id))], contactProperties);
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
      const { results, errors } = await api.call('POST', path, Associations, { body });
      for (const { from, to } of results) candidates.set(from.id, shortlist(to, label));
      for (const error of errors) {
        // HubSpot returns an error, and not an empty list, for a record without contacts.
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

function shortlist(to: readonly z.output<typeof Associated>[], label: number | undefined): Candidate[] {
  const all = to
    .map(({ toObjectId: id, associationTypes }) => {
      return { id, labelled: associationTypes.some(({ typeId }) => typeId === label) };
    })
    .sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1)); // ids are numbers, however long
  const labelled = all.filter((candidate) => candidate.labelled);
  return (labelled.length > 0 ? labelled : all).slice(0, candidatesPerRecord);
}

async function readContacts(api: HubSpotApi, ids: readonly string[], further: readonly string[]) {
  const properties = [...new Set([...contactProperties, ...further])];
  const read = chunks(ids, batchSize).map(async (some) =>
    fates(paths.batchRead('contacts'), some, await readBatch(api, 'contacts', some, properties)),
  );
  return new Map((await Promise.all(read)).flatMap((found) => [...found]));
}

/** A contact that HubSpot doesn't find (deleted meanwhile) is no candidate; a refusal is an error. */
function choose(
  type: ObjectType,
  candidates: readonly Candidate[],
  contacts: ReadonlyMap<string, Fate>,
): ContactChoice | CloseloopError {
  const there: HubSpotContact[] = [];
  for (const { id } of candidates) {
    const fate = contacts.get(id);
    if (fate?.is === 'refused') return fate.error;
    if (fate?.is === 'done') there.push(presentContact(fate.result));
  }
  const contact = there.find(({ email }) => email !== null) ?? there[0];
  if (contact === undefined) return { contact: null, why: `the ${type} has no contact` };
  if (candidates.some(({ labelled }) => labelled)) return { contact, why: 'the contact with the configured label' };
  if (candidates.length === 1) return { contact, why: 'the only contact' };
  const rule = contact.email === null ? 'none has an email address, lowest id' : 'lowest id with an email address';
  return { contact, why: `one of ${candidates.length} contacts: ${rule}` };
}

export function presentContact({ id, properties }: Pick<BatchResult, 'id' | 'properties'>): HubSpotContact {
  const text = (name: string) => properties[name] || null;
  return {
    ...{ id, email: text('email'), phone: text('phone'), mobilePhone: text('mobilephone') },
    ...{ firstName: text('firstname'), lastName: text('lastname'), language: text('hs_language') },
    timeZone: timeZoneOf(properties.hs_timezone) ?? null,
    country: text('hs_country_region_code') ?? text('country'),
    region: text('hs_state_code') ?? text('state'),
    properties,
  };
}

const keepMs = 10 * 60_000;
const againMs = 60_000;

const name = z.string().nullish();
const Owners = z.object({
  results: listOf(z.object({ id: z.coerce.string(), email: name, firstName: name, lastName: name })),
  paging: z.object({ next: z.object({ after: z.coerce.string() }).nullish() }).nullish(),
});

/** Reads the owners of records. The whole list is read once, and cached for minutes. */
export interface OwnerReader {
  /** An owner that HubSpot doesn't list any more keeps its id and has no name. */
  read(ids: readonly string[]): Promise<Map<string, HubSpotOwner>>;
  /** The active owner with this address. */
  withEmail(email: string): Promise<HubSpotOwner | undefined>;
}

export function ownerReader(api: HubSpotApi, now: () => Date): OwnerReader {
  const active = cached(() => list('false'), keepMs, now);
  const archived = cached(() => list('true'), keepMs, now);
  const again = () => active(new Date(now().getTime() - againMs));

  async function list(archived: 'true' | 'false'): Promise<Map<string, HubSpotOwner>> {
    const owners = new Map<string, HubSpotOwner>();
    const watch = pageWatch('HubSpot owners');
    let after: string | undefined;
    do {
      const query = { limit: '100', archived, ...(after !== undefined && { after }) };
      const { results, paging } = await api.call('GET', paths.owners, Owners, { query });
      for (const { id, email, firstName, lastName } of results) {
        const name = [firstName, lastName].filter(Boolean).join(' ') || null;
        owners.set(id, { id, name, email: email || null });
      }
      after = paging?.next?.after;
      if (after !== undefined) watch(after);
    } while (after !== undefined);
    return owners;
  }

  const found = (owners: ReadonlyMap<string, HubSpotOwner>, email: string) =>
    [...owners.values()].find((one) => one.email?.toLowerCase() === email.toLowerCase());

  return {
    withEmail: async (email) => found(await active(), email) ?? found(await again(), email),
    async read(ids) {
      if (ids.length === 0) return new Map();
      let known = await active();
      const lacks = () => ids.some((id) => !known.has(id));
      // A missing owner is deactivated, or newer than the cached list.
      if (lacks()) known = new Map([...(await archived()), ...known]);
      if (lacks()) known = new Map([...known, ...(await again())]);
      return new Map(ids.map((id) => [id, known.get(id) ?? { id, name: null, email: null }]));
    },
  };
}
