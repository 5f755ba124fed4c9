import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import type { Tracing } from './tracing.ts';

/** Every trace begins with a delivery or a job: what BullMQ does between jobs (fetching the next, every few seconds) is not traced. */
const root: Sampler = {
  shouldSample: (_context, _traceId, _name, kind) => ({
    decision: kind === SpanKind.INTERNAL ? SamplingDecision.NOT_RECORD : SamplingDecision.RECORD_AND_SAMPLED,
  }),
  toString: () => 'deliveries and jobs',
};

export function startTracing({ url, service, version }: { url: string; service: string; version: string }): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  // bullmq-otel uses these global objects.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = trace.getTracer('closeloop', version);
  const telemetry = withoutErrors(new BullMQOtel({ tracerName: 'closeloop', version }));
  const { contextManager } = telemetry;

  return {
    telemetry,
    current: () => contextManager.getMetadata(context.active()),
    async span(name, attributes, work, within) {
      const here = trace.getSpanContext(context.active());
      const links = within !== undefined && here ? [{ context: here }] : [];
      const parent = within === undefined ? context.active() : contextManager.fromMetadata(context.active(), within);
      const span = tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes, links }, parent);
      return await context.with(trace.setSpan(parent, span), () => ended(span, work));
    },
    close: () => provider.shutdown(),
  };
}

/** A span says only that the work failed: the error is in the log, where personal data is taken out of its text. */
async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** BullMQ's telemetry, without the texts and stacks of errors, and without what jobs return. */
function withoutErrors(whole: Telemetry): Telemetry {
  return {
    contextManager: whole.contextManager,
    tracer: {
      startSpan: (...args) => {
        const span = whole.tracer.startSpan(...args);
        return {
          setSpanOnContext: (of) => span.setSpanOnContext(of),
          setAttribute: (key, value) => span.setAttribute(key, value),
          setAttributes: (attributes) => span.setAttributes(attributes),
          addEvent: (name) => span.addEvent(name),
          recordException: () => span.addEvent('exception'),
          end: () => span.end(),
        };
      },
    },
  };
}
