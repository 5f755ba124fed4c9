import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { placesOf } from '../../core/connector/answer.ts';
import {
  type Comparison,
  errorAt,
  manualStep,
  type SetupItem,
  unseenWebhook,
  warningAt,
} from '../../core/connector/check.ts';
import { config } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding, SetupStep } from '../../core/connector/contract.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import { type CrmObject, objectTypes } from './objects.ts';
import { responseRules } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/* The address and the subscriptions of HubSpot's deliveries: how closeloop reads and creates them, and what `check` and `setup` compare. */

/** A subscription that closeloop needs. */
interface WantedSubscription {
  object: CrmObject;
  event: string;
  propertyName?: string;
}

/**
 * The subscriptions for each kind of record: stage, creation (some records are closed from their creation), deletion, restore, merge, late
 * contacts; and privacy deletions of contacts.
 */
const wantedSubscriptions = ({ objects }: Pick<HubSpotSettings, 'objects'>): WantedSubscription[] => [
  ...objects.flatMap((object): WantedSubscription[] => [
    { object, event: 'propertyChange', propertyName: objectTypes[object].stage },
    ...['creation', 'deletion', 'restore', 'merge', 'associationChange'].map((event) => ({ object, event })),
  ]),
  { object: 'contact', event: 'privacyDeletion' },
];

const inWords = ({ object, event, propertyName }: WantedSubscription) =>
  `${object}.${event}${propertyName === undefined ? '' : ` of ${propertyName}`}`;

const typeIds = { ticket: objectTypes.ticket.objectTypeId, deal: objectTypes.deal.objectTypeId, contact: '0-1' };

/** Whether a subscription, in the classic or the generic form, is the wanted subscription. */
function isFor({ object, event, propertyName }: WantedSubscription, given: Subscription): boolean {
  if ((given.propertyName ?? undefined) !== propertyName) return false;
  const generic = given.eventType === `object.${event}` && given.objectTypeId === typeIds[object];
  return generic || given.eventType === `${object}.${event}`;
}

/** The address that HubSpot calls and signs. */
export const targetOf = ({ publicUrl }: Pick<HubSpotSettings, 'publicUrl'>, hookUrl: string | undefined) =>
  publicUrl ?? hookUrl;

type Flaw = [isThere: boolean, problem: string, remedy: string];
const errorsAt = (at: string, flaws: readonly Flaw[]): Finding[] =>
  flaws.flatMap(([isThere, problem, remedy]) => (isThere ? [errorAt(at, problem, remedy)] : []));

/** Checks that HubSpot can deliver to the address, and that its signature will match. */
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
  // A stand-in on this machine can deliver to this machine.
  const isNear = isLoopback(url);
  const isReached = !isNear || isLoopback(baseUrl);
  const findings = errorsAt(at, [
    [!isReached, `HubSpot can't reach ${url}: it is this machine's own`, 'Give the address that the internet sees'],
    [
      protocol !== 'https:' && !isNear,
      `${url} is not https: HubSpot delivers to nothing else`,
      'Put closeloop behind https, and give that',
    ],
    [search + hash !== '', 'the address has a query or a fragment: signatures would not fit', 'Give it without these'],
  ]);
  if (publicUrl === undefined || hookUrl === undefined || publicUrl === hookUrl) return findings;
  const proxied = `HubSpot signs for ${publicUrl}, while closeloop's own address of this source is ${hookUrl}: right only if a proxy in between rewrites the path`;
  const noProxy =
    'If there is no such proxy, leave publicUrl out of this source, and set the target URL in HubSpot accordingly';
  return [...findings, warningAt(at, proxied, noProxy)];
}

const where =
  'project app: src/app/webhooks/webhooks-hsmeta.json, which `closeloop setup` prints; legacy app: its Webhooks tab';

/** The finding for an app whose webhooks only the app's owner sees: `publicUrl` confirms that the webhooks exist. */
export function unseenWebhooks({ publicUrl }: HubSpotSettings, hookUrl: string | undefined): Finding[] {
  if (publicUrl !== undefined || hookUrl === undefined) return [];
  const remedy = `Enter the target URL ${hookUrl} and the subscriptions (${where}); then set publicUrl of this source to that target URL, which says that it is done`;
  return [unseenWebhook('HubSpot', remedy)];
}

/**
 * Compares the webhooks of a legacy public app. `setup` creates a target if there is none (another target stays), and missing subscriptions.
 * @param url undefined if the configuration has no public address
 */
export async function comparedWebhooks(
  settings: HubSpotSettings,
  url: string | undefined,
  appId: string,
  ports: ConnectorPorts,
): Promise<Comparison> {
  const webhooks = webhookApi(settings, appId, ports);
  const hook = await webhooks.hook();
  const given = hook === undefined ? [] : await webhooks.subscriptions();
  const wanted = wantedSubscriptions(settings).map((one) => ({ one, own: given.filter((its) => isFor(one, its)) }));
  const missing = wanted.filter(({ own }) => own.length === 0);
  const paused = wanted.filter(({ own }) => own.length > 0 && own.every(({ active }) => !active));
  const named = (some: typeof wanted) => some.map(({ one }) => inWords(one)).join(', ');
  const findings = errorsAt('webhook', [
    [!hook, 'the app has no target URL: HubSpot delivers nothing', 'Run `closeloop setup`, which sets it'],
    [
      hook !== undefined && url !== undefined && hook.targetUrl !== url,
      `HubSpot delivers to ${hook?.targetUrl}, not here (${url})`,
      "An app has one target URL. If no other installation needs it, change it on the app's Webhooks tab; else make another app for this one",
    ],
    [
      hook !== undefined && missing.length > 0,
      `the app is not subscribed to ${named(missing)}`,
      'Run `closeloop setup`, which subscribes it',
    ],
    [
      paused.length > 0,
      `the app's subscriptions to ${named(paused)} are paused`,
      "Activate them on the app's Webhooks tab",
    ],
  ]);
  const target = (here: string): SetupItem => ({
    ...{ id: 'target', what: `have app ${appId} deliver its webhooks to ${here}` },
    async make() {
      await webhooks.setTarget(here);
      return { note: 'HubSpot may take five minutes to heed it' };
    },
  });
  const subscriptions = missing.map(({ one }): SetupItem => {
    const what = `subscribe app ${appId} to ${inWords(one)}`;
    return { id: inWords(one), what, make: () => webhooks.subscribe(one) };
  });
  const lacking = url === undefined ? [] : [...(hook === undefined ? [target(url)] : []), ...subscriptions];
  return { findings: [...findings, ...echoes(settings, given)], missing: lacking };
}

/** Findings for subscriptions to properties that closeloop itself writes. */
function echoes({ objects, writeBack }: HubSpotSettings, given: readonly Subscription[]): Finding[] {
  const written = [
    ...objects.map((object) => ({ object, prefix: 'writeBack', places: placesOf(writeBack) })),
    { object: 'contact' as const, prefix: 'writeBack.contact', places: placesOf(writeBack.contact) },
  ];
  return written.flatMap(({ object, prefix, places }) =>
    [...places].flatMap(([part, propertyName]) => {
      const own: WantedSubscription = { object, event: 'propertyChange', propertyName };
      if (!given.some((one) => one.active && isFor(own, one))) return [];
      const problem = `the app is subscribed to ${inWords(own)}, which closeloop writes: every answer comes back as an event`;
      return [errorAt(`${prefix}.${part}`, problem, "Delete that subscription on the app's Webhooks tab")];
    }),
  );
}

/** The date from which `check` warns. HubSpot ends legacy apps, and v3 of its API, in September 2027. */
const warnFrom = new Date('2027-03-01T00:00:00Z');

export function legacyFindings({ developerApiKey }: Pick<HubSpotSettings, 'developerApiKey'>, now: Date): Finding[] {
  if (developerApiKey === undefined || now < warnFrom) return [];
  const problem = 'legacy public apps, and the webhook settings this key opens, end in September 2027';
  const remedy =
    'Make a project app (HubSpot CLI), install it, and give its credentials; then leave developerApiKey out';
  return [warningAt('developerApiKey', problem, remedy)];
}

const Hook = z.object({ targetUrl: z.string() });
const Subscription = z.object({
  ...{ eventType: z.string(), objectTypeId: z.string().nullish(), propertyName: z.string().nullish() },
  active: z.boolean(),
});
type Subscription = z.output<typeof Subscription>;
const Subscriptions = z.object({ results: listOf(Subscription) });

/**
 * The client for the webhooks API, which takes the developer key alone, without a token. Its paths belong to API version 3, which ends
 * together with legacy apps in September 2027, so there is no newer version. Source: HubSpot, webhooks API of legacy public apps.
 */
function webhookApi(settings: HubSpotSettings, appId: string, ports: ConnectorPorts) {
  const refused = config(
    `developerApiKey was refused, or app ${appId} is another developer account's`,
    'the key is in the developer account that owns the app, under Keys',
  );
  const rules = { table: { ...responseRules(settings, ports.now).table, 401: refused, 403: refused } };
  const api = createVendorApi({ name: 'HubSpot', baseUrl: settings.baseUrl, rules }, ports);
  const query = new URLSearchParams({ hapikey: settings.developerApiKey ?? '' });
  const callTo = (method: 'GET' | 'PUT' | 'POST', path: 'settings' | 'subscriptions', body?: object): VendorCall => ({
    ...{ method, path: `/webhooks/v3/${appId}/${path}?${query}`, place: `${method} /webhooks/v3/{appId}/${path}` },
    ...(body && { body }),
  });

  return {
    /** The target; undefined if there is none yet. */
    hook: () => api.find(callTo('GET', 'settings'), Hook),
    setTarget: (targetUrl: string) =>
      api.call(callTo('PUT', 'settings', { targetUrl, throttling: { maxConcurrentRequests: 10 } }), Hook),
    subscriptions: async () => (await api.find(callTo('GET', 'subscriptions'), Subscriptions))?.results ?? [],
    /** Subscribes; harmless if the subscription exists. */
    async subscribe({ object, event, propertyName }: WantedSubscription) {
      const call = callTo('POST', 'subscriptions', { eventType: `${object}.${event}`, propertyName, active: true });
      const response = await api.exchange(call);
      if (response.status !== 409) await api.accept(call, response);
      return {};
    },
  };
}

/** The step for all other apps, whose webhooks have no API: a person uploads the file, and confirms that by setting `publicUrl`. */
export const fileStep = (settings: HubSpotSettings, url: string): SetupStep =>
  manualStep(
    "print the app's webhooks-hsmeta.json, for you to upload (HubSpot lets nobody else change an app's webhooks)",
    "1. Save this in the app's project as src/app/webhooks/webhooks-hsmeta.json, and run `hs project upload`. (A legacy private app: enter the same on its Webhooks tab.)",
    webhooksFile(settings, url),
    `2. Set publicUrl of this source to ${url}: it says that HubSpot delivers there, and setup has nothing left to do.`,
  );

/**
 * The file with the webhooks. Its events have the generic form, except the event that has none. Source: HubSpot, configure webhooks (project
 * apps).
 */
function webhooksFile(settings: HubSpotSettings, targetUrl: string): string {
  const [erasures, others] = [true, false].map((isErasure) =>
    wantedSubscriptions(settings).filter(({ event }) => (event === 'privacyDeletion') === isErasure),
  );
  const crmObjects = others?.map(({ object, event, propertyName }) => {
    return { subscriptionType: `object.${event}`, objectType: object, propertyName, active: true };
  });
  const hubEvents = erasures?.map(({ object, event }) => ({ subscriptionType: `${object}.${event}`, active: true }));
  const subscriptions = { crmObjects, legacyCrmObjects: [], hubEvents };
  const config = { settings: { targetUrl, maxConcurrentRequests: 10 }, subscriptions };
  return JSON.stringify({ uid: 'webhooks', type: 'webhooks', config }, null, 2);
}
