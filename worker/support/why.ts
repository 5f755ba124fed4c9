import { contactKey } from '../../core/contact.ts';
import type { Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import type { Holds } from '../operations/holds.ts';
import type { Pauses } from '../operations/pauses.ts';
import type { RedisClient } from '../redis/client.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';
import { type Explanation, explain, type Standing } from './explain.ts';
import { knownRecordIn, type Searched, withinSource } from './journey-filter.ts';
import { peopleNamed } from './named-contacts.ts';
import { isErased } from './people.ts';
import type { ExplainedRecord } from './why-record.ts';

/** The explanation why a customer was asked or not. */
export interface Answer {
  /** Newest first: the first one tells the reason of today. */
  closings: readonly ExplainedClosing[];
  /** How many earlier closings are left out. */
  earlier: number;
  records: readonly ExplainedRecord[];
  /** They were erased: nothing is kept of their closings. */
  isErased: boolean;
  /** For each source that was searched: the reasons that hold up its closings. */
  sources: readonly Standing[];
}

export interface ExplainedClosing extends Explanation {
  ref: string;
  source: string;
  journey: Journey;
  timeZone: string;
  /** While it waits: why the customer is to be asked then, from its trace. After an answer: what that has led to. */
  because: readonly string[];
}

type PersonSource = Searched & Parameters<typeof isErased>[1][number];

/** A source, with what can hold it up. */
export interface AskedSource<Context extends PersonSource = PersonSource> {
  context: Context;
  pauses: Pick<Pauses, 'list'>;
  holds: Pick<Holds, 'list'>;
}

/** How many closings are explained at most, and how many records are read at their vendors. */
const mostClosings = 20;
const mostRecords = 5;

/**
 * Why a customer was asked or not: every closing of theirs, or of a record, and what is true of the records now. Sends, stores and
 * reserves nothing.
 * @param about any address of the customer, a record as people name it, `<source>/<record>`, or a journey
 * @param options `explainRecord`: reads a record at its vendor; left out: neither vendor nor service is called
 */
export async function answerWhy<Context extends PersonSource>(
  sources: readonly AskedSource<Context>[],
  about: string,
  {
    redis,
    explainRecord,
  }: {
    redis: RedisClient;
    explainRecord?: ((id: string, context: Context, standing: Standing) => Promise<ExplainedRecord>) | undefined;
  },
): Promise<Answer> {
  const text = about.trim();
  const contexts = sources.map(({ context }) => context);
  const found = await Promise.all(
    sources.map(async (source) => {
      const [standing, closings] = await Promise.all([standingOf(source, redis), closingsIn(source.context, text)]);
      return { context: source.context, standing, ...closings };
    }),
  );
  const last = found
    .flatMap(({ closings, ...source }) => closings.map((closing) => ({ ...source, ...closing })))
    .sort((a, b) => b.journey.closedAt.getTime() - a.journey.closedAt.getTime())
    .slice(0, mostClosings);
  const [closings, records] = await Promise.all([
    Promise.all(last.map(explained)),
    explainRecord
      ? Promise.all(recordsOf(found).map((one) => explainRecord(one.record, one.context, one.standing)))
      : [],
  ]);
  return {
    closings: closings.map((one) => unlessSkipped(one, records)),
    earlier: found.reduce((sum, { count }) => sum + count, -last.length),
    records,
    isErased: closings.length === 0 && (await wereErased(text, contexts)),
    sources: found.map(({ standing }) => standing),
  };
}

async function wereErased(text: string, contexts: readonly PersonSource[]): Promise<boolean> {
  const [defaultCountry] = contexts.map((context) => context.defaultCountry);
  const found = await Promise.all(peopleNamed(text, { defaultCountry }).map((one) => isErased(one, contexts)));
  return found.includes(true);
}

/** Why there is no closing, for a person or a record of which none is known. */
export function unheardOf({ isErased, sources }: Pick<Answer, 'isErased' | 'sources'>): string {
  if (isErased) return 'They were erased: closeloop keeps nothing of their closings.';
  const mayWait = sources.some(({ notPlanned }) => notPlanned > 0);
  return `closeloop has never heard of a closing of theirs, or has removed it after its time${mayWait ? ', or it is among the events that wait' : ''}. A request that somebody made by hand belongs to no closing.`;
}

/** A closing that waits, though nobody would be asked about its record as that is now: the reason goes with the planned time. */
function unlessSkipped(closing: ExplainedClosing, records: readonly ExplainedRecord[]): ExplainedClosing {
  const now = records.find(({ journey }) => journey === closing.ref)?.ifClosedNow;
  if (closing.journey.state !== 'waiting' || now?.decision !== 'skip') return closing;
  // Those depend on the closing: another closing of the record may have another answer.
  if (now.reason === 'sample' || now.reason === 'too-old') return closing;
  return { ...closing, what: `${closing.what}; as things are now nobody would be asked then: ${now.why}` };
}

async function explained({
  journey,
  isThroughOther,
  context: { name, timeZone, store },
  standing,
}: Closing & { context: Searched; standing: Standing }): Promise<ExplainedClosing> {
  const trace = journey.state === 'waiting' ? await store.trace(journey) : [];
  // The last step: what it came to stands last.
  const { at } = trace.at(-1) ?? {};
  const because = trace.flatMap((line) => (line.at.getTime() === at?.getTime() ? [line.text] : [])).slice(0, -1);
  return {
    ref: refOf(name, journey.id),
    source: name,
    journey,
    timeZone,
    because: [...because, ...actsInWords(journey)],
    ...explain(journey, { standing, isThroughOther }),
  };
}

/** Each answer rule that led to something, with its actions: 'answer rule "unhappy": reopen done, note parked (no such group)'. */
function actsInWords({ acting }: Pick<Journey, 'acting'>): string[] {
  const byRule = Map.groupBy(acting?.acts ?? [], ({ rule }) => rule);
  return [...byRule].map(([rule, acts]) => {
    const each = acts.map(({ name, state, why }) => `${name} ${state}${why === undefined ? '' : ` (${why})`}`);
    return `answer rule "${rule}": ${each.join(', ')}`;
  });
}

async function standingOf({ context, pauses, holds }: AskedSource, redis: RedisClient): Promise<Standing> {
  const { name, storedAs, timeZone } = context;
  const [paused, held, notPlanned] = await Promise.all([
    pauses.list(),
    holds.list(),
    queuedJobs(redis, storedAs, 'plan'),
  ]);
  return { source: name, timeZone, paused, held, notPlanned };
}

interface Closing {
  journey: Journey;
  isThroughOther: boolean;
}

interface FoundClosings<Context> extends ClosingsIn {
  context: Context;
  standing: Standing;
}

/** The closings that one source has. */
interface ClosingsIn {
  /** The newest. */
  closings: readonly Closing[];
  /** The number of all closings. */
  count: number;
  /** The record that the text would name, if no closing of that record is known. */
  record?: string | undefined;
}

async function closingsIn(context: Searched, text: string): Promise<ClosingsIn> {
  const { store, source, defaultCountry } = context;
  const own = withinSource(context, text);
  const named = own === undefined ? undefined : await store.get(own);
  if (named) return { closings: [directly(named)], count: 1 };
  const record = knownRecordIn(context, text);
  const ofRecord = record === undefined ? [] : await store.records.journeysOf(record);
  if (own !== undefined) return { closings: ofRecord.map(directly), count: ofRecord.length, record };
  const who = peopleNamed(text, { defaultCountry });
  const found = await Promise.all(who.map((contact) => store.queries.newestKnownBy({ contact }, mostClosings)));
  const ofPerson = new Map(found.flatMap(({ journeys }) => journeys.map((journey) => [journey.id, journey])));
  const twice = found.reduce((sum, { journeys }) => sum + journeys.length, -ofPerson.size);
  const keys = new Set(who.map(contactKey));
  const isOfRecord = new Set(ofRecord.map(({ id }) => id));
  const isThroughOther = ({ id, contact }: Journey) =>
    contact !== undefined && !keys.has(contactKey(contact)) && !isOfRecord.has(id);
  const others = ofRecord.filter((journey) => !who.some((one) => store.queries.isKnownBy(journey, one)));
  const isNumbered = source?.recordNames !== undefined && source.mayNamePerson === undefined;
  const mayBeRecord = isNumbered || who[0].kind === 'identifier';
  return {
    closings: [
      ...[...ofPerson.values()].map((journey) => ({ journey, isThroughOther: isThroughOther(journey) })),
      ...others.map(directly),
    ],
    count: found.reduce((sum, { count }) => sum + count, others.length - twice),
    ...(mayBeRecord && { record }),
  };
}

const directly = (journey: Journey): Closing => ({ journey, isThroughOther: false });

/** The records to read: of the closings, newest first; where no closing is known, the one that the text names. */
function recordsOf<Context extends Searched>(
  found: readonly FoundClosings<Context>[],
): { context: Context; standing: Standing; record: string }[] {
  const known = found.flatMap(({ closings, ...source }) =>
    closings.flatMap(({ journey: { recordId, currentId = recordId, closedAt, erasedAt } }) =>
      erasedAt ? [] : [{ ...source, record: currentId, closedAt }],
    ),
  );
  known.sort((a, b) => b.closedAt.getTime() - a.closedAt.getTime());
  const isHeardOf = found.some(({ closings }) => closings.length > 0);
  const named = found.flatMap(({ record, ...source }) => (record === undefined ? [] : [{ ...source, record }]));
  const wanted = isHeardOf ? known : named;
  const unique = new Map(wanted.map((one) => [refOf(one.context.name, one.record), one]));
  return [...unique.values()].slice(0, mostRecords);
}
