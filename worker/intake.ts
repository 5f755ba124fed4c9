import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Delivery, SourceEvent } from '../core/connector.ts';
import type { Log } from '../core/ports.ts';
import { failpoint } from './failpoints.ts';
import type { Lane } from './lane.ts';

const bodyLimit = 1024 * 1024;
const Source = z.object({ source: z.string().optional() });
/** Zendesk retries a 503 only when it may come back within 60 s. */
const retryAfterSeconds = '30';
/** Redis must answer within this, or the vendor is told to come again: two seconds at most, of which this is the wait. */
const storeMs = 1_500;
/** An answer that never comes must not keep the intake closed for good: the connection is given up well before this. */
const longestOwedMs = 30_000;

export interface IntakeOptions {
  lanes: ReadonlyMap<string, Pick<Lane, 'context'>>;
  /** Durable when it resolves. */
  store: (source: string, events: readonly SourceEvent[], receivedAt: Date) => Promise<void>;
  /** Address as the vendors call it, without a slash at the end: signatures may cover it. Default: where we listen. */
  publicUrl?: string | undefined;
  ping: () => Promise<unknown>;
  /** What has been stopped for a configuration error, by source. */
  paused: () => Promise<Record<string, { stage: string; why: string }[]>>;
  now: () => Date;
  log: Log;
}

/** The HTTP server: verify over the raw bytes, one durable write, answer. Nothing slow happens before the answer. */
export function createIntake(options: IntakeOptions): FastifyInstance {
  const { lanes, log, now } = options;
  const store = inTime(options.store);
  const app = Fastify({ bodyLimit, requestTimeout: 10_000, forceCloseConnections: 'idle', return503OnClosing: true });
  app.removeAllContentTypeParsers();
  const asBytes = { parseAs: 'buffer' } as const;
  app.addContentTypeParser(/^application\/(.+\+)?json\b/, asBytes, (_request, body, next) => next(null, body));
  const forms = 'application/x-www-form-urlencoded';
  app.addContentTypeParser(forms, asBytes, (request, body, next) => {
    const { source = '' } = Source.catch({}).parse(request.params);
    const takesForms = lanes.get(source)?.context.source.takesForms === true;
    next(takesForms ? null : Object.assign(new Error('not JSON'), { statusCode: 415 }), body);
  });

  app.setErrorHandler(async (error: { statusCode?: number; code?: string }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status === 415) return await reply.code(415).send({ error: 'Send JSON with Content-Type: application/json.' });
    if (status === 413) return await reply.code(413).send({ error: 'A delivery may have 1 MiB at most.' });
    if (status < 500) return await reply.code(status).send({ error: 'The request could not be read.' });
    log.error({ path: request.routeOptions.url, why: String(error) }, 'intake failed');
    return await reply.code(503).header('retry-after', retryAfterSeconds).send({ error: 'Try again.' });
  });
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ error: 'Not found.' }));

  app.post<{ Params: { source: string } }>('/hooks/:source', async (request, reply) => {
    const { source: name } = request.params;
    const lane = lanes.get(name);
    if (!lane) {
      log.warn({ source: name.slice(0, 41) }, 'delivery for a source that is not in the configuration');
      return await reply.code(404).send({ error: 'There is no source of this name.' });
    }
    const { source } = lane.context;
    const receivedAt = now();
    const delivery: Delivery = {
      method: request.method,
      url: `${options.publicUrl ?? app.listeningOrigin}${request.url}`,
      headers: firstValues(request.headers),
      raw: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      receivedAt,
    };
    const verdict = source.verify(delivery);
    if (!verdict.ok) {
      log.warn({ source: name, why: verdict.why }, 'delivery refused: signature');
      return await reply.code(401).send({ error: refusals[verdict.why] });
    }
    if (verdict.ping) return await reply.code(source.acceptedStatus).send({ accepted: 0, ignored: 0 });
    const found = await source.events(delivery);
    if (!found.ok) {
      log.warn({ source: name, why: found.why }, 'delivery refused: body');
      return await reply.code(400).send({ error: found.why });
    }
    for (const { what, why, act } of found.ignored) {
      log[act ? 'warn' : 'debug']({ source: name, event: what, why }, act ? 'somebody has to act' : 'ignored');
      if (act)
        await within(storeMs, lane.context.alert('to-do', `${what}: ${why}`, 'do it by hand')).catch(() => undefined);
    }
    if (found.events.length > 0) {
      failpoint('event-received');
      try {
        await store(name, found.events, receivedAt);
      } catch (error) {
        log.error({ source: name, why: String(error) }, 'delivery not stored: the vendor is told to come again');
        return await reply
          .code(503)
          .header('retry-after', retryAfterSeconds)
          .send({ error: 'Not stored. Send it again.' });
      }
    }
    failpoint('event-stored');
    return await reply
      .code(source.acceptedStatus)
      .send({ accepted: found.events.length, ignored: found.ignored.length });
  });

  app.get('/healthz', async () => ({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    try {
      await within(storeMs, options.ping());
      const paused = await within(storeMs, options.paused());
      return await reply.send({ ok: Object.keys(paused).length === 0, redis: true, paused });
    } catch {
      return await reply.code(503).send({ ok: false, redis: false });
    }
  });
  return app;
}

const refusals = {
  unsigned: 'The signature is missing.',
  mismatch:
    'The signature does not match. Check the secret of this source, and that nothing changes the body on its way.',
  stale: 'The signature is too old. Check the clocks, and that nothing holds deliveries back.',
};

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/**
 * What was sent to Redis can't be taken back, and is kept until it answers. While it owes an answer nothing more is sent,
 * so that an outage under load fills no memory.
 */
function inTime(store: IntakeOptions['store']): IntakeOptions['store'] {
  let owed = 0;
  return async (source, events, receivedAt) => {
    if (owed > 0) throw new Error('Redis has not answered for earlier deliveries yet');
    const work = store(source, events, receivedAt);
    try {
      await within(storeMs, work);
    } catch (error) {
      if (error instanceof TooLate) {
        owed += 1;
        const isOver = Promise.race([work, sleep(longestOwedMs, undefined, { ref: false })]).catch(() => undefined);
        void isOver.finally(() => {
          owed -= 1;
        });
      }
      throw error;
    }
  };
}

class TooLate extends Error {}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new TooLate(`Redis did not answer within ${ms} ms`));
    // In a process that stood still the answer may lie there unread: it is looked at first.
    timer = setTimeout(() => setImmediate(giveUp), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
