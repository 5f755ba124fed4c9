import { z } from 'zod';
import type { Log, Ports } from '../../core/ports.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { type CallNames, callNames, newCallsOf, withCalls } from './calls.ts';
import { type Draft, Drafts, linesOf, type NewClosing } from './drafts.ts';
import { forgetJourney } from './forget.ts';
import { countChanges } from './hourly-counts.ts';
import type { Journey, JourneyState, TraceLine } from './journey.ts';
import { answeredAt, JourneyKeys, listedAt } from './journey-keys.ts';
import { createScript, saveScript } from './journey-scripts.ts';
import { askedStates } from './outcomes.ts';
import { OutgoingEvents, type TellsOthers } from './outgoing.ts';
import { JourneyQueries } from './queries.ts';
import { RecordMemory } from './record-memory.ts';
import { currentRecordOf } from './refs.ts';
import { type CollectPass, type JourneyRequests, journeyRequests } from './requests.ts';
import { type StateLists, stateLists } from './state-lists.ts';
import { JourneyReader, type OnUnreadable, type Stored, sealed } from './stored-journey.ts';
import type { Decision } from './transitions.ts';

/** A trace of so many lines takes no more notes, as a sender may repeat an event without end. */
const mostLines = 1_000;
const CreateAnswer = z.union([z.tuple([z.string(), z.literal([0, 1])]), z.tuple([])]);

interface StorePorts extends Pick<Ports, 'now'> {
  log?: Log;
  seal: Seal;
  /** Called with each change once it is stored. */
  onStep?: (before: Journey, after: Journey) => void;
  traceContext?: () => string | undefined;
  /** The targets that get events about changes; left out: none. */
  tells?: TellsOthers | undefined;
  /** Erases a journey whose person was erased before it was stored, and returns it as it is then. */
  eraseIfForgotten?: (journey: Journey) => Promise<Journey>;
}

/** The journeys of one source, in Redis. */
export class JourneyStore {
  readonly source: string;
  readonly records: RecordMemory;
  readonly requests: JourneyRequests;
  readonly lists: StateLists;
  readonly queries: JourneyQueries;
  readonly drafts: Drafts;
  readonly #redis: RedisClient;
  readonly #ports: StorePorts;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;
  readonly #callNames: CallNames;
  readonly outgoing: OutgoingEvents;

  constructor(redis: RedisClient, source: string, ports: StorePorts) {
    this.source = source;
    this.#redis = redis;
    this.#ports = ports;
    this.outgoing = new OutgoingEvents(redis, source, ports.now);
    this.#keys = new JourneyKeys(source, ports.seal);
    this.#reader = new JourneyReader(redis, this.#keys, { source, ...ports });
    this.#callNames = callNames(redis, this.#keys.callNames);
    this.records = new RecordMemory(redis, this.#keys, this.#reader);
    this.requests = journeyRequests(redis, this.#keys);
    this.lists = stateLists(redis, this.#keys);
    this.queries = new JourneyQueries(redis, this.#keys, { reader: this.#reader, lists: this.lists });
    this.drafts = new Drafts(source, ports);
  }

  /** The journey of this closing, created or found. */
  async getOrCreate(wanted: NewClosing, trace: readonly string[]): Promise<{ journey: Journey; created: boolean }> {
    for (;;) {
      const { id } = await this.records.nameOf(wanted.recordId, wanted.closing);
      const draft = this.drafts.begin(id, wanted, trace);
      const { journey, known } = await this.#create(draft, { journey: draft.steps[0], trace: [] });
      if (journey) return { journey, created: true };
      if (known === undefined) continue;
      const found = await this.get(known);
      if (found) return { journey: found, created: false };
      throw new Error(`journey ${this.source}/${known} was found, and is gone: it was removed while it was read`);
    }
  }

  async get(id: string): Promise<Journey | undefined> {
    return (await this.#reader.read(id))?.journey;
  }

  /** The journeys of these ids, without those that are gone or can't be read. */
  async those(ids: readonly string[], left?: OnUnreadable): Promise<Journey[]> {
    return await this.#reader.those(ids, left);
  }

  /** Whether the journey is unchanged since this object was read or saved. */
  async isCurrent(journey: Journey): Promise<boolean> {
    const stored = this.#reader.storedAs(journey);
    if (!stored) return false;
    const begins = `${stored.rev} `;
    return (await this.#redis.getrange(this.#keys.journey(journey.id), 0, begins.length - 1)) === begins;
  }

  /**
   * Changes a journey by compare and set. `decide` is pure, and is called again with the newer journey when another worker
   * changed it meanwhile. A request belongs to one journey of a source: a change that would take another journey's request is
   * refused. An erased journey is never changed. Returns the journey as it is now, undefined when there is none: also where a draft can't
   * be stored, as its closing, its event or its number has a journey by now, or its record has changed.
   * @param of a journey object that was read or saved before is read again only if another worker has changed the journey
   * @param pass the collecting pass that decides: once a newer pass has begun, nothing is changed
   */
  async update(
    of: string | Journey,
    decide: (journey: Journey) => Decision,
    pass?: CollectPass,
  ): Promise<Journey | undefined> {
    if (typeof of !== 'string') {
      const draft = this.drafts.of(of);
      if (draft) {
        const { journey } = await this.#create(draft, decide(of) ?? { journey: of, trace: [] });
        return journey && (await this.#unlessForgotten(draft.steps[0], journey));
      }
      const stored = of.erasedAt ? undefined : this.#reader.storedAs(of);
      const decision = stored && decide(of);
      if (stored && decision && (await this.#save(of, stored, decision, pass)) === 1)
        return await this.#unlessForgotten(of, decision.journey);
    }
    const id = typeof of === 'string' ? of : of.id;
    for (;;) {
      const found = await this.#reader.read(id);
      if (!found) return undefined;
      const decision = found.journey.erasedAt ? undefined : decide(found.journey);
      if (!decision) return found.journey;
      const saved = await this.#save(found.journey, found, decision, pass);
      if (saved === 1) return await this.#unlessForgotten(found.journey, decision.journey);
      if (saved === -1) return found.journey;
    }
  }

  /** An erasure finds what is stored before its search: what is stored of a person after that is erased here. */
  async #unlessForgotten(before: Journey, after: Journey): Promise<Journey> {
    const isNews = before.state === 'received' || !isAboutSame(before, after);
    // A journey that asks is looked at before its request leaves.
    const isOver = after.erasedAt !== undefined || after.state === 'creating';
    const { eraseIfForgotten } = this.#ports;
    return eraseIfForgotten && isNews && !isOver ? await eraseIfForgotten(after) : after;
  }

  /** Adds a line to the trace of a journey that exists; changes nothing else. @param of as for `update` */
  async note(of: Journey | string, text: string): Promise<void> {
    const isLong = (journey: Journey) => (this.#reader.storedAs(journey)?.trace.length ?? 0) >= mostLines;
    await this.update(of, (journey) => (isLong(journey) ? undefined : { journey, trace: [text] }));
  }

  /**
   * Stores a draft as it is; adds these lines to the trace of a stored journey. Returns false where there is no such journey: also
   * where a draft can't be stored, as for `update`.
   */
  async keep(journey: Journey, trace: readonly string[]): Promise<boolean> {
    if (trace.length === 0 && !this.drafts.has(journey)) return true;
    return (await this.update(journey, (now) => ({ journey: now, trace }))) !== undefined;
  }

  /** @param of an id: reads the journey as it is now; a journey object: as it was last read or saved */
  async trace(of: Journey | string): Promise<readonly TraceLine[]> {
    const stored = typeof of === 'string' ? await this.#reader.read(of) : this.#reader.storedAs(of);
    return stored?.trace ?? [];
  }

  /**
   * Removes a journey, its trace and its index entries; with the last journey of a record, and of the records merged into it, also
   * what is remembered of them. Returns false when the journey has changed since it was read (a late answer came), or is gone.
   */
  async forget(journey: Journey): Promise<boolean> {
    const stored = this.#reader.storedAs(journey);
    if (!stored) return false;
    return await forgetJourney(journey, stored.rev, this.#redis, this.#keys);
  }

  /**
   * Stores a draft as its first change has made it. `known`: not stored, as its closing or event has this journey; neither: not stored,
   * as another closing has its number, or its record has changed.
   */
  async #create(
    draft: Draft,
    { journey, trace }: NonNullable<Decision>,
  ): Promise<{ journey?: Journey; known?: string }> {
    const of = this.#keys;
    const { now, seal, tells, onStep } = this.#ports;
    const [{ recordId, closing, state }] = draft.steps;
    const lines = [...draft.trace, ...linesOf(trace, now())];
    const made = newCallsOf(journey);
    const numbered = journey.erasedAt ? [] : this.#callNames.numbered(made.calls);
    const calls = withCalls([], Array.isArray(numbered) ? numbered : await numbered);
    const people = of.people(journey).flatMap((digest) => of.personEntry(digest, journey));
    const outgoing = tells && this.outgoing.of(draft.steps[0], journey, tells);
    const answer = await runScript(
      this.#redis,
      createScript,
      [of.records(recordId), of.merges(recordId), of.state(journey.state), of.answers],
      of.tag,
      recordId,
      of.closingName(closing),
      of.eventName(draft.eventKey),
      sealed(seal, journey, { trace: lines, calls }),
      listedAt(journey).getTime(),
      journey.id,
      draft.seen ?? '',
      askedMark(state, journey),
      answeredAt(journey)?.getTime() ?? '',
      people.length / 2,
      ...people,
      ...(outgoing?.args ?? []),
    );
    const [id, created] = CreateAnswer.parse(answer);
    if (id === undefined) return {};
    if (created === 0) return { known: id };
    this.drafts.end(draft.steps.at(-1) ?? draft.steps[0]);
    this.#reader.noteStored(journey, { rev: '1', trace: lines, calls });
    made.stored();
    await draft.onStored?.(journey);
    for (const [i, before] of draft.steps.entries()) {
      const after = draft.steps[i + 1] ?? journey;
      if (after !== before) onStep?.(before, after);
    }
    await outgoing?.onStored();
    return { journey };
  }

  async #save(
    before: Journey,
    stored: Stored,
    { journey, trace }: NonNullable<Decision>,
    pass: CollectPass | undefined,
  ): Promise<unknown> {
    const { id } = journey;
    const requestId = journey.requestId !== before.requestId ? (journey.requestId ?? '') : '';
    const of = this.#keys;
    const { now, seal, tells, onStep } = this.#ports;
    // Where none of them has changed, the index has them since the journey was saved last.
    const isSame = isAboutSame(before, journey);
    const people = isSame ? [] : of.people(journey);
    const noLonger = isSame ? [] : of.people(before).filter((digest) => !people.includes(digest));
    const keys = [of.journey(id), of.state(before.state), of.state(journey.state)];
    keys.push(of.records(journey.recordId), of.merges(currentRecordOf(journey)), of.requests(requestId), of.answers);
    const lines = [...stored.trace, ...linesOf(trace, now())];
    const made = newCallsOf(journey);
    // An erased journey keeps nothing that happened with its person's data.
    const numbered = journey.erasedAt ? [] : this.#callNames.numbered(made.calls);
    const calls = journey.erasedAt ? [] : withCalls(stored.calls, Array.isArray(numbered) ? numbered : await numbered);
    const counts = countChanges(before, journey).flatMap(({ day, field, by }) => [of.counts(day), field, by]);
    const outgoing = tells && this.outgoing.of(before, journey, tells);
    const [wasAnswered = '', isAnswered = ''] = [before, journey].map((one) => answeredAt(one)?.getTime() ?? '');
    const saved = await runScript(
      this.#redis,
      saveScript,
      keys,
      stored.rev,
      listedAt(before).getTime(),
      sealed(seal, journey, { trace: lines, calls }),
      id,
      listedAt(journey).getTime(),
      requestId,
      askedMark(before.state, journey),
      pass ? of.pass(pass.campaign) : '',
      pass?.generation ?? 0,
      journey.recordId,
      ...(wasAnswered === isAnswered ? ['', ''] : [wasAnswered, isAnswered]),
      people.length,
      noLonger.length,
      counts.length / 3,
      ...[...people, ...noLonger].flatMap((digest) => of.personEntry(digest, journey)),
      ...counts,
      ...(outgoing?.args ?? []),
    );
    if (saved === 1) {
      this.#reader.noteStored(journey, { rev: String(Number(stored.rev) + 1), trace: lines, calls });
      made.stored();
      onStep?.(before, journey);
      await outgoing?.onStored();
    }
    return saved;
  }
}

function isAboutSame(one: Journey, other: Journey): boolean {
  const isSame = (a: Journey['contact'], b: Journey['contact']) => a?.kind === b?.kind && a?.value === b?.value;
  const isSameContact = isSame(one.contact, other.contact) && isSame(one.test?.contact, other.test?.contact);
  return isSameContact && one.personId === other.personId && `${one.alsoKnownAs}` === `${other.alsoKnownAs}`;
}

/**
 * How the record's `asked` changes. An asked record stays asked unless the service refused the request, or cancelled it
 * before sending. A failed journey that searches for its request again does not replace a journey that has asked since. What is
 * asked is in it since it was about to be.
 */
function askedMark(before: JourneyState, { state: now, erasedAt }: Journey): '1' | 'if none' | '0' | '' {
  if (before === 'creating' && now === 'asked') return '';
  if (askedStates.includes(now)) return before === 'failed' && now === 'creating' ? 'if none' : '1';
  const isTakenBack = now === 'cancelled' && before === 'asked' && !erasedAt;
  return now === 'waiting' || isTakenBack ? '0' : '';
}
