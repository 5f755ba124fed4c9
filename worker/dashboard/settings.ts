import type { FastifyInstance } from 'fastify';
import { runningProcesses } from '../operations/processes.ts';
import { Audit } from './audit.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { settingsView } from './views/settings.ts';

const shownEntries = 100;

/** `/settings`: what runs, and what people did here. */
export function showSettings(
  app: FastifyInstance,
  { redis, config }: Pick<DashboardOptions, 'redis' | 'config'>,
): void {
  const audit = new Audit(redis);
  app.get('/settings', async (_request, reply) => {
    const [processes, entries, logins] = await Promise.all([
      runningProcesses(redis),
      audit.last(shownEntries),
      audit.lastLogins(shownEntries),
    ]);
    const body = settingsView({ processes, entries, logins, timeZone: config().feedback.timeZone });
    return await show(reply, { title: 'Settings', section: '/settings', body });
  });
}
