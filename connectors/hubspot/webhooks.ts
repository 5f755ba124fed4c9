import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { errorAt, unseenWebhook, warningAt } from '../../core/connector/check.ts';
import type { ConnectorPorts, Finding } from '../../core/connector/contract.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import { type CrmObject, objectTypes } from './objects.ts';
import type { WantedProperty } from './properties.ts';
import { responseRules } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/* Where HubSpot delivers, and what: how it is read and made, and what `check` and `setup` want against what the app has. */

/** A subscription that closeloop needs. */
export interface WantedSubscription {
  object: CrmObject;
  event: string;
  propertyName?: string;
}

/** Per kind of record: stage, creation (some are created closed), deletion, restore, merge, late contacts; and erasures of contacts. */
export function wantedSubscriptions({ objects }: Pick<HubSpotSettings, 'objects'>): WantedSubscription[] {
  return [
    ...objects.flatMap((object): WantedSubscription[] => [
      { object, event: 'propertyChange', propertyName: objectTypes[object].stage },
      ...['creation', 'deletion', 'restore', 'merge', 'associationChange'].map((event) => ({ object, event })),
    ]),
    { object: 'contact', event: 'privacyDeletion' },
  ];
}

export const subscriptionInWords = ({ object, event, propertyName }: WantedSubscription) =>
  `${object}.${event}${propertyName === undefined ? '' : ` of ${propertyName}`}`;

const typeIds = { ticket: objectTypes.ticket.objectTypeId, deal: objectTypes.deal.objectTypeId, contact: '0-1' };

/** The app's subscriptions for each wanted one. */
export const subscriptionsBy = (settings: HubSpotSettings, given: readonly Subscription[]) =>
  wantedSubscriptions(settings).map((wanted) => ({ wanted, given: given.filter((one) => isFor(wanted, one)) }));

/** Matches the classic and the generic form of a subscription. */
function isFor({ object, event, propertyName }: WantedSubscription, given: Subscription): boolean {
  if ((given.propertyName ?? undefined) !== propertyName) return false;
  const generic = given.eventType === `object.${event}` && given.objectTypeId === typeIds[object];
  return generic || given.eventType === `${object}.${event}`;
}

/** The address that HubSpot calls and signs. */
export const targetOf = ({ publicUrl }: Pick<HubSpotSettings, 'publicUrl'>, hookUrl: string | undefined) =>
  publicUrl ?? hookUrl;

/** Can HubSpot deliver to the address, and does its signature match? */
export function targetUrlFindings(settings: HubSpotSettings, hookUrl: string | undefined): Finding[] {
  const { publicUrl, baseUrl } = settings;
  const url = targetOf(settings, hookUrl);
  const at = publicUrl === undefined ? 'http.publicUrl' : 'publicUrl';
  if (url === undefined) {
    const problem =
      'nobody said at which address HubSpot reaches closeloop: no delivery can be verified, as HubSpot signs the address too';
    const remedy =
      'Set publicUrl under http in the configuration to the https address under which the internet reaches closeloop';
    return [errorAt(at, problem, remedy)];
  }
  const { protocol, search, hash } = new URL(url);
  const findings: Finding[] = [];
  // a stand-in on this machine delivers to this machine
  const local = isLoopback(url) && isLoopback(baseUrl);
  if (isLoopback(url) && !local) {
    const problem = `HubSpot can't reach ${url}: it is this machine's own`;
    findings.push(errorAt(at, problem, 'Give the address that the internet sees'));
  } else if (protocol !== 'https:' && !local) {
    const remedy = 'Put closeloop behind https, and give that address';
    findings.push(errorAt(at, `${url} is not https: HubSpot delivers to nothing else`, remedy));
  }
  if (search !== '' || hash !== '') {
    const problem = 'the address has a query or a fragment: signatures would not fit';
    findings.push(errorAt(at, problem, 'Give it without anything after the path'));
  }
  if (publicUrl !== undefined && hookUrl !== undefined && publicUrl !== hookUrl) {
    const problem = `HubSpot signs for ${publicUrl}, while closeloop's own address of this source is ${hookUrl}: right only if a proxy in between rewrites the path`;
    const remedy =
      'If there is no such proxy, leave publicUrl out of this source, and set the target URL in HubSpot accordingly';
    findings.push(warningAt(at, problem, remedy));
  }
  return findings;
}

const where =
  'project app: src/app/webhooks/webhooks-hsmeta.json, which `closeloop setup` prints; legacy app: its Webhooks tab';

/** For an app whose webhooks only its owner sees: `publicUrl` confirms that they exist. */
export function unseenWebhooks(settings: HubSpotSettings, hookUrl: string | undefined): Finding[] {
  if (settings.publicUrl !== undefined || hookUrl === undefined) return [];
  const remedy = `Enter the target URL ${hookUrl} and the subscriptions (${where}); then set publicUrl of this source to that target URL, which says that it is done`;
  return [unseenWebhook('HubSpot', remedy)];
}

/**
 * @param hook Undefined: the app has no target yet.
 * @param written The properties that closeloop writes.
 */
export function webhookFindings(
  settings: HubSpotSettings,
  hookUrl: string | undefined,
  hook: Hook | undefined,
  subscriptions: readonly Subscription[],
  written: readonly WantedProperty[],
): Finding[] {
  const at = 'webhook';
  const url = targetOf(settings, hookUrl);
  const found = subscriptionsBy(settings, subscriptions);
  const names = (some: typeof found) => some.map(({ wanted }) => subscriptionInWords(wanted)).join(', ');
  const missing = hook === undefined ? [] : found.filter(({ given }) => given.length === 0);
  const paused = found.filter(({ given }) => given.length > 0 && given.every(({ active }) => !active));

  const findings: Finding[] = [];
  if (hook === undefined) {
    const problem = 'the app has no target URL: HubSpot delivers nothing';
    findings.push(errorAt(at, problem, 'Run `closeloop setup`, which sets it'));
  } else if (url !== undefined && hook.targetUrl !== url) {
    const remedy =
      "An app has one target URL. If no other installation needs it, change it on the app's Webhooks tab; else make another app for this one";
    findings.push(errorAt(at, `HubSpot delivers to ${hook.targetUrl}, not here (${url})`, remedy));
  }
  if (missing.length > 0) {
    const problem = `the app is not subscribed to ${names(missing)}`;
    findings.push(errorAt(at, problem, 'Run `closeloop setup`, which subscribes it'));
  }
  if (paused.length > 0) {
    const problem = `the app's subscriptions to ${names(paused)} are paused`;
    findings.push(errorAt(at, problem, "Activate them on the app's Webhooks tab"));
  }
  for (const { at, object, name } of written) {
    const own: WantedSubscription = { object, event: 'propertyChange', propertyName: name };
    if (!subscriptions.some((given) => given.active && isFor(own, given))) continue;
    const problem = `the app is subscribed to ${subscriptionInWords(own)}, which closeloop writes: every answer comes back as an event`;
    findings.push(errorAt(at, problem, "Delete that subscription on the app's Webhooks tab"));
  }
  return findings;
}

/** When `check` begins to warn. HubSpot ends legacy apps, and v3 of its API, in September 2027. */
const warnFrom = new Date('2027-03-01T00:00:00Z');

export function legacyFindings({ developerApiKey }: Pick<HubSpotSettings, 'developerApiKey'>, now: Date): Finding[] {
  if (developerApiKey === undefined || now < warnFrom) return [];
  const problem = 'legacy public apps, and the webhook settings this key opens, end in September 2027';
  const remedy =
    'Make a project app (HubSpot CLI), install it, and give its credentials; then leave developerApiKey out';
  return [warningAt('developerApiKey', problem, remedy)];
}

const Hook = z.object({ targetUrl: z.string() });
type Hook = z.output<typeof Hook>;

const Subscription = z.object({
  eventType: z.string(),
  objectTypeId: z.string().nullish(),
  propertyName: z.string().nullish(),
  active: z.boolean(),
});
type Subscription = z.output<typeof Subscription>;

/** The webhooks of a legacy public app. */
interface WebhookApi {
  /** Undefined: no target yet. */
  hook(): Promise<Hook | undefined>;
  setTarget(url: string): Promise<void>;
  subscriptions(): Promise<Subscription[]>;
  /** Harmless where the subscription exists. */
  subscribe(eventType: string, propertyName?: string): Promise<void>;
}

/**
 * These paths take the developer key alone, without a token. They belong to API version 3, which ends together with its apps in
 * September 2027, so there is no newer version. Source: HubSpot, webhooks API of legacy public apps.
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
      (await api.find(callTo('GET', 'subscriptions'), z.object({ results: listOf(Subscription) })))?.results ?? [],
    async subscribe(eventType, propertyName) {
      const call = callTo('POST', 'subscriptions', { eventType, ...(propertyName && { propertyName }), active: true });
      const response = await api.exchange(call);
      if (response.status !== 409) await api.accept(call, response);
    },
  };
}
