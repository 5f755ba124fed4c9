import { parseContact } from '../../core/contact.ts';
import type { Journey } from '../journey/journey.ts';
import type { Found, Searched } from './journey-filter.ts';

/** What became of one closing, in a sentence, and what a person can do about it. */
export interface Explanation {
  /** Whether the customer was asked; undefined: that is not known, or not decided yet. */
  isAsked?: boolean;
  what: string;
  /** A command's words, without the journey's name. */
  remedy?: 'journeys replay' | 'journeys resolve';
}

/** The reason for the present state of a journey. Instants in ISO 8601, UTC; no personal data. */
export function explain(journey: Journey): Explanation {
  const { state, why = 'the reason was not stored', askedAt, answer, dueAt, erasedAt } = journey;
  const at = (instant: Date | undefined) => (instant ? ` at ${instant.toISOString()}` : '');
  if (erasedAt) return { what: `the customer was erased${at(erasedAt)}: nothing more is known` };
  switch (state) {
    case 'received':
      return { what: 'its delivery was stored, and nothing is decided yet' };
    case 'skipped':
      return { isAsked: false, what: `not asked: ${why}` };
    case 'waiting':
      return { isAsked: false, what: `to be asked${at(dueAt)}` };
    case 'creating':
      return { what: 'being asked: whether the service has taken the request is not known yet' };
    case 'asked':
      return { isAsked: true, what: `asked${at(askedAt)}; no answer yet` };
    case 'answered':
      return { isAsked: true, what: `asked${at(askedAt)}, answered${at(answer?.seenAt)}; not on the record yet` };
    case 'written':
      return { isAsked: true, what: `asked${at(askedAt)}, answered${at(answer?.seenAt)}; on the record` };
    case 'expired':
      return { isAsked: true, what: `asked${at(askedAt)}; nobody answered in time` };
    case 'tested':
      return { isAsked: false, what: `the request went to the test contact${at(askedAt)}` };
    case 'cancelled':
      return { isAsked: answer !== undefined, what: `cancelled: ${why}` };
    case 'failed':
      return {
        ...(askedAt ? { isAsked: true } : { isAsked: false }),
        what: `given up: ${why}`,
        remedy: 'journeys replay',
      };
    case 'parked':
      return { ...(askedAt && { isAsked: true }), what: `waits for a person: ${why}`, remedy: 'journeys resolve' };
  }
}

/**
 * The journeys of a customer, by any of their addresses, or of a record; a journey's own name, `<source>/<id>`, finds that journey.
 * Newest closing first.
 * @param asked an e-mail address, a phone number, an identifier, a record as people name it, or a journey
 */
export async function closingsOf<In extends Searched>(sources: readonly In[], asked: string): Promise<Found<In>[]> {
  const text = asked.trim();
  const found = await Promise.all(
    sources.map(async (context) => {
      const { name, store, source, aliases, defaultCountry } = context;
      const isOfIt = text.startsWith(`${name}/`);
      const named = isOfIt ? await store.get(text.slice(name.length + 1)) : undefined;
      if (named) return [{ journey: named, context }];
      const record = source?.recordNames ? source.recordNames.parse(text) : text;
      const [ofContact, ofRecord] = await Promise.all([
        store.queries.knownBy({ contact: parseContact(text, { defaultCountry }) }),
        record === undefined ? [] : store.records.journeysOf(aliases.of(record)),
      ]);
      const journeys = new Map([...ofContact, ...ofRecord].map((journey) => [journey.id, journey]));
      return [...journeys.values()].map((journey) => ({ journey, context }));
    }),
  );
  return found.flat().sort((a, b) => b.journey.closedAt.getTime() - a.journey.closedAt.getTime());
}
