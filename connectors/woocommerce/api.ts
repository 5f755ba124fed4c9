import type { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { basicCredentials } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { responseRules, shopTime, unanswered } from './responses.ts';
import { pathOf, type WooCommerceSettings } from './settings.ts';

export interface Options {
  query?: Record<string, string>;
  body?: object;
  urgency?: Urgency;
}

/** Every call to one shop. */
export interface Shop {
  /**
   * `route` is the path after `/wc/v3/`: "orders/17/notes". `at` is the time by the shop's clock, as in its dates.
   * @throws VendorError for every response but a success of the expected shape
   */
  call<S extends z.ZodType>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    route: string,
    schema: S,
    options?: Options,
  ): Promise<{ data: z.output<S>; at: Date }>;
}

export function openShop(settings: WooCommerceSettings, ports: ConnectorPorts): Shop {
  const { site, consumerKey, consumerSecret, auth } = settings;
  const inQuery = auth === 'query' ? { consumer_key: consumerKey, consumer_secret: consumerSecret } : {};
  const api = createVendorApi(
    {
      name: 'WooCommerce',
      baseUrl: site,
      ...(auth === 'header' && basicCredentials(consumerKey, consumerSecret)),
      // Slow plugins and shared hosts: a hundred orders may take a while.
      timeoutMs: 60_000,
      rules: responseRules(ports.random),
      unanswered,
      // A page may have the content type of JSON; a body with another content type is no JSON.
      jsonOf: (response) => (/\bjson\b/i.test(response.headers.get('content-type') ?? '') ? response.json : undefined),
    },
    ports,
  );
  return {
    async call(method, route, schema, { query, ...options } = {}) {
      const place = `${method} ${route.replace(/\d+/g, '{id}')}`;
      const call: VendorCall = { method, path: pathOf(settings, route, { ...query, ...inQuery }), place, ...options };
      const response = await api.exchange(call);
      await api.accept(call, response);
      return { data: api.parse(call, response, schema), at: shopTime(response) ?? ports.now() };
    },
  };
}
