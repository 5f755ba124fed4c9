import { isLoopback } from '../../core/address.ts';
import type { Finding } from '../../core/connector/contract.ts';
import type { Target } from './check-targets.ts';
import { type ObjectType, objectTypes } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import type { Hook, Subscription } from './webhook-api.ts';

/** An event that closeloop must hear of. */
export interface Wanted {
  object: ObjectType | 'contact';
  event: string;
  propertyName?: string;
}

/** Per kind of record: its stage, born closed, gone, back, merged, a contact added late; and people who are to be forgotten. */
export function wantedSubscriptions({ objects }: Pick<HubSpotSettings, 'objects'>): Wanted[] {
  return [
    ...objects.flatMap((object): Wanted[] => [
      { object, event: 'propertyChange', propertyName: objectTypes[object].stage },
      ...['creation', 'deletion', 'restore', 'merge', 'associationChange'].map((event) => ({ object, event })),
    ]),
    { object: 'contact', event: 'privacyDeletion' },
  ];
}

export const inWords = ({ object, event, propertyName }: Wanted) =>
  `${object}.${event}${propertyName === undefined ? '' : ` of ${propertyName}`}`;

const typeIds = { ticket: objectTypes.ticket.objectTypeId, deal: objectTypes.deal.objectTypeId, contact: '0-1' };

/** The classic form and the generic one say the same. */
export function isFor({ object, event, propertyName }: Wanted, given: Subscription): boolean {
  if ((given.propertyName ?? undefined) !== propertyName) return false;
  const generic = given.eventType === `object.${event}` && given.objectTypeId === typeIds[object];
  return generic || given.eventType === `${object}.${event}`;
}

/** What HubSpot calls and signs. */
export const targetOf = ({ publicUrl }: Pick<HubSpotSettings, 'publicUrl'>, hookUrl: string | undefined) =>
  publicUrl ?? hookUrl;

/** Can HubSpot deliver there, and will its signature fit? */
export function targetUrlFindings(settings: HubSpotSettings, hookUrl: string | undefined): Finding[] {
  const { publicUrl, baseUrl } = settings;
  const url = targetOf(settings, hookUrl);
  const at = publicUrl === undefined ? 'http.publicUrl' : 'publicUrl';
  const error = (problem: string, remedy: string): Finding => ({ level: 'error', at, problem, remedy });
  if (url === undefined) {
    return [
      error(
        'nobody said at which address HubSpot reaches closeloop: no delivery can be verified, as HubSpot signs the address too',
        'Set publicUrl under http in the configuration to the https address under which the internet reaches closeloop',
      ),
    ];
  }
  const { protocol, search, hash } = new URL(url);
  const findings: Finding[] = [];
  // a stand-in on this machine delivers to this machine
  const local = isLoopback(url) && isLoopback(baseUrl);
  if (isLoopback(url) && !local) {
    findings.push(
      error(`HubSpot can't reach ${url}: it is this machine's own`, 'Give the address that the internet sees'),
    );
  } else if (protocol !== 'https:' && !local) {
    findings.push(
      error(
        `${url} is not https: HubSpot delivers to nothing else`,
        'Put closeloop behind https, and give that address',
      ),
    );
  }
  if (search !== '' || hash !== '') {
    findings.push(
      error(
        'the address has a query or a fragment: signatures would not fit',
        'Give it without anything after the path',
      ),
    );
  }
  if (publicUrl !== undefined && hookUrl !== undefined && publicUrl !== hookUrl) {
    findings.push({
      level: 'warning',
      at,
      problem: `HubSpot signs for ${publicUrl}, while closeloop's own address of this source is ${hookUrl}: right only if a proxy in between rewrites the path`,
      remedy:
        'If there is no such proxy, leave publicUrl out of this source, and set the target URL in HubSpot accordingly',
    });
  }
  return findings;
}

const where =
  'project app: src/app/webhooks/webhooks-hsmeta.json, which `closeloop setup` prints; legacy app: its Webhooks tab';

/** An app whose webhooks nobody but its owner sees: its owner's word that they are there is `publicUrl`. */
export function unseenWebhooks(settings: HubSpotSettings, hookUrl: string | undefined): Finding[] {
  if (settings.publicUrl !== undefined || hookUrl === undefined) return [];
  return [
    {
      level: 'warning',
      at: 'webhook',
      problem: "nothing shows that HubSpot delivers here: it shows an app's webhooks to nobody but its owner",
      remedy: `Enter the target URL ${hookUrl} and the subscriptions (${where}); then set publicUrl of this source to that target URL, which says that it is done`,
    },
  ];
}

/** @param hook undefined: the app has no target yet. */
export function webhookFindings(
  settings: HubSpotSettings,
  hookUrl: string | undefined,
  hook: Hook | undefined,
  subscriptions: readonly Subscription[],
  targets: readonly Target[],
): Finding[] {
  const error = (problem: string, remedy: string, at = 'webhook'): Finding => ({ level: 'error', at, problem, remedy });
  const url = targetOf(settings, hookUrl);
  const findings: Finding[] = [];
  if (hook === undefined) {
    findings.push(error('the app has no target URL: HubSpot delivers nothing', 'Run `closeloop setup`, which sets it'));
  } else if (url !== undefined && hook.targetUrl !== url) {
    findings.push(
      error(
        `HubSpot delivers to ${hook.targetUrl}, not here (${url})`,
        "An app has one target URL. If no other installation needs it, change it on the app's Webhooks tab; else make another app for this one",
      ),
    );
  }
  const found = wantedSubscriptions(settings).map((wanted) => ({
    name: inWords(wanted),
    given: subscriptions.filter((given) => isFor(wanted, given)),
  }));
  const missing = hook === undefined ? [] : found.filter(({ given }) => given.length === 0);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    findings.push(error(`the app is not subscribed to ${names}`, 'Run `closeloop setup`, which subscribes it'));
  }
  const paused = found.filter(({ given }) => given.length > 0 && given.every(({ active }) => !active));
  if (paused.length > 0) {
    const names = paused.map(({ name }) => name).join(', ');
    findings.push(error(`the app's subscriptions to ${names} are paused`, "Activate them on the app's Webhooks tab"));
  }
  for (const { at, object, name } of targets) {
    const own: Wanted = { object, event: 'propertyChange', propertyName: name };
    if (!subscriptions.some((given) => given.active && isFor(own, given))) continue;
    findings.push(
      error(
        `the app is subscribed to ${inWords(own)}, which closeloop writes: every answer comes back as an event`,
        "Delete that subscription on the app's Webhooks tab",
        at,
      ),
    );
  }
  return findings;
}

/** From here on the end is near enough to plan for it. HubSpot ends legacy apps, and v3 of its API, in September 2027. */
const tellFrom = new Date('2027-03-01T00:00:00Z');

export function legacyFindings({ developerApiKey }: Pick<HubSpotSettings, 'developerApiKey'>, now: Date): Finding[] {
  if (developerApiKey === undefined || now < tellFrom) return [];
  return [
    {
      level: 'warning',
      at: 'developerApiKey',
      problem: 'legacy public apps, and the webhook settings this key opens, end in September 2027',
      remedy: 'Make a project app (HubSpot CLI), install it, and give its credentials; then leave developerApiKey out',
    },
  ];
}
