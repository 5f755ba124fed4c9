import type { ConnectorPorts, SetupStep, Source } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type ZendeskApi, zendeskApi } from './client.ts';
import { ZendeskFailure } from './failure.ts';
import type { ZendeskSettings } from './settings.ts';
import { ticketFieldSteps, userFieldSteps } from './setup-fields.ts';
import { webhookSteps } from './setup-webhook.ts';

/**
 * What is missing at Zendesk: ticket fields that are named by a title, options of dropdowns, user fields, the webhook (and
 * its trigger). What exists stays as it is, but an inactive webhook of ours is activated. Every step looks again before it
 * acts, so that it can be applied again after a failure, and with others at work.
 */
export function installer(
  settings: ZendeskSettings,
  api: ZendeskApi,
  ports: ConnectorPorts,
): NonNullable<Source['setup']> {
  return async (about): Promise<SetupStep[]> => {
    // The source's own token has no right to create anything; this one lives only as long as somebody sets up.
    const create = forAdmins(zendeskApi({ ...settings, scope: 'read write' }, ports).send);
    return [
      ...(await ticketFieldSteps(settings.writeBack, about.grades, api, create)),
      ...(await userFieldSteps(settings.writeBack, about.grades, api, create)),
      ...(await webhookSteps(settings, about.hookUrl, api, create)),
    ];
  };
}

function forAdmins(send: ZendeskApi['send']): ZendeskApi['send'] {
  return async (...call) => {
    try {
      return await send(...call);
    } catch (error) {
      if (!(error instanceof ZendeskFailure) || error.advice.kind !== 'config') throw error;
      const needs = 'Setting up needs an admin as the owner of an OAuth client that may have the scopes "read write".';
      throw new CloseloopError(`${needs} ${error.message}`, error.advice, { outcome: error.outcome, cause: error });
    }
  };
}
