import type { FastifyInstance } from 'fastify';
import { isCode } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import type { DashboardOptions } from '../dashboard/pages.ts';
import { createAdmin } from '../intake/admin.ts';
import type { HealthOptions } from '../intake/health.ts';
import { createIntake } from '../intake/intake.ts';
import type { Metrics } from '../operations/prometheus.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { notListening } from './finish.ts';

/** The ports of `admin` and of the page, if the configuration names none. */
const usualPorts = { admin: 8081, dashboard: 8082 };

/** A server that listens. */
interface Listening {
  app: FastifyInstance;
  url: string;
}

export async function openIntake(
  config: Config,
  current: { readonly engine: Engine },
  {
    health,
    metrics,
    log,
    tracing,
  }: { health: HealthOptions; metrics: Metrics; log: Log } & Pick<EngineOptions, 'tracing'>,
): Promise<Listening> {
  const { host, port, publicUrl } = config.http;
  await current.engine.openIngestion();
  const app = createIntake({
    ...health,
    pipelines: { get: (source) => current.engine.ingestion.routes.get(source) },
    store: (source, events, receivedAt) => current.engine.ingestion.store(source, events, receivedAt),
    publicUrl,
    countRefused: (source, why, count) => void current.engine.countRefused(source, why, count),
    onAnswered: metrics.observer.delivery,
    tracing,
    log,
  });
  return { app, url: await listen(app, { host, port, setting: 'http' }) };
}

export async function openAdmin({ admin }: Config, health: HealthOptions, { scrape }: Metrics): Promise<Listening> {
  const { host, tokens } = admin;
  return await openUsually('admin', admin, () => createAdmin({ ...health, host, tokens, scrape }));
}

export async function openDashboard(
  atStart: Config['dashboard'],
  page: Omit<DashboardOptions, 'settings'>,
): Promise<Listening | false> {
  if (!atStart) return false;
  const settings = () => page.config().dashboard || atStart;
  return await openUsually('dashboard', atStart, () => createDashboard({ ...page, settings }));
}

/** Several processes may run on one machine: where the configuration chooses no port, any free port is taken. */
async function openUsually(
  setting: keyof typeof usualPorts,
  { host, port }: { host: string; port?: number | undefined },
  create: () => FastifyInstance,
): Promise<Listening> {
  if (port !== undefined) {
    const app = create();
    return { app, url: await listen(app, { host, port, setting }) };
  }
  const usual = create();
  try {
    return { app: usual, url: await usual.listen({ host, port: usualPorts[setting], backlog }) };
  } catch (error) {
    if (!isCode(error, 'EADDRINUSE')) throw error;
    const app = create();
    return { app, url: await listen(app, { host, port: 0, setting }) };
  }
}

/**
 * How many connections the operating system holds for the process while it is busy, at most (Linux: net.core.somaxconn). A connection that
 * finds no place is tried again by its sender after a second, and then after three: a delivery would come too late.
 */
const backlog = 4_096;

async function listen(
  app: FastifyInstance,
  { host, port, setting }: { host: string; port: number; setting: 'http' | keyof typeof usualPorts },
): Promise<string> {
  try {
    return await app.listen({ host, port, backlog });
  } catch (cause) {
    throw notListening(cause, { host, port }, `Set ${setting}.port or ${setting}.host, or end the other process`);
  }
}
