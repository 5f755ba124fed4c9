import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { responseRules } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

const Hook = z.object({ targetUrl: z.string() });
export type Hook = z.output<typeof Hook>;

const Subscription = z.object({
  eventType: z.string(),
  objectTypeId: z.string().nullish(),
  propertyName: z.string().nullish(),
  active: z.boolean(),
});
export type Subscription = z.output<typeof Subscription>;

/** Where a legacy public app delivers, and what. */
export interface WebhookApi {
  /** Undefined: no target yet. */
  hook(): Promise<Hook | undefined>;
  setTarget(url: string): Promise<void>;
  subscriptions(): Promise<Subscription[]>;
  /** Harmless where the subscription exists. */
  subscribe(eventType: string, propertyName?: string): Promise<void>;
}

/**
 * The developer key opens these paths, alone: no token beside it. They are of API version 3, which ends together with the
 * apps it is for (September 2027), so no newer version is worth having. Source: HubSpot, webhooks API of legacy public apps.
 */
export function webhookApi(settings: HubSpotSettings, appId: string, key: string, ports: ConnectorPorts): WebhookApi {
  const refused = {
    kind: 'config',
    problem: `developerApiKey was refused, or app ${appId} is another developer account's`,
    remedy: 'the key is in the developer account that owns the app, under Keys',
  } as const;
  const { table } = responseRules(settings, ports.now);
  const rules = { table: { ...table, 401: refused, 403: refused } };
  const api = createVendorApi({ name: 'HubSpot', baseUrl: settings.baseUrl, rules }, ports);
  const callTo = (method: 'GET' | 'PUT' | 'POST', path: 'settings' | 'subscriptions', body?: object): VendorCall => ({
    method,
    path: `/webhooks/v3/${appId}/${path}?${new URLSearchParams({ hapikey: key })}`,
    place: `${method} /webhooks/v3/{appId}/${path}`,
    ...(body && { body }),
  });

  return {
    hook: () => api.find(callTo('GET', 'settings'), Hook),
    async setTarget(targetUrl) {
      await api.call(callTo('PUT', 'settings', { targetUrl, throttling: { maxConcurrentRequests: 10 } }), Hook);
    },
    subscriptions: async () =>
      (await api.find(callTo('GET', 'subscriptions'), z.object({ results: z.array(Subscription) })))?.results ?? [],
    async subscribe(eventType, propertyName) {
      const call = callTo('POST', 'subscriptions', { eventType, ...(propertyName && { propertyName }), active: true });
      const response = await api.exchange(call);
      if (response.status !== 409) await api.accept(call, response);
    },
  };
}
