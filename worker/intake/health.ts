import type { FastifyInstance } from 'fastify';
import { createReadiness } from './readiness.ts';
import { storeMs } from './store-in-time.ts';

export interface HealthOptions {
  /** Tries a write where each source's deliveries are stored. */
  tryToStore: () => readonly Promise<unknown>[];
  /** The stages that a configuration error has stopped, by source. */
  paused: () => Promise<Record<string, unknown>>;
  now: () => Date;
}

/** `/healthz`: the process lives. `/readyz`: 503 while no delivery can be stored, else codes for what is stopped. */
export function addHealthRoutes(app: FastifyInstance, { tryToStore, paused, now }: HealthOptions): void {
  const ready = createReadiness({
    tryToStore,
    hasPaused: async () => Object.keys(await paused()).length > 0,
    now,
    waitMs: storeMs,
  });
  app.get('/healthz', async () => ({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const { status, ...shown } = await ready();
    return await reply.code(status).send(shown);
  });
}
