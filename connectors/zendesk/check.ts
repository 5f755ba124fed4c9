import { combined, errorAt, type Prober, prober, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import { asksForRatings, automations, changedSince, me, tokenScopes, triggers } from './admin.ts';
import type { ZendeskApi } from './api.ts';
import { accessFindings, scopesOf, settingsFindings } from './check-access.ts';
import { nameFindings, readFindings, userReadFindings } from './check-reads.ts';
import { closingFindings, surveyFindings } from './check-rules.ts';
import { compareObject, compareTicketFields, compareUserFields } from './compare-fields.ts';
import { objectFieldsIfAny, tagOwners, ticketFields, userFields } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { webhookFindings } from './webhook.ts';

/**
 * Finds everything that would keep this account from working, in about a dozen reads; changes nothing. A failed read is a finding,
 * and the other reads go on. Without access, or without the rights of an admin, one finding says that most was not checked.
 */
export function checker(
  settings: ZendeskSettings,
  api: ZendeskApi,
  ports: Pick<ConnectorPorts, 'now'>,
): NonNullable<Source['check']> {
  return async (about) => {
    const known = settingsFindings(settings, ports.now());
    let user: Awaited<ReturnType<typeof me>>;
    try {
      user = await me(api);
    } catch (error) {
      return [...known, noAccess(error)];
    }
    const scopes = await grantedScopes(settings, api);
    const access = accessFindings(settings, user, scopes);
    // The findings on access report missing rights once: refused reads add no findings then.
    const mayReadAll = user.role === 'admin' && scopes.includes('read');
    const probing = prober(({ at, what }, error) =>
      mayReadAll || !isForbidden(error)
        ? errorAt(at, `${what} can't be read: not checked`, remedyFor(error))
        : undefined,
    );
    const found = [...known, ...access, ...(await accountFindings(settings, api, ports, about, probing.probe))];
    return [...found, ...probing.findings];
  };
}

const isForbidden = (error: unknown): boolean => error instanceof VendorError && error.status === 403;

async function accountFindings(
  settings: ZendeskSettings,
  api: ZendeskApi,
  ports: Pick<ConnectorPorts, 'now'>,
  about: PreflightContext,
  probe: Prober['probe'],
): Promise<Finding[]> {
  const found = [...nameFindings(about.reads), ...(await fieldFindings(settings, api, about, probe))];
  const rules = await probe({ at: 'trigger', what: 'the triggers' }, () => triggers(api));
  found.push(...(await webhookFindings(settings, api, about.hookUrl, rules, probe)));
  await probe({ at: 'poll', what: 'changed tickets' }, () => changedSince(api, minutesBefore(ports.now(), 5)));
  const timed = await probe({ at: 'automation', what: 'the automations' }, () => automations(api));
  // With `csat` Zendesk's own survey is wanted.
  const asks = settings.csat === undefined;
  if (asks) found.push(...surveyFindings('trigger', rules ?? []), ...surveyFindings('automation', timed ?? []));
  if (timed !== undefined) found.push(...closingFindings(settings.writeBack, timed, about.answersWithinMs));
  const native = await probe({ at: 'account', what: 'the account settings' }, () => asksForRatings(api));
  if (native === true && asks) {
    const problem = 'Zendesk asks customers for a satisfaction rating as well: they are asked twice';
    const remedy =
      'Switch it off (Admin Center > People > Configuration > End users > Satisfaction), or leave those tickets out in `when`';
    found.push(warningAt('account', problem, remedy));
  }
  return found;
}

/** The fields that are written, and those that are read. */
async function fieldFindings(
  { writeBack }: ZendeskSettings,
  api: ZendeskApi,
  { grades, reads }: PreflightContext,
  probe: Prober['probe'],
): Promise<Finding[]> {
  const answers = { writeBack, grades };
  const fields = await probe({ at: 'writeBack', what: 'the ticket fields' }, () => ticketFields(api));
  const users = await probe({ at: 'writeBack.userFields', what: 'the user fields' }, () => userFields(api));
  const owners = tagOwners(fields ?? [], users ?? []);
  const { object } = writeBack.customObject ?? {};
  const records =
    object === undefined
      ? undefined
      : await probe({ at: 'writeBack.customObject', what: 'the custom object' }, async () => {
          return { fields: await objectFieldsIfAny(api, object) };
        });
  const { findings } = combined([
    ...(fields === undefined ? [] : [compareTicketFields(fields, answers, owners)]),
    ...(users === undefined ? [] : [compareUserFields(users, answers, owners)]),
    ...(records === undefined ? [] : [compareObject(records.fields, answers)]),
  ]);
  return [
    ...findings,
    ...(fields === undefined ? [] : readFindings(reads, fields)),
    ...(users === undefined ? [] : userReadFindings(reads, users)),
  ];
}

const minutesBefore = (at: Date, minutes: number): Date => new Date(at.getTime() - minutes * 60_000);

/** The token's scopes by Zendesk, else by the configuration. A legacy token has the rights of its owner. */
async function grantedScopes(settings: ZendeskSettings, api: ZendeskApi): Promise<string[]> {
  if (settings.apiToken !== undefined) return ['read', 'write'];
  try {
    return await tokenScopes(api);
  } catch {
    return scopesOf(settings);
  }
}

function noAccess(error: unknown): Finding {
  const problem =
    adviceOf(error).kind === 'transient'
      ? 'Zendesk can not be reached, so nothing of the account could be checked'
      : 'Zendesk does not let us in, so nothing of the account could be checked';
  return errorAt('access', problem, remedyFor(error));
}

/** The remedy for a failed call, from its error. */
function remedyFor(error: unknown): string {
  if (!(error instanceof CloseloopError)) return 'This is a bug in closeloop; please report it';
  return error.advice.kind === 'transient' ? `Run check again. ${error.message}` : error.message;
}
