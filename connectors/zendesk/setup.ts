import { z } from 'zod';
import { type SetupItem, setupSteps } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, SetupStep, Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type ZendeskApi, zendeskApi } from './api.ts';
import { compareObject, compareTicketFields, compareUserFields, type MissingField } from './compare-fields.ts';
import type { ExpectedAnswers } from './field-values.ts';
import { objectFieldsIfAny, tagOwners, ticketFields, userFields } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { secretSteps, webhookSteps } from './webhook.ts';

/**
 * Creates ticket fields that are named by a title, user fields, the custom object and its fields, options of dropdowns, the webhook
 * (and its trigger). Existing objects stay unchanged, but an inactive webhook that delivers here is activated.
 */
export function installer(
  settings: ZendeskSettings,
  api: ZendeskApi,
  ports: ConnectorPorts,
): NonNullable<Source['setup']> {
  return async (about): Promise<SetupStep[]> => {
    // The source's own token may create nothing; this one is used by setup alone.
    const create = forAdmins(zendeskApi({ ...settings, scope: 'read write' }, ports).send);
    const item = ({ calls, note, ...field }: MissingField): SetupItem => ({
      ...field,
      async make() {
        for (const { method, path, body } of calls) await create(method, path, body, z.unknown());
        return note === undefined ? {} : { note };
      },
    });
    const compare = async () => (await missingFields({ ...settings, grades: about.grades }, api)).map(item);
    return [...(await setupSteps(compare)), ...(await webhookSteps(settings, about.hookUrl, api, create))];
  };
}

/** The webhook's secret, which Zendesk tells again. */
export function recoverer(settings: ZendeskSettings, api: ZendeskApi): NonNullable<Source['recover']> {
  return ({ hookUrl }) => secretSteps(settings, hookUrl, api);
}

/** In the order of creation. Options of new ticket fields own their tags, which user fields can't use then. */
async function missingFields({ writeBack, grades }: ExpectedAnswers, api: ZendeskApi): Promise<MissingField[]> {
  const answers = { writeBack, grades };
  const [fields, users] = [await ticketFields(api), await userFields(api)];
  const { object } = writeBack.customObject ?? {};
  const records = object === undefined ? undefined : await objectFieldsIfAny(api, object);
  const owners = tagOwners(fields, users);
  const tickets = compareTicketFields(fields, answers, owners).missing;
  const tagsOfFields = tickets.flatMap(({ id, options = [] }) =>
    options.map(({ value }): [string, string] => [value, id]),
  );
  return [
    ...tickets,
    ...compareUserFields(users, answers, new Map([...owners, ...tagsOfFields])).missing,
    ...compareObject(records, answers).missing,
  ];
}

function forAdmins(send: ZendeskApi['send']): ZendeskApi['send'] {
  return async (...call) => {
    try {
      return await send(...call);
    } catch (error) {
      const why = error instanceof VendorError ? reasonOf(error) : undefined;
      if (!(error instanceof VendorError) || why === undefined) throw error;
      throw new CloseloopError(`${why} ${error.message}`, error.advice, { outcome: error.outcome, cause: error });
    }
  };
}

function reasonOf({ advice, status }: VendorError): string | undefined {
  if (advice.kind === 'config') {
    return 'Setting up needs an admin as the owner of an OAuth client that may have the scopes "read write".';
  }
  return status === 422
    ? 'Its key or one of its tags may be taken, also by something that was deleted, or the plan has no room for more.'
    : undefined;
}
