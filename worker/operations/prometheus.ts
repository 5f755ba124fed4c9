import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallEnd, JobEnd, Observer, Stepping } from './observer.ts';

/** Buckets of a job's duration in seconds: from a cached read to a vendor that asks to wait. */
const jobSeconds = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Buckets of how many seconds later than planned a customer is asked. */
const lateSeconds = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

const jobEnds: readonly JobEnd[] = ['done', 'waits', 'retried', 'given-up', 'stopped'];
const callEnds: readonly CallEnd[] = ['ok', 'throttled', 'transient', 'permanent', 'config', 'no-answer', 'fault'];
const deliveryResults = ['accepted', 'unauthorized', 'rejected', 'not-stored'] as const;
const createResults = ['created', 'not-created', 'unknown', 'parked'] as const;
const writeBackResults = ['written', 'not-written', 'parked', 'given-up'] as const;
/** Operations whose first failure is worth an alert. */
const vendorOperations = ['read', 'writeBack', 'poll'] as const;

/** The state of the installation in Redis: the same in every process. */
export interface Measured {
  sources: readonly {
    source: string;
    /** The number by state. */
    journeys: Readonly<Record<string, number>>;
    /** Seconds since the first due journey should have asked; 0: none is due. */
    overdueSeconds: number;
    quotas: readonly { quota: string; limit: number; remaining: number }[];
  }[];
  queues: readonly {
    source: string;
    step: string;
    /** The number by state. */
    jobs: Readonly<Record<string, number>>;
    /** Seconds since the oldest job that waits for a worker could have begun; 0: none waits. */
    oldestSeconds: number;
  }[];
  /** The parts that do no work until a person acts, or an endpoint answers again. */
  stopped: readonly { source: string; step: string }[];
}

export interface MetricsOptions {
  version: string;
  role: string;
  sources: readonly string[];
  /** @throws Error while Redis does not answer */
  measure: () => Promise<Measured>;
}

/** The metrics of a process: counters of its own work, and gauges that a scrape reads from Redis. */
export interface Metrics {
  observer: Observer;
  /** Adds sources that are worked on from now on. */
  begin(sources: readonly string[]): void;
  /** The metrics in Prometheus' text format. */
  scrape(): Promise<{ type: string; text: string }>;
}

/** Every metric with what it means: docs/monitoring.md shows the same table. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registers = [new Registry()];
  const [registry = new Registry()] = registers;
  collectDefaultMetrics({ register: registry });
  // Gauges under the names of counters: promtool refuses them, and tools would take their rate.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  new Gauge({
    name: 'closeloop_build_info',
    help: 'Always 1: which version runs, in which role',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version: options.version, role: options.role }, 1);
  const counters = createCounters(registers);
  begin(counters, options.sources);
  const show = createGauges(registers);
  const sample = async () => {
    show(await options.measure().catch(() => undefined));
    return { type: registry.contentType, text: await registry.metrics() };
  };
  // A scrape that comes while another is being answered gets the same answer.
  let sampling: ReturnType<typeof sample> | undefined;
  const scrape = () => {
    sampling ??= sample().finally(() => {
      sampling = undefined;
    });
    return sampling;
  };
  return { observer: createObserver(counters), begin: (sources) => begin(counters, sources), scrape };
}

type Registers = Registry[];

/** Counters of this process since it started: sum them over processes. */
function createCounters(registers: Registers) {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `closeloop_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: readonly number[],
  ) =>
    new Histogram({ name: `closeloop_${name}`, help, labelNames: [...labelNames], buckets: [...buckets], registers });
  return {
    deliveries: counter('deliveries_total', 'Deliveries of webhooks, by the response of closeloop', [
      'source',
      'result',
    ]),
    jobs: counter('jobs_total', 'Attempts at jobs, by result', ['source', 'step', 'result']),
    seconds: histogram('step_duration_seconds', 'How long a step worked on a job', ['source', 'step'], jobSeconds),
    journeys: counter('journey_steps_total', 'Journeys that reached a state', ['source', 'state']),
    creates: counter('creates_total', 'Attempts to create feedback requests, by result', ['source', 'result']),
    late: histogram(
      'asking_lateness_seconds',
      'How much later than planned (by delay and windows) customers were asked',
      ['source'],
      lateSeconds,
    ),
    writeBacks: counter('write_backs_total', 'Attempts to write answers on records, by result', ['source', 'result']),
    grades: counter('grades_total', 'First grades of journeys', ['source', 'grade']),
    vendorCalls: counter('vendor_calls_total', 'Calls to vendors, by result', ['source', 'operation', 'result']),
    serviceCalls: counter('service_calls_total', 'Calls to the Feedback service, by result', ['operation', 'result']),
  };
}

type Counters = ReturnType<typeof createCounters>;

/** Begins every series that an alert rule reads with 0: Prometheus sees no increase in a series that begins with 1. */
function begin(counters: Counters, sources: readonly string[]): void {
  const { deliveries, jobs, creates, writeBacks, vendorCalls, serviceCalls } = counters;
  for (const result of callEnds) serviceCalls.inc({ operation: 'create', result }, 0);
  for (const result of jobEnds) jobs.inc({ source: 'collect', step: 'collect', result }, 0);
  for (const source of sources) {
    for (const result of deliveryResults) deliveries.inc({ source, result }, 0);
    for (const result of createResults) creates.inc({ source, result }, 0);
    for (const result of writeBackResults) writeBacks.inc({ source, result }, 0);
    for (const step of ['plan', 'ask', 'write-back', 'act', 'erase'])
      for (const result of jobEnds) jobs.inc({ source, step, result }, 0);
    for (const operation of vendorOperations)
      for (const result of callEnds) vendorCalls.inc({ source, operation, result }, 0);
  }
}

function createObserver(counters: Counters): Observer {
  return {
    delivery: (source = 'unknown', status) => counters.deliveries.inc({ source, result: resultOfDelivery(status) }),
    worked: (source, step, seconds) => counters.seconds.observe({ source, step }, seconds),
    ended: (source, step, result) => counters.jobs.inc({ source, step, result }),
    vendorCall: (source, operation, result) => counters.vendorCalls.inc({ source, operation, result }),
    serviceCall: (operation, result) => counters.serviceCalls.inc({ operation, result }),
    journey: (source, before, after) => {
      if (before.state !== after.state) counters.journeys.inc({ source, state: after.state });
      const created = resultOfCreate(before, after);
      if (created !== undefined) counters.creates.inc({ source, result: created });
      const written = before.state === 'answered' ? resultOfWriteBack(after) : undefined;
      if (written !== undefined) counters.writeBacks.inc({ source, result: written });
      const grade = before.answer?.grade == null ? after.answer?.grade : undefined;
      if (grade != null) counters.grades.inc({ source, grade });
      if (created === 'created' && before.dueAt !== undefined) {
        const lateMs = after.updatedAt.getTime() - before.dueAt.getTime();
        counters.late.observe({ source }, Math.max(0, lateMs / 1_000));
      }
    },
  };
}

function resultOfDelivery(status: number): (typeof deliveryResults)[number] {
  if (status < 400) return 'accepted';
  if (status === 401) return 'unauthorized';
  return status < 500 ? 'rejected' : 'not-stored';
}

/** The result of a create, by the step of its journey; undefined: the step is about none. A request that was found after an unknown outcome counts as created, too. */
function resultOfCreate(before: Stepping, after: Stepping): (typeof createResults)[number] | undefined {
  if (after.state === 'asked' && after.requestId !== before.requestId) return 'created';
  if (before.state !== 'creating') return undefined;
  if (after.state === 'waiting') return 'not-created';
  if (after.state === 'parked') return 'parked';
  const isFirstSearch = before.intent?.searches === undefined && after.intent?.searches !== undefined;
  return after.state === 'creating' && isFirstSearch ? 'unknown' : undefined;
}

/** The result of a write-back, by the step of its journey. An end with a reason wrote nothing: no place for it, or a later answer there. */
function resultOfWriteBack({ state, why }: Stepping): (typeof writeBackResults)[number] | undefined {
  return state === 'written' && why !== undefined ? 'not-written' : writeBackEnds[state];
}

const writeBackEnds: Readonly<Record<string, (typeof writeBackResults)[number]>> = {
  written: 'written',
  parked: 'parked',
  failed: 'given-up',
};

/** Gauges of what is in Redis. Every process shows the same: take the maximum over processes, not the sum. */
function createGauges(registers: Registers): (measured: Measured | undefined) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `closeloop_${name}`, help, labelNames: [...labelNames], registers });
  const up = gauge('redis_up', '1 while Redis answers; while it is 0, no gauge that is read from Redis is shown', []);
  const journeys = gauge('journeys', 'Stored journeys, by state', ['source', 'state']);
  const overdue = gauge(
    'oldest_due_journey_age_seconds',
    'How long ago the customer who is due first should have been asked; 0 if nobody is due',
    ['source'],
  );
  const jobs = gauge(
    'queue_jobs',
    'Jobs in a queue, by state; closings that were stored together count one by one (estimated in a queue of more than 1,000 jobs)',
    ['source', 'step', 'state'],
  );
  const oldest = gauge(
    'oldest_waiting_job_age_seconds',
    'How long the oldest job that could begin has waited; 0 if none waits',
    ['source', 'step'],
  );
  const stopped = gauge(
    'stopped',
    'How many things keep a step from going on: a person paused it, something that it needs is stopped, or the other side does not answer (step "all")',
    ['source', 'step'],
  );
  const quotaLabels = ['source', 'quota'] as const;
  const remaining = gauge('vendor_quota_remaining', "What is left of a quota of the vendor's account", quotaLabels);
  const limit = gauge('vendor_quota_limit', "The size of a quota of the vendor's account", quotaLabels);
  const all = [journeys, overdue, jobs, oldest, stopped, remaining, limit];

  return (measured) => {
    // A series whose source or state is gone must not keep its last value.
    for (const one of all) one.reset();
    up.set(measured === undefined ? 0 : 1);
    for (const { source, quotas, ...state } of measured?.sources ?? []) {
      for (const [name, count] of Object.entries(state.journeys)) journeys.set({ source, state: name }, count);
      overdue.set({ source }, state.overdueSeconds);
      stopped.set({ source, step: 'all' }, 0);
      for (const { quota, ...its } of quotas) {
        remaining.set({ source, quota }, its.remaining);
        limit.set({ source, quota }, its.limit);
      }
    }
    for (const { source, step, oldestSeconds, ...queue } of measured?.queues ?? []) {
      for (const [state, count] of Object.entries(queue.jobs)) jobs.set({ source, step, state }, count);
      oldest.set({ source, step }, oldestSeconds);
      stopped.set({ source, step }, 0);
    }
    for (const { source, step } of measured?.stopped ?? []) stopped.inc({ source, step });
  };
}
