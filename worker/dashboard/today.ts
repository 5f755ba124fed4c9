import type { FastifyInstance } from 'fastify';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { todayView } from './views/today.ts';

/** `/`: how things stand. */
export function showToday(
  app: FastifyInstance,
  { engine, config, now }: Pick<DashboardOptions, 'engine' | 'config' | 'now'>,
): void {
  app.get('/', async (_request, reply) => {
    const sources = await Promise.all(
      [...engine().pipelines.values()].map(async ({ context }) => ({
        name: context.name,
        journeys: await context.store.queries.counts(),
      })),
    );
    const body = todayView({ sources, at: now(), timeZone: config().feedback.timeZone });
    return await show(reply, { title: 'Today', section: '/', body });
  });
}
