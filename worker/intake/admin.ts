import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isLoopbackHost } from '../../core/address.ts';
import { createGuarded, foreignName } from '../operations/guarded.ts';
import { addHealthRoutes, type HealthOptions } from './health.ts';

export interface AdminOptions extends HealthOptions {
  /** The address that the server listens on. */
  host: string;
  /** Tokens whose senders may see the metrics. */
  tokens: readonly string[] | undefined;
  scrape: () => Promise<{ type: string; text: string }>;
}

/** The operators' server of each process: `/healthz`, `/readyz` and, with credentials or from this machine, `/metrics`. */
export function createAdmin(options: AdminOptions): FastifyInstance {
  const { host, tokens, scrape } = options;
  const isOpen = tokens === undefined && isLoopbackHost(host);
  // Without a token, a page in a browser of this machine could call this address under another host name.
  const app = createGuarded({ forceCloseConnections: true }, (request, reply) =>
    isOpen ? foreignName(request, reply, { what: 'This address is' }) : undefined,
  );
  addHealthRoutes(app, options);
  app.get('/metrics', async ({ headers }, reply) => {
    if (tokens === undefined && !isOpen) {
      const error = 'Metrics are shown on another than a loopback address only with credentials: set admin.tokens.';
      return await reply.code(403).send({ error });
    }
    if (tokens !== undefined && !isOneOf(tokens, headers.authorization)) {
      const error = 'Send one of admin.tokens as "Authorization: Bearer …".';
      return await reply.code(401).header('www-authenticate', 'Bearer').send({ error });
    }
    const { type, text } = await scrape();
    return await reply.header('content-type', type).send(text);
  });
  return app;
}

/** Compares in constant time, so that the time does not tell how much of a token is right. */
function isOneOf(tokens: readonly string[], authorization: string | undefined): boolean {
  const given = digestOf(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
  return tokens.map((token) => timingSafeEqual(digestOf(token), given)).includes(true);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
