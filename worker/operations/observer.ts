/** How an attempt at a job ended. */
export type JobEnd = 'done' | 'waits' | 'retried' | 'given-up' | 'stopped';

/** How a call to a vendor or the service ended: well, or with the advice of its error; `no-answer`: the other side may have done what was asked. */
export type CallEnd = 'ok' | 'throttled' | 'transient' | 'permanent' | 'config' | 'no-answer' | 'fault';

/** The part of a journey that an observer gets. */
export interface Stepping {
  state: string;
  /** The reason for the state, where it has one. */
  why?: string | undefined;
  updatedAt: Date;
  dueAt?: Date | undefined;
  requestId?: string | undefined;
  intent?: { searches?: number | undefined } | undefined;
  answer?: { grade: number | null } | undefined;
}

/** Called for each delivery, job, step of a journey and outside call, once, in the process where it happens. No work waits for an observer. */
export interface Observer {
  /** A delivery was answered with this HTTP status; `source` is undefined for a name that is not in the configuration. */
  delivery(source: string | undefined, status: number): void;
  /** A step of a source's pipeline worked on a job for so long; `ended` tells the result of the attempt. */
  worked(source: string, step: string, seconds: number): void;
  ended(source: string, step: string, end: JobEnd): void;
  vendorCall(source: string, operation: string, end: CallEnd): void;
  serviceCall(operation: string, end: CallEnd): void;
  /** A journey's step has been stored. */
  journey(source: string, before: Stepping, after: Stepping): void;
}

const nothing = (): void => undefined;

/** An observer that does nothing. */
export const unobserved: Observer = {
  delivery: nothing,
  worked: nothing,
  ended: nothing,
  vendorCall: nothing,
  serviceCall: nothing,
  journey: nothing,
};
