import type { Telemetry } from 'bullmq';

/** Traces of the work, from a delivery to the grade on its record. */
export interface Tracing {
  /** For queues and workers: a job goes on in the trace in which it was added. */
  telemetry: Telemetry;
  /**
   * Does the work in a span of its own: of the trace that `within` names, and linked to what is under way here; else of that.
   * @param within what `current` gave, in any process
   */
  span<T>(
    name: string,
    attributes: Readonly<Record<string, string>>,
    work: () => Promise<T>,
    within?: string,
  ): Promise<T>;
  /** What is under way, to be kept with what comes of it. */
  current(): string;
  /** Sends what has not been sent. */
  close(): Promise<void>;
}
