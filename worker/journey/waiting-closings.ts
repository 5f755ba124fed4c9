import { z } from 'zod';
import { slices } from '../../core/spread.ts';
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

/**
 * The closings about which people are still to be asked, over all sources, for throttles with `prefer: latest`.
 * @param ofPerson runs a script about the person with this contact
 * @param isCompared whether any throttle has `prefer: latest`: only then closings that wait are noted
 */
export const waitingClosings = (
  ofPerson: (script: string, contactKey: string, ...args: readonly (string | number)[]) => Promise<unknown>,
  isCompared: boolean,
) => ({
  /** Notes that a closing of this person waits. The closing's journey says how long: the note may be out of date. */
  async note(contactKey: string, closing: WaitingClosing): Promise<void> {
    if (!isCompared) return;
    const { journey, campaign, closedAt, dueAt, isTest = false } = closing;
    const text = `${campaign} ${closedAt.getTime()} ${dueAt.getTime()}${isTest ? ' test' : ''}`;
    const ms = Math.max(0, dueAt.getTime() - closedAt.getTime()) + waitsMs;
    await ofPerson(noteWaitingScript, contactKey, journey, text, ms);
  },

  /** The closings of this person that are noted as waiting, of all the person's addresses. */
  async of(contactKey: string): Promise<WaitingClosing[]> {
    if (!isCompared) return [];
    const reply = z.array(z.string()).parse(await ofPerson(waitingScript, contactKey));
    return [...slices(reply, 2)].map(([journey = '', closing = '']) => {
      const [campaign, closedAt, dueAt, test] = closing.split(' ');
      const [closed, due] = [new Date(Number(closedAt)), new Date(Number(dueAt))];
      return { journey, campaign: Number(campaign), closedAt: closed, dueAt: due, ...(test && { isTest: true }) };
    });
  },

  /** The digests of every address that is linked with this one, and its own. */
  async linkedWith(contactKey: string): Promise<string[]> {
    return z.array(z.string()).parse(await ofPerson(addressesScript, contactKey));
  },

  /** These journeys' closings wait no more. */
  async settle(contactKey: string, journeys: readonly string[]): Promise<void> {
    if (journeys.length > 0) await ofPerson(settledScript, contactKey, ...journeys);
  },
});
