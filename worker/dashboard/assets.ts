import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

const types = {
  'style.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** Serves the style sheet, the script and the icon. Pages fetch nothing else. */
export function serveAssets(app: FastifyInstance): void {
  for (const [name, type] of Object.entries(types)) {
    const content = readFileSync(join(import.meta.dirname, 'assets', name));
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`;
    app.get(`/assets/${name}`, { config: { access: 'unasked' } }, async (request, reply) => {
      reply.headers({ etag, 'cache-control': 'no-cache' });
      if (request.headers['if-none-match'] === etag) return await reply.code(304).send();
      return await reply.type(type).send(content);
    });
  }
}
