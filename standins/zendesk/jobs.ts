import { randomBytes } from 'node:crypto';
import { Problem } from '../kit/message.ts';
import type { Job, Settings } from './definitions.ts';

const inFlight = 30;

/** Background jobs: queued, then working, then completed, by time alone, polled or not. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();

  /** @throws Problem when 30 are queued or running. Which status the vendor answers isn't documented; 429 here. */
  start(
    work: (() => object)[],
    settings: Pick<Settings, 'jobQueuedMs' | 'jobWorkingMs' | 'nextJobsQueuedMs'>,
    sleep: (ms: number) => Promise<void>,
  ): { job: Job; headers: Record<string, string> } {
    const open = this.#running.size;
    if (open >= inFlight) {
      throw new Problem({
        status: 429,
        headers: { 'zendesk-ratelimit-inflight-jobs': `total=${inFlight}; remaining=0; resets=60` },
        body: {
          error: 'TooManyJobs',
          description: 'Too many jobs are queued or running. Wait for some of them to complete.',
        },
      });
    }
    const job: Job = {
      id: `V3-${randomBytes(16).toString('hex')}`,
      status: 'queued',
      total: work.length,
      progress: 0,
      results: null,
    };
    this.#jobs.set(job.id, job);
    const queuedMs = settings.nextJobsQueuedMs.shift() ?? settings.jobQueuedMs;
    const run = async (): Promise<void> => {
      await sleep(queuedMs);
      job.status = 'working';
      await sleep(settings.jobWorkingMs);
      job.results = work.map((one) => one());
      job.progress = job.total;
      job.status = 'completed';
    };
    const running = run();
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
    return {
      job,
      headers: { 'zendesk-ratelimit-inflight-jobs': `total=${inFlight}; remaining=${inFlight - open - 1}; resets=60` },
    };
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  get open(): number {
    return this.#running.size;
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

export function viewJob(job: Job, base: string): object {
  const { id, status, total, progress, results } = job;
  const message = status === 'completed' ? 'Completed' : null;
  return {
    id,
    job_type: 'Bulk Update Tickets',
    url: `${base}/api/v2/job_statuses/${id}.json`,
    total,
    progress,
    status,
    message,
    results,
  };
}
