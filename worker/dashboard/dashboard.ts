import Fastify, { type FastifyInstance } from 'fastify';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { serveAssets } from './assets.ts';
import { guard } from './guard.ts';
import { type Content, html, textOf } from './html.ts';
import { layout } from './layout.ts';
import type { DashboardOptions } from './options.ts';
import { showToday } from './today.ts';

/** A form of ours is small. */
const bodyLimit = 16 * 1_024;
/** The longest name of a journey that is looked for. */
const longestPart = 1_000;

/** The page: server-rendered, whole without script, with nothing of another host. */
export function createDashboard(options: DashboardOptions): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    bodyLimit,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: longestPart },
  });
  guard(app);
  serveAssets(app);
  showToday(app, options);
  app.setNotFoundHandler(async (_request, reply) => {
    return await reply.code(404).type(markup).send(problem('Not found', 'There is no such page.'));
  });
  app.setErrorHandler(async (error, _request, reply) => {
    const status = statusOf(error);
    // A CloseloopError is written for people; of anything else nobody knows what it quotes.
    if (error instanceof CloseloopError) {
      return await reply
        .code(status)
        .type(markup)
        .send(problem('That did not work', messageOf(error)));
    }
    if (status >= 500) options.log.error({ why: messageOf(error) }, 'the dashboard failed');
    const text = status >= 500 ? 'Something went wrong here: the log of this process says what.' : 'Not understood.';
    return await reply.code(status).type(markup).send(problem('That did not work', text));
  });
  return app;
}

const markup = 'text/html; charset=utf-8';

function problem(title: string, text: Content): string {
  return textOf(layout({ title, body: html`<p>${text}</p><p><a href="/">Today</a></p>` }));
}

function statusOf(error: unknown): number {
  if (error instanceof CloseloopError) return error.advice.kind === 'transient' ? 503 : 409;
  const given = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof given === 'number' && given >= 400 && given < 500 ? given : 500;
}
