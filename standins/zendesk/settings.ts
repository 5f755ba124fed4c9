import type { VendorOptions } from '../kit/vendor-standin.ts';

export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** For Basic `email/token:TOKEN`. */
  apiToken: string;
}

export interface ZendeskStandinOptions extends VendorOptions {
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** Calls of the account per minute (default 700, plan Enterprise) and PUTs on tickets (default 100). */
  rateLimit?: { perMinute?: number; ticketUpdatesPerMinute?: number };
  /** Default client `closeloop`, secret `zendesk-client-secret`, token `zendesk-api-token` of integration@example.com. */
  credentials?: Partial<Credentials>;
  accountId?: number;
  jobs?: { queuedMs?: number; workingMs?: number };
}

/** What the control surface can set; see definitions.ts. */
export interface Settings {
  modifyClosedTickets: boolean;
  legacyTokens: boolean;
  perMinute: number;
  ticketUpdatesPerMinute: number;
  jobQueuedMs: number;
  jobWorkingMs: number;
  nextJobsQueuedMs: number[];
  exportsPerMinute: number;
  exportLagMs: number;
  metricSets: 'beside' | 'inside';
  nameSideloads: boolean;
}

export function openSettings({ rateLimit, jobs }: ZendeskStandinOptions): Settings {
  return {
    modifyClosedTickets: false,
    legacyTokens: true,
    perMinute: rateLimit?.perMinute ?? 700,
    ticketUpdatesPerMinute: rateLimit?.ticketUpdatesPerMinute ?? 100,
    jobQueuedMs: jobs?.queuedMs ?? 50,
    jobWorkingMs: jobs?.workingMs ?? 50,
    nextJobsQueuedMs: [],
    exportsPerMinute: 10,
    exportLagMs: 60_000,
    metricSets: 'beside',
    nameSideloads: true,
  };
}
