import { CloseloopError, isCode } from '../../core/errors.ts';
import type { Tracing } from './tracing.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Tracing, where OpenTelemetry's own environment variables name a collector; else undefined, and no package of OpenTelemetry is loaded.
 * @throws CloseloopError config where OpenTelemetry's packages are not installed
 */
export async function openTracing(env: Env, version: string): Promise<Tracing | undefined> {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  try {
    const { startTracing } = await import('./open-telemetry.ts');
    return startTracing({ url, service: env.OTEL_SERVICE_NAME ?? 'closeloop', version });
  } catch (cause) {
    if (!isCode(cause, 'ERR_MODULE_NOT_FOUND')) throw cause;
    const packages = ['context-async-hooks', 'core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace'];
    const message = `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages for traces are not installed: npm install ${packages.map((name) => `@opentelemetry/${name}`).join(' ')}`;
    throw new CloseloopError(message, { kind: 'config' }, { cause });
  }
}
