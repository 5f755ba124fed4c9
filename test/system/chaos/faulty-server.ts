import { FaultQueue } from '../../../standins/kit/faults.ts';
import type { StandinRequest, StandinResponse } from '../../../standins/kit/message.ts';
import { serve } from '../../../standins/kit/server.ts';
import type { ServerFault } from './plan.ts';

export interface FaultyServer {
  url: string;
  order(fault: ServerFault, forMs?: number): void;
  endFaults(): void;
  close(): Promise<void>;
}

type Handler = (req: StandinRequest) => Promise<StandinResponse>;

/**
 * A stand-in behind its socket, with two more faults than `serve` knows: the work is done, and another status answered; or the work is a job
 * that runs late.
 * @param delayJob the next job of the vendor runs so much later
 */
export async function serveFaulty(handle: Handler, delayJob?: (ms: number) => void): Promise<FaultyServer> {
  const faults = new FaultQueue();
  const late = new FaultQueue();
  const lateJobs = new WeakMap<object, number>();
  const server = await serve(
    async (req) => {
      const fault = late.take(req);
      const jobMs = fault && lateJobs.get(fault);
      if (jobMs !== undefined) delayJob?.(jobMs);
      const response = await handle(req);
      if (fault?.status === undefined) return response;
      return { status: fault.status, body: fault.body ?? { detail: 'After the work.' } };
    },
    { faults },
  );
  return {
    url: server.url,
    order({ afterWork = false, retryAfter, lateJobMs, ...given }, forMs) {
      const fault = {
        ...given,
        ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      };
      if (lateJobMs !== undefined) lateJobs.set(fault, lateJobMs);
      const drop = (afterWork ? late : faults).add(fault);
      if (forMs !== undefined) setTimeout(drop, forMs).unref();
    },
    endFaults() {
      faults.clear();
      late.clear();
    },
    close: server.close,
  };
}
