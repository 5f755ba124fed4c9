import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { CloseloopError, messageOf } from '../../core/errors.ts';

/** For so long a reading of the service counts as new. */
const freshMs = 60_000;
/** The longest wait of a page for a reading; the reading continues, and serves the next page. Real time. */
const usualPatienceMs = 5_000;
/** The most questions whose last answers are cached. */
const mostKept = 20;
/** Questions that are read at once. */
const readingsAtOnce = 2;

/** The last reading; `problem`: why there is no newer reading. */
export interface Read<T> {
  value?: T;
  readAt?: Date;
  problem?: string;
}

interface Entry<T> extends Read<T> {
  reading?: Promise<void>;
}

/** The service's responses for pages, which ask for the same again and again. Each is read once at a time, and stays available while the service is away. */
export class RecentReadings<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #limited = pLimit(readingsAtOnce);
  readonly #patienceMs: number;
  readonly #now: () => Date;

  constructor({ patienceMs = usualPatienceMs, now = () => new Date() } = {}) {
    this.#patienceMs = patienceMs;
    this.#now = now;
  }

  /**
   * @param down why the service is known not to answer: nothing is read of it then
   * @throws what is no CloseloopError
   */
  async get(question: string, read: () => Promise<T>, down?: string): Promise<Read<T>> {
    const entry = this.#entryOf(question);
    const isFresh = entry.readAt !== undefined && this.#now().getTime() - entry.readAt.getTime() < freshMs;
    if (isFresh) return entry;
    if (down !== undefined) return { ...entry, problem: down };
    entry.reading ??= this.#read(entry, read);
    const waiting = new AbortController();
    const tired = sleep(this.#patienceMs, 'tired' as const, { signal: waiting.signal }).catch(() => 'tired' as const);
    const ended = await Promise.race([entry.reading, tired]).finally(() => waiting.abort());
    return ended === 'tired' ? { ...entry, problem: slow } : entry;
  }

  #entryOf(question: string): Entry<T> {
    const entry = this.#entries.get(question) ?? {};
    // The one that was asked last is the last to go.
    this.#entries.delete(question);
    this.#entries.set(question, entry);
    for (const [oldest] of this.#entries) if (this.#entries.size > mostKept) this.#entries.delete(oldest);
    return entry;
  }

  async #read(entry: Entry<T>, read: () => Promise<T>): Promise<void> {
    try {
      entry.value = await this.#limited(read);
      entry.readAt = this.#now();
      delete entry.problem;
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      entry.problem = messageOf(error);
    } finally {
      delete entry.reading;
    }
  }
}

const slow = 'the service takes long to answer; its figures are still being read: load the page again';
