import { z } from 'zod';
import type { FeedbackRequest } from '../../../core/feedback/request-form.ts';
import { type Answer, areSame, Counts, countsOfAnswer, minus, sum } from './counts.ts';

/**
 * The fields that an export may be ordered by, as numbers. The specification names no order: every pass over the whole export finds
 * out whether the export is ordered, and checks every page against that order.
 */
const keys = {
  id: ({ id }: Ordered) => (/^\d{1,15}$/.test(id) ? Number(id) : undefined),
  scheduled: ({ scheduled }: Ordered) => scheduled?.getTime(),
};
type Ordered = Pick<FeedbackRequest, 'id' | 'scheduled'>;
type Row = Ordered & Answer;
type By = keyof typeof keys;
/** Ids come first, as they are unique. */
const kinds: readonly By[] = ['id', 'scheduled'];

/** The part of an ordered export in which answers are expected: from one request to the newest. */
export const Window = z.object({
  by: z.enum(['id', 'scheduled']),
  /** The newest requests come last. */
  isRising: z.boolean(),
  pageSize: z.number().int().positive(),
  /** The number of requests in the whole export, and in the window. */
  count: z.number().int(),
  rows: z.number().int(),
  /** The key at which the window begins, and the width of its steps. */
  from: z.number(),
  width: z.number().positive(),
  /** The counts of the window's requests, by step. */
  steps: z.record(z.string(), Counts),
  /** The service's counts at the beginning of the pass. */
  counts: Counts,
});
export type Window = z.output<typeof Window>;

/** Beyond this number of steps their width is doubled. */
const mostSteps = 256;
const firstWidth = { id: 256, scheduled: 3_600_000 };

/**
 * The key from which to read, so that the window holds this request and begins at a step whose counts are known. Undefined for a
 * request that is older than the known window.
 */
export function windowFrom(known: Window, oldest: Ordered): number | undefined {
  const key = keys[known.by](oldest);
  if (key === undefined || key < known.from) return undefined;
  return Math.max(known.from, Math.floor(key / known.width) * known.width);
}

/** Whether the counts of all requests before `now.from` are unchanged: then the window holds every change. */
export function isAllWithin(before: Window, now: Window): boolean {
  return areSame(countsBefore(now.from, before), countsBefore(now.from, now));
}

function countsBefore(from: number, { counts, steps, width, from: first }: Window): Counts {
  const isWithin = ([step]: [string, Counts]) => from === first || Number(step) * width >= from;
  return minus(counts, sum(Object.entries(steps).flatMap((one) => (isWithin(one) ? [one[1]] : []))));
}

/** Adds up the counts of a pass, page by page, in bounded memory. */
export class WindowReading {
  readonly by: By;
  readonly #from: number;
  #width: number;
  #steps = new Map<number, Counts>();
  #isRising = true;
  #isFalling = true;
  #last: number | undefined;
  #pageSize = 0;
  #count = 0;
  #rows = 0;

  constructor(by: By, from: number, width: number) {
    this.by = by;
    this.#from = from;
    this.#width = width;
  }

  /** Readings for a pass that does not know the order yet: one reading per order. @param oldest the first request of the window, if any */
  static ofEach(oldest: Ordered | undefined): WindowReading[] {
    return kinds.flatMap((by) => {
      const key = oldest && keys[by](oldest);
      return key === undefined ? [] : [new WindowReading(by, key, firstWidth[by])];
    });
  }

  add({
    results,
    unreadable,
    count,
  }: {
    results: readonly Row[];
    unreadable: readonly unknown[];
    count: number;
  }): void {
    this.#pageSize = Math.max(this.#pageSize, results.length + unreadable.length);
    this.#count = Math.max(this.#count, count);
    for (const row of results) {
      const key = keys[this.by](row);
      if (key === undefined) {
        this.#isRising = false;
        this.#isFalling = false;
        return;
      }
      if (this.#last !== undefined && key < this.#last) this.#isRising = false;
      if (this.#last !== undefined && key > this.#last) this.#isFalling = false;
      this.#last = key;
      if (key < this.#from) continue;
      this.#rows += 1;
      this.#addStep(Math.floor(key / this.#width), countsOfAnswer(row));
    }
  }

  /** Call this before a page that does not follow the last page. */
  jump(): void {
    this.#last = undefined;
  }

  isBefore(row: Ordered | undefined): boolean {
    const key = row && keys[this.by](row);
    return key !== undefined && key < this.#from;
  }

  /**
   * @param counts the service's counts at the beginning of the pass
   * @param known the window of the last pass
   * @returns undefined for an export without an order, or in another order than before
   */
  window(counts: Counts, known?: Window): Window | undefined {
    const { isRising = this.#isRising, pageSize = this.#pageSize } = known ?? {};
    const isOrdered = known ? (isRising ? this.#isRising : this.#isFalling) : this.#isRising !== this.#isFalling;
    if (!isOrdered || pageSize === 0) return undefined;
    return {
      by: this.by,
      isRising,
      pageSize,
      count: this.#count,
      rows: this.#rows,
      from: this.#from,
      width: this.#width,
      steps: Object.fromEntries(this.#steps),
      counts,
    };
  }

  #addStep(step: number, counts: Counts): void {
    if (Object.keys(counts).length === 0) return;
    this.#steps.set(step, sum([this.#steps.get(step) ?? {}, counts]));
    while (this.#steps.size > mostSteps) {
      this.#width *= 2;
      const wider = Map.groupBy(this.#steps, ([one]) => Math.floor(one / 2));
      this.#steps = new Map([...wider].map(([one, some]) => [one, sum(some.map(([, counts]) => counts))]));
    }
  }
}
