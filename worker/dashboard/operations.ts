import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { fingerprintOf } from '../config/changes.ts';
import { testLines } from '../config/test-mode.ts';
import { type PausableStep, pausableSteps } from '../operations/pausable-steps.ts';
import { runningProcesses } from '../operations/processes.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { remainingQuotas } from '../redis/budget.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { resumeStep } from '../support/resume.ts';
import { stateOfProcesses, stateOfSource } from '../support/source-state.ts';
import { Audit } from './audit.ts';
import { formToken, mayAct, nameOf } from './guard.ts';
import { type HourOfWork, issuesIn, lastDay, skipsIn } from './last-work.ts';
import { type DashboardOptions, show } from './pages.ts';
import { RecentReadings } from './recent-readings.ts';
import { type Operations, operationsView, pauseView } from './views/operations.ts';

const Step = z.object({ source: z.string(), step: z.enum(pausableSteps), action: z.enum(['pause', 'resume']) });
const Form = z.object({ why: z.string().trim().min(1).max(500).catch('no reason was given') });

/** How many stopped journeys and skipped closings closeloop reads to show their causes, and how long a page waits for the causes. */
const mostIssues = 1_000;
const patienceMs = 100;

type Causes = NonNullable<Operations['causes']>;

/** `/operations`: the state of sources and processes, what needs a person, and the buttons to pause and resume a source's steps. */
export function showOperations(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  const readings = new RecentReadings<Causes>({ patienceMs, now: options.now });
  const days = new RecentReadings<HourOfWork[]>({ patienceMs, now: options.now });
  /** The causes are counted at most once a minute, as this reads many journeys. A visitor waits only a short time for them. */
  const issues = async () =>
    await readings.get('issues', async () => {
      const sources = await options.engine().sources();
      return { ...(await issuesIn(sources, mostIssues)), ...(await skipsIn(sources, mostIssues)) };
    });

  const day = async () => {
    const { redis, engine, now } = options;
    return await days.get('day', async () => await lastDay(await engine().sources(), { redis, now: now() }));
  };

  app.get('/operations', async (request, reply) => {
    const [state, { value: causes }, { value: hours }] = await Promise.all([stateOfAll(options), issues(), day()]);
    const body = operationsView({ ...state, causes, hours, mayAct: mayAct(request) });
    return await show(reply, { title: 'Operations', section: '/operations', body });
  });

  app.get('/sources/:source/:step/:action', { config: { access: 'act' } }, async (request, reply) => {
    const asked = Step.safeParse(request.params).data;
    if (!asked || !options.engine().pipelines.has(asked.source)) return reply.callNotFound();
    const { source, step, action } = asked;
    const body = pauseView({ ...asked, csrf: formToken(reply) });
    return await show(reply, {
      title: `${action === 'pause' ? 'Pause' : 'Resume'} ${step} of ${source}?`,
      section: '/operations',
      body,
    });
  });

  app.post('/sources/:source/:step/:action', async (request, reply) => {
    const asked = Step.safeParse(request.params).data;
    if (!asked) return reply.callNotFound();
    const { source, step, action } = asked;
    const pipeline = options.engine().pipelines.get(source);
    if (!pipeline) return reply.callNotFound();
    const queue = queueOf(pipeline, step);
    const { why } = Form.parse(request.body ?? {});
    const by = nameOf(request);
    await audit.note({ at: options.now(), who: by, what: `${action} ${step}`, about: source });
    if (action === 'pause') await pipeline.pauses.pause(step, { why, by, at: options.now() }, queue);
    else {
      const { context, pauses, holds, vendor } = pipeline;
      const account = context.account ?? nameInEarnest(context.storedAs);
      await resumeStep(
        { redis: options.redis, pauses, holds, vendor, service: options.engine().service, account },
        step,
        queue,
      );
    }
    return await reply.redirect('/operations', 303);
  });
}

/** The step's queue at this source. Collecting grades runs over all sources at once, so that step has no queue of a source. */
function queueOf({ jobs }: SourcePipeline, step: PausableStep) {
  return Object.values(jobs)
    .map(({ queue }) => queue)
    .find(({ name }) => name === step);
}

/** The state of every source and process. */
export async function stateOfAll({
  engine,
  config,
  redis,
  now,
}: DashboardOptions): Promise<Omit<Operations, 'mayAct' | 'causes' | 'hours'>> {
  const { pipelines, service, collecting } = engine();
  const down = await service.down({ now: true });
  const [sources, collectPauses, processes, absences] = await Promise.all([
    Promise.all(
      [...pipelines.values()].map(async ({ context, pauses, holds, vendor }) => {
        const stored = { ...context, pauses, holds, vendor };
        const [state, quotas] = await Promise.all([
          stateOfSource(stored, { service: down, redis, now: now() }),
          remainingQuotas(redis, context.account ?? nameInEarnest(context.storedAs), new Date()),
        ]);
        return { state, quotas, polls: context.source.poll !== undefined };
      }),
    ),
    collecting.paused(),
    runningProcesses(redis),
    engine().absences(),
  ]);
  const { problems } = stateOfProcesses(processes, fingerprintOf(config().written), config());
  return {
    tests: testLines(config()),
    sources,
    collectPauses,
    // A process that does not report itself, such as the demo's process, shows this page without problems of processes.
    problems: processes.length === 0 ? [] : problems,
    absences,
    at: now(),
    timeZone: config().feedback.timeZone,
  };
}
