import { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { type HttpResponse, SendFailure, send } from '../../core/connector/send.ts';
import { notAnswered, type Refusal, refusalError, ShopError } from './failure.ts';
import { parseJson } from './json.ts';
import { addressOf, type WooCommerceSettings } from './settings.ts';

/** Slow plugins and shared hosts: a hundred orders may take a while. */
const timeoutMs = 60_000;

export interface Options {
  query?: Record<string, string>;
  body?: object;
  urgency?: Urgency;
}

export interface Answer<T> {
  data: T;
  /** The shop's clock, which its dates are written by. */
  at: Date;
}

/** Every call to one shop: out of its budget, one attempt. */
export interface Shop {
  /**
   * `route` is what follows `/wc/v3/`: "orders/17/notes".
   * @throws ShopError for everything that isn't an answer of the expected shape
   */
  call<S extends z.ZodType>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    route: string,
    schema: S,
    options?: Options,
  ): Promise<Answer<z.output<S>>>;
}

const ErrorBody = z.object({ code: z.string().regex(/^[a-z][a-z0-9_-]{1,80}$/) });

export function openShop(settings: WooCommerceSettings, ports: ConnectorPorts): Shop {
  const { consumerKey, consumerSecret, auth } = settings;
  const basic = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`;
  const inQuery = auth === 'query' ? { consumer_key: consumerKey, consumer_secret: consumerSecret } : {};

  return {
    async call(method, route, schema, { query = {}, body, urgency } = {}) {
      const place = `${method} ${route.replace(/\d+/g, '{id}')}`;
      await ports.budget.take(undefined, urgency);
      const url = addressOf(settings, route, { ...query, ...inQuery });
      const init = {
        method,
        headers: {
          accept: 'application/json',
          ...(auth === 'header' && { authorization: basic }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      };
      const response = await send(ports.fetch, url, init, { timeoutMs }).catch((error: unknown) => {
        throw error instanceof SendFailure ? notAnswered(place, error) : error;
      });
      const json = jsonOf(response);
      if (!response.ok) {
        const refusal: Refusal = {
          status: response.status,
          code: ErrorBody.safeParse(json).data?.code ?? '',
          isJson: json !== undefined,
          retryAfter: response.headers.get('retry-after'),
          location: response.headers.get('location'),
        };
        const { error, pauseMs } = refusalError(place, refusal, { now: ports.now(), random: ports.random() });
        if (pauseMs !== undefined) await ports.budget.pause(pauseMs);
        throw error;
      }
      const date = new Date(response.headers.get('date') ?? Number.NaN);
      return { data: shaped(place, schema, json), at: Number.isNaN(date.getTime()) ? ports.now() : date };
    },
  };
}

/** Undefined for a page, whatever it says of itself: hosts, firewalls and WordPress in maintenance answer with those. */
function jsonOf({ headers, text }: HttpResponse): unknown {
  if (!/\bjson\b/i.test(headers.get('content-type') ?? '')) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Another shape than documented is named by its place, never by its values. */
function shaped<S extends z.ZodType>(place: string, schema: S, json: unknown): z.output<S> {
  if (json === undefined) {
    throw new ShopError(place, {
      problem: 'a page instead of an answer',
      remedy: 'it is tried again; a plugin or the host may be putting itself before the API',
      advice: { kind: 'transient' },
      outcome: 'unknown',
    });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ShopError(place, {
    problem: `the answer has another shape than documented, at ${parsed.error.issues[0]?.path.join('.') || 'its top'}`,
    remedy: 'report it as a bug in closeloop, with the version of WooCommerce',
    advice: { kind: 'permanent' },
    outcome: 'unknown',
  });
}
