import { z } from 'zod';
import type { FeedbackRequest } from '../../../core/feedback/request-form.ts';
import { type Answer, areSame, Counts, countsOfAnswer, minus, sum } from './counts.ts';

/**
 * What an export may be ordered by, as a number. The specification names no order: whether there is one is found out with every
 * pass over the whole export, and watched with every page.
 */
const keys = {
  id: ({ id }: Ordered) => (/^\d{1,15}$/.test(id) ? Number(id) : undefined),
  scheduled: ({ scheduled }: Ordered) => scheduled?.getTime(),
};
type Ordered = Pick<FeedbackRequest, 'id' | 'scheduled'>;
type Row = Ordered & Answer;
type By = keyof typeof keys;
/** In the order in which they are believed: ids are given once. */
const kinds: readonly By[] = ['id', 'scheduled'];

/** The part of an ordered export in which answers are expected: all requests from one on, to the newest. */
export const Window = z.object({
  by: z.enum(['id', 'scheduled']),
  /** The newest come last. */
  isRising: z.boolean(),
  pageSize: z.number().int().positive(),
  /** Requests in the whole export, and in the window. */
  count: z.number().int(),
  rows: z.number().int(),
  /** Where it begins, and how wide its steps are. */
  from: z.number(),
  width: z.number().positive(),
  /** What its requests add to the service's counts, by step. */
  steps: z.record(z.string(), Counts),
  /** The service's counts then. */
  counts: Counts,
});
export type Window = z.output<typeof Window>;

/** So many steps at most: then they are made twice as wide. */
const mostSteps = 256;
const firstWidth = { id: 256, scheduled: 3_600_000 };

/**
 * From where on a request and all newer ones are to be read, so that what was added up before can be compared with it. Undefined:
 * it is older than that.
 */
export function windowFrom(known: Window, oldest: Ordered): number | undefined {
  const key = keys[known.by](oldest);
  if (key === undefined || key < known.from) return undefined;
  return Math.max(known.from, Math.floor(key / known.width) * known.width);
}

/** Are the service's counts of all requests before `now.from` what they were? Whatever has changed is in the window then. */
export function isAllWithin(before: Window, now: Window): boolean {
  return areSame(countsBefore(now.from, before), countsBefore(now.from, now));
}

function countsBefore(from: number, { counts, steps, width, from: first }: Window): Counts {
  const isWithin = ([step]: [string, Counts]) => from === first || Number(step) * width >= from;
  return minus(counts, sum(Object.entries(steps).flatMap((one) => (isWithin(one) ? [one[1]] : []))));
}

/** Adds up what a pass reads of the window, page by page; memory does not grow with the export. */
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

  /** For a pass that doesn't know yet what the export is ordered by. @param oldest that belongs to it; undefined: none does */
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

  /** Another page is read that does not follow the last one. */
  jump(): void {
    this.#last = undefined;
  }

  isBefore(row: Ordered | undefined): boolean {
    const key = row && keys[this.by](row);
    return key !== undefined && key < this.#from;
  }

  /**
   * @param counts of the service, of the moment at which the pass began
   * @param known how the export was ordered before. Undefined: it is in no order, or in another one
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
