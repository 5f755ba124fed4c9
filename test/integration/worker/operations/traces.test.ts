import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openTracing } from '../../../../worker/operations/open-tracing.ts';
import { freePort } from '../../../support/free-port.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
});
/** What an exporter sends in OTLP/JSON. */
const Export = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
});

/** A collector that takes OTLP/JSON over HTTP. */
async function startCollector() {
  const port = await freePort();
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/traces') bodies.push(await json(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const spans = () =>
    bodies.flatMap((body) =>
      Export.parse(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  return { url: `http://127.0.0.1:${port}`, spans, text: () => JSON.stringify(bodies) };
}

test('one trace leads from the delivery to the grade on the record, and names nobody', async () => {
  const collector = await startCollector();
  const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, '1.0.0');
  const loop = await startLoop(redis, { source: 'traced', tracing });
  await loop.asked('t1');
  loop.feedback.standin.answer({ contact: 't1@example.com', grade: 4, comment: 'Thanks' });
  await loop.journey('t1.1', 'written');
  await until(async () => (await loop.app.engine.busy()) === 0);
  await loop.close();
  await tracing?.close();

  const spans = collector.spans();
  const delivery = spans.find(({ name }) => name === 'delivery');
  expect(delivery?.parentSpanId).toBeUndefined();
  const its = spans.filter(({ traceId }) => traceId === delivery?.traceId).map(({ name }) => name);
  expect(its).toEqual(expect.arrayContaining(['delivery', 'process plan', 'write back']));
  // Between two jobs BullMQ looks for the next one: nobody's work, and no trace of its own.
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name);
  expect(roots.filter((name) => !/^(delivery|process |add)/.test(name))).toEqual([]);
  expect(collector.text()).not.toMatch(/example\.com|Thanks|demo-key/);
});

test('without a collector nothing of it is loaded', async () => {
  expect(await openTracing({}, '1.0.0')).toBeUndefined();
  expect(await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, '1.0.0')).toBeUndefined();
});
