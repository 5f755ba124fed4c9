import type { ConnectorPorts, Finding, GoingLive, Source } from '../../core/connector/contract.ts';
import { adviceOf } from '../../core/errors.ts';
import { adminFields, asksForRatings, automations, changedSince, me, tokenScopes, triggers } from './admin.ts';
import { accessFindings, scopesOf, settingsFindings } from './check-access.ts';
import { fieldFindings } from './check-fields.ts';
import { objectFindings, userFieldFindings } from './check-keyed-fields.ts';
import { type Look, looker, refusal } from './check-look.ts';
import { nameFindings, readFindings } from './check-reads.ts';
import { closingFindings, surveyFindings } from './check-rules.ts';
import { webhookFindings } from './check-webhook.ts';
import type { ZendeskApi } from './client.ts';
import { userFields } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { tagOwners } from './tags.ts';

/**
 * Everything that would keep this account from working, in about a dozen reads; changes nothing. What can't be read is a
 * finding itself and hides nothing else. Without access, or as somebody who may not look, most of it stays unread: said once.
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
    // Whoever may not look is told so once, by the findings on access.
    const looking = looker(user.role === 'admin' && scopes.includes('read'));
    const found = [...known, ...access, ...(await accountFindings(settings, api, ports, about, looking.look))];
    return [...found, ...looking.unread];
  };
}

async function accountFindings(
  settings: ZendeskSettings,
  api: ZendeskApi,
  ports: Pick<ConnectorPorts, 'now'>,
  about: GoingLive,
  look: Look,
): Promise<Finding[]> {
  const found = nameFindings(about.reads);
  const { writeBack } = settings;
  const fields = await look({ at: 'writeBack', what: 'the ticket fields' }, () => adminFields(api));
  const users = await look({ at: 'writeBack.userFields', what: 'the user fields' }, () => userFields(api));
  const owners = tagOwners(fields ?? [], users ?? []);
  if (fields !== undefined) {
    found.push(...fieldFindings(writeBack, fields, about.grades, owners), ...readFindings(about.reads, fields));
  }
  if (users !== undefined) found.push(...userFieldFindings(writeBack, users, about, owners));
  found.push(...(await objectFindings(writeBack, api, about.grades, look)));

  const rules = await look({ at: 'trigger', what: 'the triggers' }, () => triggers(api));
  found.push(...(await webhookFindings(settings, api, about.hookUrl, rules, look)));
  await look({ at: 'poll', what: 'changed tickets' }, () => changedSince(api, minutesBefore(ports.now(), 5)));
  const timed = await look({ at: 'automation', what: 'the automations' }, () => automations(api));
  // With `csat` Zendesk's own asking is what is wanted.
  const asks = settings.csat === undefined;
  if (asks) found.push(...surveyFindings('trigger', rules ?? []), ...surveyFindings('automation', timed ?? []));
  if (timed !== undefined) found.push(...closingFindings(writeBack, timed, about.answersWithinMs));
  const native = await look({ at: 'account', what: 'the account settings' }, () => asksForRatings(api));
  if (native === true && asks) {
    found.push({
      level: 'warning',
      at: 'account',
      problem: 'Zendesk asks customers for a satisfaction rating as well: they are asked twice',
      remedy:
        'Switch it off (Admin Center > People > Configuration > End users > Satisfaction), or leave those tickets out in `when`',
    });
  }
  return found;
}

const minutesBefore = (at: Date, minutes: number): Date => new Date(at.getTime() - minutes * 60_000);

/** The token's own word; the configuration's where Zendesk doesn't tell. A legacy token may do what its owner may. */
async function grantedScopes(settings: ZendeskSettings, api: ZendeskApi): Promise<string[]> {
  if (settings.apiToken !== undefined) return ['read', 'write'];
  try {
    return await tokenScopes(api);
  } catch {
    return scopesOf(settings);
  }
}

function noAccess(error: unknown): Finding {
  return {
    level: 'error',
    at: 'access',
    problem:
      adviceOf(error).kind === 'transient'
        ? 'Zendesk can not be reached, so nothing of the account could be checked'
        : 'Zendesk does not let us in, so nothing of the account could be checked',
    remedy: refusal(error),
  };
}
