import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { contactKey, parseContact } from '../../core/contact.ts';
import { type Journey, journeyStates } from '../journey/journey.ts';
import { addressDigest } from '../journey/journey-keys.ts';
import { refOf } from '../journey/refs.ts';
import type { JourneyStore } from '../journey/store.ts';
import { instant } from '../support/instant.ts';
import { recordIn, type Searched, withinSource } from '../support/journey-filter.ts';
import { isBefore, journeyPage } from '../support/journey-pages.ts';
import { findAnywhere } from '../support/repair.ts';
import { journeyAt, listAt, readPlace, writePlace } from './addresses.ts';
import { mayAct, seesContacts } from './guard.ts';
import { causeOf } from './last-work.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { journeysView, type ListedJourney } from './views/journeys.ts';
import { manyActions } from './views/many.ts';

/** How many journeys a page shows, and how many closeloop reads at most to fill the page. */
const size = 50;
const most = 1_000;
const text = z.string().trim().max(1_000).optional().catch(undefined);
const day = z.iso.date().optional().catch(undefined);
/** The query of the list's address. It identifies nobody: `person` is a keyed digest. */
const Query = z.object({
  state: z.enum(journeyStates).optional().catch(undefined),
  source: text,
  rule: text,
  reason: text,
  /** The cause of an issue: reasons that differ only in instants and numbers have the same cause. */
  cause: text,
  since: day,
  until: day,
  person: text,
  record: text,
  request: text,
  after: text,
});
export type ListQuery = z.output<typeof Query>;

export function queryOf(fields: unknown): ListQuery {
  return Query.parse(fields);
}

const count = z
  .string()
  .regex(/^\d{1,6}$/)
  .optional()
  .catch(undefined);
/** The result of the action that the person has just done with many journeys. */
const ManyResult = z.object({
  did: z.enum(manyActions).optional().catch(undefined),
  done: count,
  refused: count,
  left: count,
});

const Search = z.object({ q: z.string().trim().max(1_000).catch('') });

type Options = Pick<DashboardOptions, 'engine' | 'config' | 'now' | 'seal'>;

/** `/journeys`: the list of journeys, and the search by what a person knows of a customer. */
export function listJourneys(app: FastifyInstance, options: Options): void {
  app.get('/journeys', async (request, reply) => {
    const query = queryOf(request.query);
    const all = await options.engine().sources();
    const page = await journeysOf(query, options, { size, most });
    const nouns = new Map(all.map(({ name, source }) => [name, source.recordNoun]));
    const rules = [...new Set(all.flatMap((context) => context.rules.map(({ name }) => name)))];
    const { timeZone } = options.config().feedback;
    const body = journeysView({
      ...{ ...page, query, timeZone, rules, now: options.now(), contacts: seesContacts(request) },
      ...{ isSearch: isSearch(query), mayAct: mayAct(request), told: ManyResult.parse(request.query) },
      journeys: page.journeys.map((one) => ({ ...one, recordNoun: nouns.get(one.source) })),
      sources: all.map(({ name }) => name),
    });
    return await show(reply, { title: 'Journeys', section: '/journeys', body });
  });
  // The search is a POST, as browsers and proxies keep addresses of pages, and the searched text may be a customer's address.
  app.post('/journeys/search', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    const { q } = Search.parse(request.body ?? {});
    return await reply.redirect(q === '' ? '/journeys' : await addressOf(q, options), 303);
  });
}

function isSearch({ person, record, request }: ListQuery): boolean {
  return [person, record, request].some((one) => (one ?? '') !== '');
}

interface Extent {
  /** How many journeys the caller wants, and how many closeloop reads at most to find them. */
  size: number;
  most: number;
}

/** The journeys that match the query of a list's address. */
export async function journeysOf(query: ListQuery, { engine, config, now }: Omit<Options, 'seal'>, extent: Extent) {
  const { source = '' } = query;
  // A link from before a rename has the source's earlier name.
  const sources = (await engine().sources()).filter(
    ({ name, storedAs }) => source === '' || source === name || source === storedAs,
  );
  if (isSearch(query)) return await searched(sources, query, extent);
  return await listed(sources, query, { ...extent, timeZone: config().feedback.timeZone, now: now() });
}

async function listed(
  sources: readonly Searched[],
  { state, rule, reason, cause, since, until, after }: ListQuery,
  { size, most, ...clock }: Extent & { timeZone: string; now: Date },
): Promise<{ journeys: ListedJourney[]; next?: string; isCut: boolean }> {
  const page = await journeyPage(sources, {
    lists: state === undefined ? journeyStates : [state],
    fits: fitting({ rule, reason, cause }),
    since: since === undefined ? undefined : instant(since, 'From', clock),
    until: until === undefined ? undefined : instant(dayAfter(until), 'Until', clock),
    after: readPlace(after),
    size,
    most,
  });
  const journeys = page.found.map(({ journey, context }) => ({ source: context.name, journey }));
  return { journeys, isCut: page.isCut, ...(page.next && { next: writePlace(page.next) }) };
}

function fitting({
  rule = '',
  reason = '',
  cause = '',
}: Pick<ListQuery, 'rule' | 'reason' | 'cause'>): (journey: Journey) => boolean {
  const part = reason.toLowerCase();
  return (journey) =>
    (rule === '' || journey.rule === rule) &&
    (cause === '' || causeOf(journey.why ?? '') === cause) &&
    (part === '' || journey.reason === part || (journey.why ?? '').toLowerCase().includes(part));
}

/** One page of the journeys that a search found, last changed first. For a person the search covers the newest `most` closings in each source. */
async function searched(
  sources: readonly Searched[],
  { person = '', record = '', request = '', state, rule, reason, cause, after }: ListQuery,
  { size, most }: Extent,
): Promise<{ journeys: ListedJourney[]; next?: string; isCut: boolean }> {
  const fits = fitting({ rule, reason, cause });
  let isCut = false;
  const lists = await Promise.all(
    sources.map(async ({ name, store }) => {
      const known = person === '' ? undefined : await store.queries.newestKnownBy({ digest: person }, most);
      isCut ||= known !== undefined && known.count > most;
      const found = [
        ...(known?.journeys ?? []),
        ...(record === '' ? [] : await store.records.journeysOf(record)),
        ...(request === '' ? [] : await ofRequest(store, request)),
      ];
      return [...new Map(found.map((journey) => [journey.id, { source: name, journey }])).values()];
    }),
  );
  const place = readPlace(after);
  const behind = lists
    .flat()
    .filter(({ journey }) => (state === undefined || journey.state === state) && fits(journey))
    .map((one) => ({ one, at: one.journey.updatedAt.getTime(), ref: refOf(one.source, one.journey.id) }))
    .filter((one) => place === undefined || isBefore(place, one))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const last = behind.length > size ? behind[size - 1] : undefined;
  const journeys = behind.slice(0, size).map(({ one }) => one);
  return last ? { journeys, next: writePlace(last), isCut: false } : { journeys, isCut };
}

async function ofRequest(store: JourneyStore, request: string): Promise<Journey[]> {
  const [id] = await store.requests.journeyIdsOf([request]);
  return id === undefined ? [] : await store.those([id]);
}

/** The record whose page at its vendor has this address; undefined where the address belongs to no record. */
function recordAt({ source }: { source: Pick<Source, 'recordUrl'> }, address: URL): string | undefined {
  const asWritten = (url: URL | null): string | undefined => url?.href.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const parts = address.pathname.split('/').map((part) => decodedPart(part));
  return parts.find((id) => id !== '' && asWritten(URL.parse(source.recordUrl?.(id) ?? '')) === asWritten(address));
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address at which the list shows what this text names: a journey, a record, a feedback request or, by a digest, a person. */
async function addressOf(q: string, { engine, seal, config }: Options): Promise<string> {
  const named = await findAnywhere(engine(), q).catch(() => undefined);
  if (named) return journeyAt(named.context.name, named.journey.id);
  const address = /^https?:/.test(q) ? URL.parse(q) : null;
  let record: string | undefined;
  let request: string | undefined;
  let source: string | undefined;
  for (const context of await engine().sources()) {
    const { name, store } = context;
    const known = address && recordAt(context, address);
    const id = known ?? recordIn(context, q);
    if ((await store.records.journeysOf(id)).length > 0) {
      record = id;
      if (known !== undefined || withinSource(context, q) !== undefined) source = name;
    }
    if ((await store.requests.journeyIdsOf([q]))[0] !== undefined) request = q;
  }
  const { defaultCountry } = config();
  return listAt({
    person: addressDigest(seal, contactKey(parseContact(q, { defaultCountry }))),
    record,
    request,
    source,
  });
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
