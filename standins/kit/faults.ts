import { z } from 'zod';
import { jsonBody, type StandinRequest, type StandinResponse } from './message.ts';

/**
 * One thing that goes wrong on purpose. Without `status` and `then` it only delays.
 * - `status`: answered instead of working.
 * - `cut`: no work is done, the socket is destroyed.
 * - `work-then-cut`: the work is done, the answer dropped, the socket destroyed.
 * - `work-then-hang`: the work is done, the answer never comes; the client's time-out has to end it.
 *
 * The delay comes before the work, and a client that leaves meanwhile does not stop it: as with a real service, a time-out
 * on the client's side leaves the outcome unknown.
 */
export interface Fault {
  /** Any method when left out. */
  method?: string;
  /** The source of a RegExp for the raw path; any path when left out. */
  path?: string;
  /** How many requests the fault hits before it is dropped. Default 1. */
  times?: number;
  delayMs?: number;
  then?: 'answer' | 'cut' | 'work-then-cut' | 'work-then-hang';
  status?: number;
  headers?: Record<string, string>;
  body?: string | object;
}

/** What `/_control/faults` takes. */
export const faultSchema = z.strictObject({
  method: z.string().exactOptional(),
  path: z.string().refine(isRegExp, 'is not a regular expression').exactOptional(),
  times: z.number().int().min(1).exactOptional(),
  delayMs: z.number().min(0).exactOptional(),
  then: z.enum(['answer', 'cut', 'work-then-cut', 'work-then-hang']).exactOptional(),
  status: z.number().int().min(200).max(599).exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  body: z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]).exactOptional(),
});

/** Ordered faults: the first that matches a request is used, `times` times, then dropped. */
export class FaultQueue {
  #pending: { fault: Fault; left: number }[] = [];
  #cleared = new AbortController();

  /** Aborted when the present faults are dropped. */
  get cleared(): AbortSignal {
    return this.#cleared.signal;
  }

  /** @returns a function that drops what is left of the fault */
  add(fault: Fault): () => void {
    const entry = { fault, left: fault.times ?? 1 };
    this.#pending.push(entry);
    return () => {
      this.#pending = this.#pending.filter((one) => one !== entry);
    };
  }

  /** Drops all faults. Requests that are being delayed are worked on at once. */
  clear(): void {
    this.#pending = [];
    this.#cleared.abort();
    this.#cleared = new AbortController();
  }

  /** Finds the fault for this request, and counts the request against `times`. */
  take(req: Pick<StandinRequest, 'method' | 'path'>): Fault | undefined {
    const index = this.#pending.findIndex(({ fault }) => hits(fault, req));
    const entry = this.#pending[index];
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#pending.splice(index, 1);
    return entry.fault;
  }

  /** The faults that are left, first to last; `times` is how many requests each still hits. */
  list(): Fault[] {
    return this.#pending.map(({ fault, left }) => ({ ...fault, times: left }));
  }
}

/** `/_control/faults`: GET lists the faults, POST adds one, DELETE drops all, and ends the delays that are under way. */
export function controlFaults(req: StandinRequest, faults: FaultQueue): StandinResponse {
  if (req.method === 'GET') return { status: 200, body: faults.list() };
  if (req.method === 'DELETE') {
    faults.clear();
    return { status: 200, body: [] };
  }
  if (req.method !== 'POST') return { status: 405, body: { detail: `Method "${req.method}" not allowed.` } };
  const parsed = faultSchema.safeParse(jsonBody(req));
  if (!parsed.success) return { status: 400, body: { detail: z.prettifyError(parsed.error) } };
  faults.add(parsed.data);
  return { status: 201, body: parsed.data };
}

export function faultAnswer(fault: Fault, status: number): StandinResponse {
  return {
    status,
    ...(fault.headers === undefined ? {} : { headers: fault.headers }),
    body: fault.body ?? { detail: `Fault set: ${status}.` },
  };
}

function hits(fault: Fault, req: Pick<StandinRequest, 'method' | 'path'>): boolean {
  if (fault.method !== undefined && fault.method.toUpperCase() !== req.method) return false;
  return fault.path === undefined || new RegExp(fault.path).test(req.path);
}

function isRegExp(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}
