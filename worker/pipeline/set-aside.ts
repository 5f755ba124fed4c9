import { ExpressionSetAside } from '../../core/mapping/expression.ts';
import type { Named, Operations, Timing } from './context.ts';
import type { JobResult } from './jobs.ts';

/** How soon a job whose expression was stopped tries again. Real time. */
const againMs = 600_000;

type AsideContext = Named & Pick<Operations, 'log' | 'alert'> & Pick<Timing, 'ports'>;

/**
 * A job that an expression has to be evaluated for, and was stopped, waits without spending an attempt, whatever became of
 * the others: the expression may be good over their records. A person is told.
 */
export async function untilMended(work: Promise<JobResult>, context: AsideContext): Promise<JobResult> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ExpressionSetAside)) throw error;
    const why = error.message;
    context.log.error({ source: context.name, why }, 'an expression was stopped: what needs it waits');
    await context.alert(
      'to-do',
      why,
      'mend the expression and restart; what needs it waits, and goes on within ten minutes',
    );
    // Not all at once: each may take its second again.
    return { do: 'wait', delayMs: againMs * (0.5 + context.ports.random()) };
  }
}
