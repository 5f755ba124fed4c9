import { takesAnswers } from '../../core/connector/answer.ts';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { scopeOf, type ZendeskSettings } from './settings.ts';

/** Source: developer.zendesk.com, OAuth migration. */
const tokensEnd = new Date('2027-04-30T00:00:00Z');

const resources =
  'tickets users auditlogs organizations hc apps triggers automations targets webhooks macros requests satisfaction_ratings dynamic_content any_channel web_widget';
const known = new Set([
  'read',
  'write',
  'impersonate',
  ...resources.split(' ').flatMap((name) => [`${name}:read`, `${name}:write`]),
]);

export function scopesOf(settings: ZendeskSettings): string[] {
  return scopeOf(settings)
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Findings from the settings alone. */
export function settingsFindings(settings: ZendeskSettings, now: Date): Finding[] {
  const found: Finding[] = [];
  if (settings.apiToken !== undefined) {
    const problem = 'API tokens end on 2027-04-30; one that is not used for 30 days is switched off before';
    const remedy =
      'Create an OAuth client of kind Confidential (Admin Center > Apps and integrations > APIs > OAuth clients) and give clientId and clientSecret';
    found.push((now < tokensEnd ? warningAt : errorAt)('apiToken', problem, remedy));
  }
  const unknown = settings.apiToken === undefined ? scopesOf(settings).filter((word) => !known.has(word)) : [];
  if (unknown.length > 0) {
    const problem = `Zendesk knows no scope "${unknown.join(' ')}"; a token with it is forbidden everything`;
    const remedy =
      'Give the scopes as one text with spaces between them, like "read tickets:write", or leave `scope` out';
    found.push(errorAt('scope', problem, remedy));
  }
  return found;
}

/** Findings about the token's user and scopes. */
export function accessFindings(
  settings: ZendeskSettings,
  user: { id?: string | null | undefined; role?: string | null | undefined },
  scopes: readonly string[],
): Finding[] {
  const found: Finding[] = [];
  if (user.role !== 'admin') {
    const problem = `the integration acts as a user with the role ${user.role ?? 'unknown'}; looking for missed closings, webhooks and closed tickets needs an admin. What only admins see was not checked`;
    const remedy =
      'Make the owner of the OAuth client (or of the API token) an admin (Admin Center > People > Team members), or let an admin own the client';
    found.push(errorAt('access', problem, remedy));
  }
  const missing = needs(settings).filter((need) => !covers(scopes, need));
  if (missing.length > 0) {
    const remedy = 'Add it to `scope`, or leave `scope` out: closeloop then asks for what it needs';
    found.push(errorAt('scope', `the token lacks the scope ${missing.join(' and ')}`, remedy));
  }
  const { integrationUserId } = settings;
  if (integrationUserId !== undefined && user.id != null && user.id !== integrationUserId) {
    const problem = `is ${integrationUserId}, but the integration acts as user ${user.id}: somebody else's doing is taken for ours`;
    found.push(warningAt('integrationUserId', problem, `Set it to ${user.id}, or leave it out`));
  }
  return found;
}

/** Fields, exports, account settings and custom objects have no scopes of their own: they need plain `read` or `write`. */
function needs(settings: ZendeskSettings): string[] {
  const { userFields, customObject } = settings.writeBack;
  return [
    'read',
    ...(takesAnswers(settings.writeBack) ? ['tickets:write'] : []),
    ...(userFields === undefined ? [] : ['users:write']),
    ...(customObject === undefined ? [] : ['write']),
  ];
}

function covers(scopes: readonly string[], need: string): boolean {
  return scopes.includes(need) || scopes.includes(need.split(':').at(-1) ?? need);
}
