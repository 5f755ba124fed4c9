import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { jobWatch } from '../../core/connector/jobs.ts';
import { listOf } from '../../core/entries.ts';
import { idText, ticketUpdates, type ZendeskApi, zendeskApi } from './api.ts';
import { type FieldKinds, fieldKinds } from './fields.ts';
import { userUpdates } from './responses.ts';
import type { ZendeskSettings } from './settings.ts';

const JobResult = z.object({ id: idText, success: z.boolean().default(false), error: z.unknown().optional() });
export type JobResult = z.output<typeof JobResult>;

/**
 * `status`: queued, working, completed, failed, killed. `results`: one per ticket of a completed job; other values before that, and after a
 * failure.
 */
const Job = z.object({ id: z.string().min(1), status: z.string(), results: z.array(z.unknown()).catch([]) });
export type Job = z.output<typeof Job>;
const One = z.object({ job_status: Job });
const Many = z.object({ job_statuses: listOf(Job) });

/** After this time a job that has not ended counts as dead: Zendesk will not begin it any more. Zendesk documents no limit. */
export const jobLifeMs = 15 * 60_000;

/** One Zendesk account, with everything that one source needs to work with it. */
export interface Account {
  settings: ZendeskSettings;
  ports: Pick<ConnectorPorts, 'now' | 'log'>;
  api: ZendeskApi;
  kinds: FieldKinds;
  /** Waits until a job has completed or failed. Throws if its status can't be read (outcome `unknown`). */
  finished: (job: Job) => Promise<Job>;
}

export function openAccount(settings: ZendeskSettings, ports: ConnectorPorts): Account {
  const api = zendeskApi(settings, ports);
  const finished = jobWatch<Job>({
    read: async (ids) => (await api.get(`/api/v2/job_statuses/show_many.json?ids=${ids.join(',')}`, Many)).job_statuses,
    hasEnded: ({ status }) => status !== 'queued' && status !== 'working',
    named: (id) => `Zendesk job ${id} (update_many)`,
    ...{ sleep: ports.sleep, lifeMs: jobLifeMs },
  });
  return { settings, ports, api, finished, kinds: fieldKinds(settings, api, ports.now) };
}

const updates = { tickets: ticketUpdates, users: userUpdates };

/** Changes up to 100 tickets or users in one job, and waits for the end of the job. @returns `resultsOf` the job */
export async function updateMany(
  { api, finished }: Pick<Account, 'api' | 'finished'>,
  what: keyof typeof updates,
  changes: readonly object[],
): Promise<ReadonlyMap<string, JobResult>> {
  const path = `/api/v2/${what}/update_many.json`;
  return resultsOf(await finished((await api.send('PUT', path, { [what]: changes }, One, updates[what])).job_status));
}

/** The job's result for each ticket, by id. Tickets without a result are absent. */
export function resultsOf(job: Job): ReadonlyMap<string, JobResult> {
  const results = job.results.map((raw) => JobResult.safeParse(raw).data);
  return new Map(results.flatMap((result) => (result === undefined ? [] : [[result.id, result]])));
}
