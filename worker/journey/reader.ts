import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { slices, spread } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { type Seal, SealError } from '../redis/seal.ts';
import type { StoredCall } from './calls.ts';
import { Journey, type TraceLine } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { unpack } from './packing.ts';
import { recordOf } from './refs.ts';

/** Another version wrote this journey, or its entry is broken. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError || error instanceof SealError;
}

/** The data beside a stored journey: its revision, which each change raises, its trace, and the calls that were made for it. */
export interface Stored {
  rev: string;
  trace: readonly TraceLine[];
  calls: readonly StoredCall[];
}

/** Called with the ids of journeys that can't be read. Left out: they are logged. */
export type Left = (id: string) => void;

/** The seal's context of a journey: its record, as the journey's number is assigned only when it is stored. */
export const aboutRecord = (recordId: string): string => `journey of ${recordId}`;

/** Reads journeys by their ids. */
export class JourneyReader {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #seal: Seal;
  readonly #reportLeft: Left;
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

  async those(ids: readonly string[], left?: Left): Promise<Journey[]> {
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
