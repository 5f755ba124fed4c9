import { z } from 'zod';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { addressDigest } from './journey-keys.ts';
import { addressesScript, noteWaitingScript, settledScript, waitingScript } from './people-scripts.ts';

/** A closing of a person that waits to be asked about. */
export interface WaitingClosing {
  /** The journey's mark (`markOf`). */
  journey: string;
  campaign: number;
  closedAt: Date;
  /** When the journey was planned to ask; it may have been postponed since. */
  dueAt: Date;
  /** Test mode was on when the closing was planned: no other closing gives way to this one. */
  isTest?: boolean;
}

/** How long the note of a waiting closing is kept after the closing was due. */
const waitsMs = 30 * 86_400_000;

/** The closings of people that wait to be asked about, over all sources, for throttles with `prefer: latest`. */
export class WaitingClosings {
  readonly #redis: RedisClient;
  readonly #seal: Seal;
  readonly #space: string;
  readonly #isCompared: boolean;

  /** @param isCompared whether any throttle has `prefer: latest`: only then closings that wait are noted */
  constructor(redis: RedisClient, seal: Seal, space: string, isCompared: boolean) {
    this.#redis = redis;
    this.#seal = seal;
    this.#space = space;
    this.#isCompared = isCompared;
  }

  /** Notes that a closing of this person waits. The closing's journey says how long: the note may be out of date. */
  async note(contactKey: string, closing: WaitingClosing): Promise<void> {
    if (!this.#isCompared) return;
    const { journey, campaign, closedAt, dueAt, isTest = false } = closing;
    const text = `${campaign} ${closedAt.getTime()} ${dueAt.getTime()}${isTest ? ' test' : ''}`;
    const ms = Math.max(0, dueAt.getTime() - closedAt.getTime()) + waitsMs;
    await this.#ofPerson(noteWaitingScript, contactKey, journey, text, ms);
  }

  /** The closings of this person that are noted as waiting, of all the person's addresses. */
  async of(contactKey: string): Promise<WaitingClosing[]> {
    if (!this.#isCompared) return [];
    const reply = z.array(z.string()).parse(await this.#ofPerson(waitingScript, contactKey));
    return [...slices(reply, 2)].map(([journey = '', closing = '']) => {
      const [campaign, closedAt, dueAt, test] = closing.split(' ');
      const isTest = test !== undefined && { isTest: true };
      return {
        journey,
        campaign: Number(campaign),
        closedAt: new Date(Number(closedAt)),
        dueAt: new Date(Number(dueAt)),
        ...isTest,
      };
    });
  }

  /** The digests of every address that is linked with this one, and its own. */
  async linkedWith(contactKey: string): Promise<string[]> {
    return z.array(z.string()).parse(await this.#ofPerson(addressesScript, contactKey));
  }

  /** These journeys' closings wait no more. */
  async settle(contactKey: string, journeys: readonly string[]): Promise<void> {
    if (journeys.length > 0) await this.#ofPerson(settledScript, contactKey, ...journeys);
  }

  async #ofPerson(script: string, contactKey: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const address = addressDigest(this.#seal, contactKey);
    return await runScript(this.#redis, script, [`${this.#space}:address:${address}`], address, ...args);
  }
}
