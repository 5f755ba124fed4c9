import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { createGuarded } from '../operations/guarded.ts';
import { answersWithin } from '../redis/unavailable.ts';
import { countFollowUps } from '../support/follow-ups.ts';
import { showAnswers } from './answers.ts';
import { showFollowUps } from './follow-ups.ts';
import { showGrades } from './grades.ts';
import { guardAccess, hostGuard, isFromElsewhere } from './guard.ts';
import { type Content, type Html, html } from './html.ts';
import { showJourney } from './journey.ts';
import { listJourneys } from './journeys.ts';
import { identifier, showLogin } from './login.ts';
import { actOnMany } from './many.ts';
import { showOperations } from './operations.ts';
import { showOverview } from './overview.ts';
import { type DashboardOptions, decoratePages, sectionOf, show } from './pages.ts';
import { showPeople } from './people.ts';
import { createReadings } from './readings.ts';
import { showSettings } from './settings.ts';
import { sentence } from './times.ts';
import { showWhy } from './why.ts';

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

/** closeloop's forms are small. */
const bodyLimit = 16 * 1_024;
/** How long a person waits for Redis. */
const redisMs = 1_500;
/** The longest path parameter, such as a journey's name. */
const longestPart = 1_000;

/** Creates the page. The server renders it; it works without script, and loads nothing from other hosts. */
export function createDashboard(options: DashboardOptions): FastifyInstance {
  const { publicUrl, trustProxy } = options.settings();
  const app = createGuarded(
    {
      trustProxy: trustProxy.length > 0 ? trustProxy : false,
      forceCloseConnections: true,
      bodyLimit,
      requestTimeout: 30_000,
      routerOptions: { maxParamLength: longestPart },
    },
    hostGuard(publicUrl),
  );
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  // This hook runs before anything is read, so that a person learns within two seconds that Redis does not answer.
  app.addHook('onRequest', async () => await answersWithin(options.redis, redisMs));
  guardAccess(app, { publicUrl, seal: options.seal, identify: identifier(options) });
  decoratePages(app, {
    notice: options.config().dryRun ? 'This is a dry run: nothing is sent.' : undefined,
    followUps: async () => await countFollowUps(await options.engine().sources(), options.now()),
  });
  serveAssets(app);
  const readings = createReadings(options);
  showLogin(app, options);
  showOverview(app, options, readings);
  showFollowUps(app, options);
  showAnswers(app, options);
  listJourneys(app, options);
  showJourney(app, options);
  actOnMany(app, options);
  showWhy(app, options);
  showGrades(app, options, readings);
  showPeople(app, options);
  showOperations(app, options);
  showSettings(app, options);
  app.setNotFoundHandler(async (request, reply) => {
    return await show(reply, { title: 'Not found', body: refused('There is no such page.', request) }, 404);
  });
  app.setErrorHandler(async (error, request, reply) => {
    const status = statusOf(error);
    // The message of a CloseloopError is written for people; the message of any other error may quote secrets or personal data.
    const isOurs = error instanceof CloseloopError;
    if (status >= 500 && !isOurs) options.log.error({ why: messageOf(error) }, 'the dashboard failed');
    const why = status >= 500 ? 'Something went wrong here: the log of this process says what.' : 'Not understood.';
    const title = status === 404 ? 'Not found' : 'That did not work';
    const { timeZone } = options.config().feedback;
    const told = isOurs ? sentence(messageOf(error), timeZone) : why;
    return await show(reply, { title, body: refused(told, request) }, status);
  });
  return app;
}

/** The texts that people type into forms which change something. */
const Typed = z.object({ outcome: z.string().catch(''), why: z.string().catch('') });

/** Says why something was not done, and gives back what the person typed. A text from another site is not shown. */
function refused(text: Content, request: FastifyRequest): Html {
  const { at, name } = sectionOf(request.url);
  const form = isFromElsewhere(request) ? undefined : Typed.safeParse(request.body).data;
  const typed = form && (form.outcome || form.why);
  return html`<p class="notice">${text}</p>
${typed && html`<p><label for="typed">What you have typed, to copy</label><textarea id="typed" rows="6" readonly>${typed}</textarea></p>`}
<p><a href="${at}">${name}</a></p>`;
}

function statusOf(error: unknown): number {
  const given = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (typeof given === 'number' && given >= 400 && given < 500) return given;
  if (error instanceof CloseloopError) return error.advice.kind === 'transient' ? 503 : 409;
  return 500;
}
