import type { ConnectorPorts, SetupStep } from '../../core/connector/contract.ts';
import { appIdOf } from './check-app.ts';
import { inWords, isFor, targetOf, type Wanted, wantedSubscriptions } from './check-webhooks.ts';
import type { HubSpotApi } from './client.ts';
import type { HubSpotSettings } from './settings.ts';
import { webhookApi } from './webhook-api.ts';

/**
 * The webhooks of a legacy public app are made over its API: a target where there is none (one that leads elsewhere is
 * somebody's, and stays), and the subscriptions that are missing. No other app's webhooks can be seen or made from outside:
 * a person uploads the file, and says so by setting `publicUrl`, the target URL as HubSpot has it.
 */
export async function webhookSteps(
  settings: HubSpotSettings,
  hookUrl: string | undefined,
  api: HubSpotApi,
  ports: ConnectorPorts,
): Promise<SetupStep[]> {
  const { developerApiKey, publicUrl } = settings;
  const url = targetOf(settings, hookUrl);
  if (url === undefined) return [];
  if (developerApiKey === undefined) return publicUrl === undefined ? [fileStep(settings, url)] : [];
  const appId = settings.appId ?? (await appIdOf(settings, api, ports));
  if (appId === undefined) return [];

  const webhooks = webhookApi(settings, appId, developerApiKey, ports);
  const hook = await webhooks.hook();
  const given = hook === undefined ? [] : await webhooks.subscriptions();
  const missing = wantedSubscriptions(settings).filter((wanted) => !given.some((one) => isFor(wanted, one)));
  const target: SetupStep = {
    what: `have app ${appId} deliver its webhooks to ${url}`,
    async apply() {
      await webhooks.setTarget(url);
      return { note: 'HubSpot may take five minutes to heed it' };
    },
  };
  const subscriptions = missing.map(
    (wanted): SetupStep => ({
      what: `subscribe app ${appId} to ${inWords(wanted)}`,
      async apply() {
        await webhooks.subscribe(`${wanted.object}.${wanted.event}`, wanted.propertyName);
        return {};
      },
    }),
  );
  return [...(hook === undefined ? [target] : []), ...subscriptions];
}

const fileStep = (settings: HubSpotSettings, url: string): SetupStep => ({
  what: "print the app's webhooks-hsmeta.json, for you to upload (HubSpot lets nobody else change an app's webhooks)",
  apply: async () => ({
    note: [
      "1. Save this in the app's project as src/app/webhooks/webhooks-hsmeta.json, and run `hs project upload`. (A legacy private app: enter the same on its Webhooks tab.)",
      webhooksFile(settings, url),
      `2. Set publicUrl of this source to ${url}: it says that HubSpot delivers there, and setup has nothing left to do.`,
    ].join('\n'),
  }),
});

/** Generic events, but for the one that has no generic form. Source: HubSpot, configure webhooks (project apps). */
export function webhooksFile(settings: Pick<HubSpotSettings, 'objects'>, targetUrl: string): string {
  const wanted = wantedSubscriptions(settings);
  const generic = ({ object, event, propertyName }: Wanted) => ({
    subscriptionType: `object.${event}`,
    objectType: object,
    ...(propertyName && { propertyName }),
    active: true,
  });
  const hubEvent = ({ object, event }: Wanted) => ({ subscriptionType: `${object}.${event}`, active: true });
  const config = {
    settings: { targetUrl, maxConcurrentRequests: 10 },
    subscriptions: {
      crmObjects: wanted.filter(({ event }) => event !== 'privacyDeletion').map(generic),
      legacyCrmObjects: [],
      hubEvents: wanted.filter(({ event }) => event === 'privacyDeletion').map(hubEvent),
    },
  };
  return JSON.stringify({ uid: 'webhooks', type: 'webhooks', config }, null, 2);
}
