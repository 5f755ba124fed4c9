import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { cached } from '../../core/connector/cached.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { type ObjectType, objectTypes, type Properties, paths } from './objects.ts';
import { type HubSpotContact, type HubSpotOwner, timeZoneOf } from './record.ts';
import { type Associated, type Found, Paging, Records } from './records.ts';
import { inWords } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/* Reads the contacts and the owners of records. */

/** The most records in one call that reads their associations. Source: HubSpot's changelog, batch read limit of the associations API. */
const associationsPerCall = 1_000;

/** The most contacts that closeloop reads of a record, lowest ids first. */
const candidatesPerRecord = 10;

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
  { contactLabel, contactProperties: further }: Pick<HubSpotSettings, 'contactLabel' | 'contactProperties'>,
): Promise<Map<string, ContactChoice | CloseloopError>> {
  const candidates = await readCandidates(api, type, ids, contactLabel);
  const contactIds = [...candidates.values()].flatMap((some) => (isFailure(some) ? [] : some.map(({ id }) => id)));
  const contacts = await new Records(api, 'contacts').read(contactIds, [
    ...new Set([...contactProperties, ...further]),
  ]);
  return new Map(
    ids.map((id) => {
      const own = candidates.get(id) ?? [];
      return [id, isFailure(own) ? own : choose(type, own, contacts)];
    }),
  );
}

async function readCandidates(api: HubSpotApi, type: ObjectType, ids: readonly string[], label: number | undefined) {
  const records = new Records(api, objectTypes[type].plural);
  const candidates = new Map<string, Candidate[] | CloseloopError>();
  const readSome = async (some: readonly string[]) => {
    const inputs = some.map((id) => ({ id }));
    const { path, results, errors } = await records.associated('contacts', inputs);
    for (const { from, to } of results) candidates.set(from.id, shortlist(to, label));
    for (const refusal of errors.filter(({ category }) => category !== 'OBJECT_NOT_FOUND')) {
      const failure = new CloseloopError(`HubSpot: POST ${path}: ${inWords(refusal)}`, { kind: 'transient' });
      if (refusal.ids.length === 0) throw failure;
      for (const id of refusal.ids) candidates.set(id, failure);
    }
  };
  await Promise.all(chunks(ids, associationsPerCall).map(readSome));
  return candidates;
}

function shortlist(to: readonly Associated[], label: number | undefined): Candidate[] {
  const all = to
    .map(({ toObjectId: id, associationTypes }) => {
      return { id, labelled: associationTypes.some(({ typeId }) => typeId === label) };
    })
    .sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1)); // ids are numbers, however long
  const labelled = all.filter((candidate) => candidate.labelled);
  return (labelled.length > 0 ? labelled : all).slice(0, candidatesPerRecord);
}

/** A contact that HubSpot doesn't find (deleted meanwhile) is no candidate; a refusal is an error. */
function choose(type: ObjectType, candidates: readonly Candidate[], contacts: Found): ContactChoice | CloseloopError {
  const there: HubSpotContact[] = [];
  for (const { id } of candidates) {
    const row = contacts.get(id);
    if (isFailure(row)) return row;
    if (row !== undefined) there.push(presentContact(row));
  }
  const contact = there.find(({ email }) => email !== null) ?? there[0];
  if (contact === undefined) return { contact: null, why: `the ${type} has no contact` };
  if (candidates.some(({ labelled }) => labelled)) return { contact, why: 'the contact with the configured label' };
  if (candidates.length === 1) return { contact, why: 'the only contact' };
  const rule = contact.email === null ? 'none has an email address, lowest id' : 'lowest id with an email address';
  return { contact, why: `one of ${candidates.length} contacts: ${rule}` };
}

export function presentContact({ id, properties }: { id: string; properties: Properties }): HubSpotContact {
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
  paging: Paging,
});

async function listOwners(api: HubSpotApi, archived: 'true' | 'false'): Promise<Map<string, HubSpotOwner>> {
  const owners = new Map<string, HubSpotOwner>();
  const watch = pageWatch('HubSpot owners');
  for (let query: Record<string, string> = { limit: '100', archived }; ; ) {
    const { results, paging: after } = await api.call('GET', paths.owners, Owners, { query });
    for (const { id, email, firstName, lastName } of results) {
      const name = [firstName, lastName].filter(Boolean).join(' ') || null;
      owners.set(id, { id, name, email: email || null });
    }
    if (after === undefined) return owners;
    watch(after);
    query = { ...query, after };
  }
}

/** Reads the owners of records. The whole list is read once, and cached for minutes. */
export function ownerReader(api: HubSpotApi, now: () => Date) {
  const active = cached(() => listOwners(api, 'false'), keepMs, now);
  const archived = cached(() => listOwners(api, 'true'), keepMs, now);
  const again = () => active(new Date(now().getTime() - againMs));
  const found = (owners: ReadonlyMap<string, HubSpotOwner>, email: string) =>
    [...owners.values()].find((one) => one.email?.toLowerCase() === email.toLowerCase());

  return {
    /** The active owner with this address. */
    withEmail: async (email: string) => found(await active(), email) ?? found(await again(), email),
    /** An owner that HubSpot doesn't list any more keeps its id and has no name. */
    async read(ids: readonly string[]): Promise<Map<string, HubSpotOwner>> {
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
export type OwnerReader = ReturnType<typeof ownerReader>;
