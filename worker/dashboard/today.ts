import type { FastifyInstance } from 'fastify';
import { textOf } from './html.ts';
import { layout } from './layout.ts';
import type { DashboardOptions } from './options.ts';
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
    return await reply.type('text/html; charset=utf-8').send(textOf(layout({ title: 'Today', section: '/', body })));
  });
}
