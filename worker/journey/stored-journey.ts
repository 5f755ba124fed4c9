import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { slices, spread } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { type Seal, SealError } from '../redis/seal.ts';
import type { StoredCall } from './calls.ts';
import { Journey, type TraceLine } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { recordOf } from './refs.ts';

/** Another version wrote this journey, or its entry is broken. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError || error instanceof SealError;
}

/** Data that is stored with a journey: its revision, which each change raises, its trace, and the calls that were made for it. */
export interface Stored {
  rev: string;
  trace: readonly TraceLine[];
  calls: readonly StoredCall[];
}

/** Called with the ids of journeys that can't be read. Left out: they are logged. */
export type OnUnreadable = (id: string) => void;

/** The seal's context of a journey: its record, as the journey's number is assigned only when it is stored. */
const aboutRecord = (recordId: string): string => `journey of ${recordId}`;

export class JourneyReader {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #seal: Seal;
  readonly #reportLeft: OnUnreadable;
  readonly #stored = new WeakMap<Journey, Stored>();

  constructor(redis: RedisClient, keys: JourneyKeys, options: { source: string; seal: Seal; log?: Log }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#seal = options.seal;
    this.#reportLeft = (id) =>
      options.log?.warn({ journey: `${options.source}/${id}` }, 'a journey that can not be read is left out');
  }

  async read(id: string): Promise<({ journey: Journey } & Stored) | undefined> {
    const bytes = await this.#redis.getBuffer(this.#keys.journey(id));
    return bytes === null ? undefined : this.#opened(id, bytes);
  }

  #opened(id: string, bytes: Buffer): { journey: Journey } & Stored {
    const revEnds = bytes.indexOf(' ');
    const rev = bytes.toString('latin1', 0, revEnds);
    const sealed = bytes.subarray(bytes.indexOf(' ', revEnds + 1) + 1);
    const packed = this.#seal.openBytes(sealed, aboutRecord(recordOf(id)));
    const { journey, ...more } = unpack(packed);
    const stored = { rev, ...more };
    return { journey: this.noteStored(Journey.parse({ ...journey, id }), stored), ...stored };
  }

  /** Notes the revision and the trace with which this object was just read or stored. */
  noteStored(journey: Journey, stored: Stored): Journey {
    this.#stored.set(journey, stored);
    return journey;
  }

  /** The revision and the trace with which this very object was read or stored. */
  storedAs(journey: Journey): Stored | undefined {
    return this.#stored.get(journey);
  }

  async those(ids: readonly string[], left?: OnUnreadable): Promise<Journey[]> {
    // One person may have thousands of journeys: a shared mailbox. No command asks for all of them, and none waits for the one before.
    const reads = [...slices(ids, 100)].map(
      async (some) => await this.#redis.mgetBuffer(some.map((id) => this.#keys.journey(id))),
    );
    const stored = (await Promise.all(reads)).flat();
    const found: Journey[] = [];
    for await (const [i, id] of spread(ids.entries())) {
      const journey = this.#readable(id, stored[i] ?? null, left);
      if (journey) found.push(journey);
    }
    return found;
  }

  async readable(id: string): Promise<Journey | undefined> {
    return this.#readable(id, await this.#redis.getBuffer(this.#keys.journey(id)));
  }

  /** Undefined for a journey that can't be read: in a list a broken journey must not hide the others. */
  #readable(id: string, bytes: Buffer | null, left = this.#reportLeft): Journey | undefined {
    try {
      return bytes === null ? undefined : this.#opened(id, bytes).journey;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      left(id);
      return undefined;
    }
  }
}

/**
 * Texts that nearly every journey holds: parts of some journeys, then three whole journeys, the most frequent last, as deflate refers to near text in
 * fewer bits. It must stay as it is: what is stored can only be read with the dictionary that it was stored with.
 */
const dictionary = Buffer.from(
  `"intent":{"token":","campaign":,"marker":{"field":"closeloop","value":"support/"},"numAppeals":0,"lastAppeal":null,"searchAfter":"
"given":{"delivered":true"survey":{"at":"","answers":{"backfilled":true"test":{"contact":"searched":"currentId":"remapped":true
"answer":{"grade":5,"comment":null,"seenAt":"2026-","version":1},"writtenVersion":1,"noAnswerWritten":true,"alsoKnownAs":["
"reason":"no-ruleasked-alreadythrottledno-contacttoo-oldsamplecappedlistedfieldsneverreopened"why":"no rule's condition is true (
"rule":"all","campaign":12,"campaignName":"After ","maxGrade":5,"contact":{"kind":"phone","value":"+372"contact":{"kind":"email","value":"@gmail.com"},
"personId":"7","values":{"Store":"Agent":"},"place":{"timeZone":"Europe/","phoneCountry":"country":"dueAt":"2026-","attempts":1,"requestId":"","askedAt":"2026-
[0,"outside the sample of 50 %"],[0,"the rule's delay of 1h ends "],[0,"the window opens "],["expired: no answer came"],[0,"skipped: no rule's condition is true (
"],["answered: grade 5"],[9,"written on the record (answer 1)"],[20,"creating the feedback request"],[99,"asked: feedback request (the service took it)"],
{"source":"support","recordId":"10","state":"skipped","receivedAt":"2026-11-23T00:00:00.000Z","updatedAt":"2026-11-23T00:00:00.000Z","closing":"r0","closedAt":"2026-11-23T00:00:00.000Z","personId":"7","alsoKnownAs":[""],"why":"no rule's condition is true (\\"all\\")","reason":"no-rule","trace":[[1790000000000,"received 2026-11-23T00:00:00.000Z: status SOLVED, was OPEN, at 2026-11-23T00:00:00.000Z"],[10,"skipped: no rule's condition is true (\\"all\\")"]]}
{"source":"support","recordId":"10","state":"written","receivedAt":"2026-11-23T00:00:00.000Z","updatedAt":"2026-11-23T00:00:00.000Z","closing":"r0","closedAt":"2026-11-23T00:00:00.000Z","rule":"all","campaign":12,"campaignName":"After ","maxGrade":5,"contact":{"kind":"phone","value":"+372"},"personId":"7","values":{"Store":"","Agent":""},"place":{"timeZone":"Europe/","phoneCountry":"EE"},"locale":"en-us","dueAt":"2026-11-23T00:00:00.000Z","attempts":1,"requestId":"10","askedAt":"2026-11-23T00:00:00.000Z","answer":{"grade":5,"comment":null,"seenAt":"2026-11-23T00:00:00.000Z","version":1},"writtenVersion":1,"trace":[[1790000000000,"received 2026-11-23T00:00:00.000Z: status SOLVED, was OPEN, at 2026-11-23T00:00:00.000Z"],[10,"rule \\"all\\", campaign 12"],[0,"custom fields: Store from ticket.fields.store, Agent from assignee.name"],[0,"contact: email"],[0,"to be asked at 2026-11-23T00:00:00.000Z"],[100,"creating the feedback request"],[100,"asked: feedback request 10 (the service took it)"],[10000000,"answered: grade 5"],[1000,"written on the record (answer 1)"]]}
{"source":"support","recordId":"10","state":"asked","receivedAt":"2026-11-23T00:00:00.000Z","updatedAt":"2026-11-23T00:00:00.000Z","closing":"r0","closedAt":"2026-11-23T00:00:00.000Z","rule":"all","campaign":12,"campaignName":"After ","maxGrade":5,"place":{"timeZone":"Europe/"},"locale":"en-us","personId":"7","contact":{"kind":"email","value":"@gmail.com"},"values":{"Store":"","Agent":""},"dueAt":"2026-11-23T00:00:00.000Z","attempts":1,"requestId":"10","askedAt":"2026-11-23T00:00:00.000Z","trace":[[1790000000000,"received 2026-11-23T00:00:00.000Z: status SOLVED, was OPEN, at 2026-11-23T00:00:00.000Z"],[10,"rule \\"all\\", campaign 12"],[0,"custom fields: Store from ticket.fields.store, Agent from assignee.name"],[0,"contact: email"],[0,"to be asked at 2026-11-23T00:00:00.000Z"],[100,"creating the feedback request"],[100,"asked: feedback request 10 (the service took it)"],[1000000000,"expired: no answer came"]]}`,
);

/** A window of 8 kB, for the dictionary and the journey: longer ones are stored all the same, in more bytes. */
const options = { dictionary, windowBits: 13, memLevel: 5, chunkSize: 2_048 };

/** A trace: each line with the milliseconds since the line before, the first line since 1970. */
type PackedTrace = [later: number, text: string][];

/** Checked without zod: a list shows hundreds of journeys, and zod's tuples took as long as the rest of a journey. */
const isPackedTrace = (trace: unknown): boolean =>
  Array.isArray(trace) &&
  trace.every(
    (line) => Array.isArray(line) && line.length === 2 && typeof line[0] === 'number' && typeof line[1] === 'string',
  );

/** A stored call. `later`: milliseconds since the call before, or since the trace began. Left out `tries`: a single try. */
type PackedCall = [later: number, name: number, end: number | string, ms: number, tries?: number];

/** Checked without zod, as this runs for every journey that is read. */
const arePackedCalls = (calls: unknown): boolean =>
  Array.isArray(calls) &&
  calls.every(
    (one) =>
      Array.isArray(one) &&
      ['number', 'string'].includes(typeof one[2]) &&
      [one[0], one[1], one[3], one[4] ?? 1].every((part) => typeof part === 'number'),
  );

const Packed = z.looseObject({
  trace: z.custom<PackedTrace>(isPackedTrace),
  // Calls in the form of another version are not worth the journey.
  calls: z.custom<PackedCall[]>(arePackedCalls).optional().catch([]),
});

/** A journey with its trace and its calls, in few bytes. */
export function pack(journey: object, trace: readonly TraceLine[], calls: readonly StoredCall[] = []): Uint8Array {
  return deflateRawSync(textOf(journey, trace, calls), options);
}

/** Most bytes of a block: its length has 16 bits. */
const mostInBlock = 0xffff;

/**
 * A journey that is stored anew in a moment, with its trace and calls: deflating it would take longer than all else. Any version unpacks it, as
 * the bytes are in a block of the form that deflate itself chooses for what it can't make shorter (RFC 1951, 3.2.4).
 */
export function packAsIs(journey: object, trace: readonly TraceLine[], calls: readonly StoredCall[] = []): Uint8Array {
  const text = Buffer.from(textOf(journey, trace, calls));
  if (text.length > mostInBlock) return deflateRawSync(text, options);
  const header = Buffer.from([1, 0, 0, 0, 0]);
  header.writeUInt16LE(text.length, 1);
  header.writeUInt16LE(mostInBlock - text.length, 3);
  return Buffer.concat([header, text]);
}

function textOf(journey: object, trace: readonly TraceLine[], calls: readonly StoredCall[]): string {
  const lines = trace.map(({ at, text }, i) => [at.getTime() - (trace[i - 1]?.at.getTime() ?? 0), text]);
  const made = calls.map(({ at, name, end, ms, tries }, i): PackedCall => {
    const later = at.getTime() - ((calls[i - 1] ?? trace[0])?.at.getTime() ?? 0);
    return tries === 1 ? [later, name, end, ms] : [later, name, end, ms, tries];
  });
  return JSON.stringify({ ...withNumbers(journey), trace: lines, ...(made.length > 0 && { calls: made }) });
}

/**
 * A copy with instants as milliseconds since 1970: written as texts they took twice as long as all the rest. Both can be read, as journeys
 * of earlier versions have texts.
 */
function withNumbers(fields: object): object {
  const copy: Record<string, unknown> = { ...fields };
  for (const key of Object.keys(copy)) {
    const value = copy[key];
    if (value instanceof Date) copy[key] = value.getTime();
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) copy[key] = withNumbers(value);
  }
  return copy;
}

/** @throws SyntaxError, ZodError for what `pack` has not packed */
export function unpack(packed: Uint8Array): { journey: object; trace: TraceLine[]; calls: StoredCall[] } {
  const { trace, calls = [], ...journey } = Packed.parse(JSON.parse(inflated(packed)));
  return {
    journey,
    trace: inTime(trace, 0, (at, [, text]) => ({ at, text })),
    calls: inTime(calls, trace[0]?.[0] ?? 0, (at, [, name, end, ms, tries = 1]) => ({ at, name, end, ms, tries })),
  };
}

function inTime<Entry extends readonly [later: number, ...rest: unknown[]], Whole>(
  entries: readonly Entry[],
  from: number,
  whole: (at: Date, entry: Entry) => Whole,
): Whole[] {
  let at = from;
  return entries.map((entry) => {
    at += entry[0];
    return whole(new Date(at), entry);
  });
}

function inflated(packed: Uint8Array): string {
  try {
    return inflateRawSync(packed, options).toString();
  } catch (cause) {
    throw new SyntaxError('not a packed journey', { cause });
  }
}

/** The bytes of a journey with its trace and calls in Redis: `JourneyReader` opens them. */
export function sealed(seal: Seal, journey: Journey, { trace, calls }: Omit<Stored, 'rev'>): Buffer {
  const packed = isPassing(journey) ? packAsIs : pack;
  return seal.sealBytes(packed({ ...journey, id: undefined }, trace, calls), aboutRecord(journey.recordId));
}

/**
 * Whether the journey will be stored again in a moment: its customer is being asked, or is due when the journey begins, or the vendor is about to
 * act. A journey that comes back from an attempt may wait for long.
 */
function isPassing({ state, dueAt, updatedAt, attempts, acting }: Journey): boolean {
  if (state === 'creating' || acting?.acts.some((one) => one.state === 'begun')) return true;
  return state === 'waiting' && attempts === undefined && dueAt !== undefined && dueAt <= updatedAt;
}
