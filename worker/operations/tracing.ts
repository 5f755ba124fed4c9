import type { Telemetry } from 'bullmq';

/** Traces of the work, from a delivery to the grade on its record. */
export interface Tracing {
  /** Lets queues and workers continue the trace in which a job was added. */
  telemetry: Telemetry;
  /**
   * Runs the work in a span of its own: in the trace that `within` names, linked to the current span; without `within`, in the current trace.
   * @param within what `current` gave, in any process
   */
  span<T>(
    name: string,
    attributes: Readonly<Record<string, string>>,
    work: () => Promise<T>,
    within?: string,
  ): Promise<T>;
  /** The current trace context, to be stored with what the work leaves behind. */
  current(): string;
  /** Sends the spans that have not been sent. */
  close(): Promise<void>;
}
