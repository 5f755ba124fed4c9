import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { boundedFetch } from '../../core/connector/send.ts';
import { CloseloopError } from '../../core/errors.ts';
import { accountFailure, ErrorBody, inWords, refusalOf } from './failure.ts';
import type { HubSpotSettings } from './settings.ts';
import { received, shaped } from './transport.ts';

const timeoutMs = 30_000;

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
  /** undefined: no target yet. */
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
export function webhookApi(
  settings: HubSpotSettings,
  appId: string,
  key: string,
  ports: Pick<ConnectorPorts, 'fetch' | 'budget' | 'now'>,
): WebhookApi {
  async function call<S extends z.ZodType>(
    method: 'GET' | 'PUT' | 'POST',
    path: 'settings' | 'subscriptions',
    schema: S,
    body?: object,
  ): Promise<{ status: number; body: z.output<S> | undefined }> {
    const place = `${method} /webhooks/v3/{appId}/${path}`;
    await ports.budget.take();
    const { status, ok, headers, json } = await received(place, () =>
      boundedFetch(ports.fetch, timeoutMs)(
        `${settings.baseUrl}/webhooks/v3/${appId}/${path}?${new URLSearchParams({ hapikey: key })}`,
        {
          method,
          ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
        },
      ),
    );
    if (ok) return { status, body: shaped(place, schema, json) };
    if (status === 401 || status === 403) {
      throw new CloseloopError(
        `HubSpot ${place}: developerApiKey was refused (${status}), or app ${appId} is another developer account's. The key is in the developer account that owns the app, under Keys`,
        { kind: 'config' },
      );
    }
    const refusal = refusalOf(status, ErrorBody.catch({}).parse(json));
    const failure = accountFailure(place, refusal, headers.get('retry-after'), ports.now(), settings);
    if (failure?.pauseMs !== undefined) await ports.budget.pause(failure.pauseMs);
    if (failure !== undefined) throw failure.error;
    if (status === 404 || status === 409) return { status, body: undefined };
    throw new CloseloopError(`HubSpot ${place}: ${inWords(refusal)}`, { kind: 'permanent' });
  }

  return {
    hook: async () => (await call('GET', 'settings', Hook)).body,
    async setTarget(targetUrl) {
      await call('PUT', 'settings', Hook, { targetUrl, throttling: { maxConcurrentRequests: 10 } });
    },
    subscriptions: async () =>
      (await call('GET', 'subscriptions', z.object({ results: z.array(Subscription) }))).body?.results ?? [],
    async subscribe(eventType, propertyName) {
      await call('POST', 'subscriptions', z.unknown(), {
        eventType,
        ...(propertyName && { propertyName }),
        active: true,
      });
    },
  };
}
