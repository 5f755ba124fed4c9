import { z } from 'zod';
import type { StandinRequest, StandinResponse } from '../../../standins/kit/message.ts';
import type { Facts } from './oracle.ts';
import { flags, type PersonFacts, subjects, type Vendor } from './planned-record.ts';

/** What one call of a vendor returned, of a record's own data, of who its customers are, or of a customer. */
type Sight =
  | { of: 'ticket'; id: number; shows: Facts['ticket'] }
  | { of: 'holder'; id: number; shows: number | undefined }
  | { of: 'person'; id: number; shows: PersonFacts };

type At<T> = { at: number; shows: T };

/** A record as the parts of one reading showed it. `at`: when the first of them was answered. */
export interface Reading {
  at: number;
  facts: Facts;
  /** The vendor's id of the customer. */
  personId: number | undefined;
}

/**
 * What the vendors returned to whoever read records as fully as a decision needs them, and when. Readings that look at the state alone, and those
 * that write-backs make, are none. The stand-ins can't tell for which job a record was read: all readings just before a request may have
 * been its own.
 */
export class Sightings {
  readonly #seen = {
    ticket: new Map<string, At<Facts['ticket']>[]>(),
    holder: new Map<string, At<number | undefined>[]>(),
    person: new Map<string, At<PersonFacts>[]>(),
  };

  note(vendor: Vendor, at: number, sights: readonly Sight[]): void {
    for (const sight of sights) {
      const key = `${vendor}:${sight.id}`;
      if (sight.of === 'ticket') push(this.#seen.ticket, key, { at, shows: sight.shows });
      else if (sight.of === 'holder') push(this.#seen.holder, key, { at, shows: sight.shows });
      else push(this.#seen.person, key, { at, shows: sight.shows });
    }
  }

  /** Every reading of a record whose parts were all returned within these instants, oldest first. */
  readings({ vendor, id }: { vendor: Vendor; id: number }, from: number, until: number): Reading[] {
    const within = <T>(seen: Map<string, At<T>[]>, of: number): At<T>[] =>
      distinct((seen.get(`${vendor}:${of}`) ?? []).filter(({ at }) => from <= at && at <= until));
    const tickets = within(this.#seen.ticket, id);
    const holders = within(this.#seen.holder, id);
    return tickets
      .flatMap((ticket) =>
        holders.flatMap(({ at, shows: personId }): Reading[] => {
          const reading = { at: Math.min(ticket.at, at), personId };
          if (personId === undefined) return [{ ...reading, facts: { ticket: ticket.shows, person: undefined } }];
          return within(this.#seen.person, personId).map((person) => ({
            ...reading,
            at: Math.min(reading.at, person.at),
            facts: { ticket: ticket.shows, person: person.shows },
          }));
        }),
      )
      .sort((a, b) => a.at - b.at);
  }

  /** When the record was last read before an instant, however incompletely. */
  lastBefore({ vendor, id }: { vendor: Vendor; id: number }, instant: number): number | undefined {
    return this.#seen.ticket.get(`${vendor}:${id}`)?.findLast(({ at }) => at <= instant)?.at;
  }
}

/** Of equal ones that follow each other within a second the last. Others may have been met by other rules. */
function distinct<T>(seen: readonly At<T>[]): At<T>[] {
  return seen.filter(({ at, shows }, i) => {
    const next = seen[i + 1];
    return next === undefined || next.at - at > 1_000 || JSON.stringify(next.shows) !== JSON.stringify(shows);
  });
}

const Ticket = z.object({
  id: z.number(),
  status: z.string(),
  subject: z.enum(subjects),
  tags: z.array(z.string()),
  requester_id: z.number(),
  custom_fields: z.array(z.object({ id: z.number(), value: z.unknown() })),
});
const User = z.object({
  id: z.number(),
  email: z.string().nullable(),
  locale: z.string(),
  iana_time_zone: z.string(),
});
const Page = z.object({ tickets: z.array(Ticket), users: z.array(User).optional() });

/** The help desk's ticket field that rules look at. */
export const storeField = 360003;

/** What an answer of a help desk shows: all parts at once, where users are loaded beside the tickets. */
export function seenAtDesk(req: Pick<StandinRequest, 'path' | 'query'>, response: StandinResponse): Sight[] {
  const isFull = req.query.get('include')?.split(',').includes('users') === true;
  if (!req.path.startsWith('/api/v2/tickets/show_many') || response.status !== 200 || !isFull) return [];
  const { tickets, users = [] } = Page.parse(plain(response.body));
  return [
    ...tickets.flatMap((ticket): Sight[] => [
      { of: 'ticket', id: ticket.id, shows: factsOf(ticket) },
      { of: 'holder', id: ticket.id, shows: ticket.requester_id },
    ]),
    ...users.flatMap(({ id, email, locale, iana_time_zone: zone }): Sight[] => {
      const language = languageOf(locale);
      return email === null || language === undefined ? [] : [{ of: 'person', id, shows: { email, language, zone } }];
    }),
  ];
}

function factsOf({ status, subject, tags, custom_fields }: z.output<typeof Ticket>): Facts['ticket'] {
  const store = custom_fields.find(({ id }) => id === storeField)?.value;
  const flag = flags.find((one) => one !== '' && tags.includes(one)) ?? '';
  return { subject, store: String(store ?? ''), flag, isClosed: status === 'solved' || status === 'closed' };
}

const Record = z.object({ id: z.coerce.number(), properties: z.record(z.string(), z.string().nullish()) });
const Batch = z.object({ results: z.array(Record) });
const Wanted = z.object({
  inputs: z.array(z.object({ id: z.coerce.number() })),
  properties: z.array(z.string()).optional(),
});
const Associated = z.object({
  results: z.array(
    z.object({ from: z.object({ id: z.coerce.number() }), to: z.array(z.object({ toObjectId: z.number() })) }),
  ),
});

/** What an answer of the CRM shows: three calls make one reading. */
export function seenAtCrm(req: Pick<StandinRequest, 'path' | 'raw'>, response: StandinResponse): Sight[] {
  if (!req.path.endsWith('/batch/read') || response.status >= 300) return [];
  const wanted = Wanted.parse(JSON.parse(req.raw.toString('utf8')));
  const body = plain(response.body);
  if (req.path.endsWith('/tickets/contacts/batch/read')) {
    const holders = new Map(Associated.parse(body).results.map(({ from, to }) => [from.id, to[0]?.toObjectId]));
    return wanted.inputs.map(({ id }) => ({ of: 'holder', id, shows: holders.get(id) }));
  }
  if (req.path.endsWith('/tickets/batch/read') && wanted.properties?.includes('subject')) {
    return Batch.parse(body).results.map(({ id, properties }) => ({
      of: 'ticket',
      id,
      shows: {
        subject: z.enum(subjects).parse(properties.subject),
        store: properties.store ?? '',
        flag: z.enum(flags).parse(properties.flag ?? ''),
        isClosed: properties.hs_pipeline_stage === '4',
      },
    }));
  }
  if (!req.path.endsWith('/contacts/batch/read')) return [];
  return Batch.parse(body).results.flatMap(({ id, properties }): Sight[] => {
    const { email, hs_language, hs_timezone: zone } = properties;
    const language = languageOf(hs_language ?? '');
    return email && zone && language
      ? [{ of: 'person', id, shows: { email, language, zone: zone.replaceAll('_slash_', '/') } }]
      : [];
  });
}

function languageOf(locale: string): PersonFacts['language'] | undefined {
  return z.enum(['en', 'et', 'fi']).safeParse(locale).data;
}

/** As it goes over the wire. */
const plain = (body: StandinResponse['body']): unknown => JSON.parse(JSON.stringify(body ?? null));

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
