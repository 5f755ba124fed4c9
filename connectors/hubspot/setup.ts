import type { ConnectorPorts, GoingLive, SetupStep } from '../../core/connector/contract.ts';
import { targetsOf } from './check-targets.ts';
import { hubSpotApi } from './client.ts';
import type { HubSpotSettings } from './settings.ts';
import { propertySteps } from './setup-properties.ts';
import { webhookSteps } from './setup-webhooks.ts';

/** What is missing in the account, in the order in which it can be made. What is there is never changed, but for added options. */
export function preparer(settings: HubSpotSettings, ports: ConnectorPorts) {
  const api = hubSpotApi(settings, ports);
  return async ({ grades, hookUrl }: GoingLive): Promise<SetupStep[]> => [
    ...(await propertySteps(targetsOf(settings, grades), api)),
    ...(await webhookSteps(settings, hookUrl, api, ports)),
  ];
}
