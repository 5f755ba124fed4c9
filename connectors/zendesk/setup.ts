import type { ConnectorPorts, SetupStep, Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type ZendeskApi, zendeskApi } from './client.ts';
import { ZendeskFailure } from './failure.ts';
import type { ZendeskSettings } from './settings.ts';
import { fieldSteps } from './setup-fields.ts';
import { webhookSteps } from './setup-webhook.ts';

/**
 * What is missing at Zendesk: ticket fields that are named by a title, user fields, the custom object and its fields, options
 * of dropdowns, the webhook (and its trigger). What exists stays as it is, but an inactive webhook of ours is activated.
 * Every step looks again before it acts, so that it can be applied again after a failure, and with others at work.
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
      ...(await fieldSteps(settings.writeBack, about.grades, api, create)),
      ...(await webhookSteps(settings, about.hookUrl, api, create)),
    ];
  };
}

function forAdmins(send: ZendeskApi['send']): ZendeskApi['send'] {
  return async (...call) => {
    try {
      return await send(...call);
    } catch (error) {
      const why = error instanceof ZendeskFailure ? whyNot(error) : undefined;
      if (!(error instanceof ZendeskFailure) || why === undefined) throw error;
      throw new CloseloopError(`${why} ${error.message}`, error.advice, { outcome: error.outcome, cause: error });
    }
  };
}

function whyNot({ advice, statusCode }: ZendeskFailure): string | undefined {
  if (advice.kind === 'config') {
    return 'Setting up needs an admin as the owner of an OAuth client that may have the scopes "read write".';
  }
  return statusCode === 422
    ? 'Its key or one of its tags may be taken, also by something that was deleted, or the plan has no room for more.'
    : undefined;
}
