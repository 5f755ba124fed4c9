import { z } from 'zod';
import { setupSteps } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, SetupStep, Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type ZendeskApi, zendeskApi } from './api.ts';
import { compareObject, compareTicketFields, compareUserFields, type MissingField } from './compare-fields.ts';
import type { ExpectedAnswers } from './field-values.ts';
import { objectFieldsIfAny, tagOwners, ticketFields, userFields } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { webhookSteps } from './webhook.ts';

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
    const made = async ({ calls, note }: MissingField) => {
      for (const { method, path, body } of calls) await create(method, path, body, z.unknown());
      return note === undefined ? {} : { note };
    };
    return [
      ...(await setupSteps(() => missingFields({ ...settings, grades: about.grades }, api), made)),
      ...(await webhookSteps(settings, about.hookUrl, api, create)),
    ];
  };
}

/** In the order in which they have to be made. The options that come with ticket fields take their tags from other fields. */
async function missingFields({ writeBack, grades }: ExpectedAnswers, api: ZendeskApi): Promise<MissingField[]> {
  const answers = { writeBack, grades };
  const [fields, users] = [await ticketFields(api), await userFields(api)];
  const { object } = writeBack.customObject ?? {};
  const records = object === undefined ? undefined : await objectFieldsIfAny(api, object);
  const owners = tagOwners(fields, users);
  const tickets = compareTicketFields(fields, answers, owners).missing;
  const claimed = tickets.flatMap(({ id, options = [] }) => options.map(({ value }): [string, string] => [value, id]));
  return [
    ...tickets,
    ...compareUserFields(users, answers, new Map([...owners, ...claimed])).missing,
    ...compareObject(records, answers).missing,
  ];
}

function forAdmins(send: ZendeskApi['send']): ZendeskApi['send'] {
  return async (...call) => {
    try {
      return await send(...call);
    } catch (error) {
      const why = error instanceof VendorError ? whyNot(error) : undefined;
      if (!(error instanceof VendorError) || why === undefined) throw error;
      throw new CloseloopError(`${why} ${error.message}`, error.advice, { outcome: error.outcome, cause: error });
    }
  };
}

function whyNot({ advice, status }: VendorError): string | undefined {
  if (advice.kind === 'config') {
    return 'Setting up needs an admin as the owner of an OAuth client that may have the scopes "read write".';
  }
  return status === 422
    ? 'Its key or one of its tags may be taken, also by something that was deleted, or the plan has no room for more.'
    : undefined;
}
