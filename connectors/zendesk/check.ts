import { z } from 'zod';
import { takesAnswers } from '../../core/connector/answer.ts';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { idText, readAll } from './api.ts';
import { compareFields } from './field-setup.ts';
import type { Account, Field, FieldKind } from './fields.ts';
import { ticketExport } from './poll.ts';
import { catalogueOf, shapeNames } from './record.ts';
import { scopeOf, type ZendeskSettings } from './settings.ts';
import { Rule, triggers, type WebhookSetup } from './webhook.ts';

type Reads = PreflightContext['reads'];

const Me = z.object({ user: z.object({ id: idText.nullish(), role: orElse(z.string(), null) }) });
type User = z.output<typeof Me>['user'];
const Token = z.object({ token: z.object({ scopes: listOf(z.string()) }) });
const Features = z.object({ customer_satisfaction: z.boolean().nullish() }).nullish();
const AccountSettings = z.object({ settings: z.object({ active_features: Features }) });

/** Finds everything that would keep this account from working, in about a dozen reads. Without the rights of an admin most is not checked. */
export function preflight({ settings, api, kinds, ports }: Account, webhook: WebhookSetup): DeskPreflight {
  const { tickets, users } = kinds;
  const { writeBack, csat, baseUrl } = settings;
  /** Whether rights are missing: one finding reports this, and refused reads add no other. */
  let lacksRights = false;

  async function ofAccess() {
    const { user } = await api.get('/api/v2/users/me.json', Me);
    const scopes = await grantedScopes(settings, api);
    lacksRights = user.role !== 'admin' || !scopes.includes('read');
    return accessFindings(settings, user, scopes);
  }
  async function ofAutomations({ answersWithinMs }: PreflightContext) {
    const rules = await readAll(api, '/api/v2/automations', 'automations', Rule);
    return [...surveyFindings(settings, 'automation', rules), ...closingFindings(writeBack, rules, answersWithinMs)];
  }
  async function ofRatings() {
    const { active_features } = (await api.get('/api/v2/account/settings.json', AccountSettings)).settings;
    // A source with `csat` uses Zendesk's own survey on purpose.
    if (csat !== undefined || active_features?.customer_satisfaction !== true) return [];
    const problem = 'Zendesk asks customers for a satisfaction rating as well: they are asked twice';
    const place = 'Admin Center > People > Configuration > End users > Satisfaction';
    return [warningAt('account', problem, `Switch it off (${place}), or leave those tickets out in \`when\``)];
  }
  async function changed() {
    const fiveMinutesAgo = Math.floor(ports.now().getTime() / 1000) - 300;
    const { path, endpoint } = ticketExport;
    await api.get(`${path}?start_time=${fiveMinutesAgo}&per_page=1`, z.unknown(), { endpoint });
  }
  const ofTriggers = async () => surveyFindings(settings, 'trigger', await triggers(api));

  return {
    credential: 'access',
    shape: { names: shapeNames, hint: 'custom fields are under `fields`' },
    isStandin: baseUrl !== undefined,
    isTold: ({ status }) => lacksRights && status === 403,
    own: () => settingsFindings(settings, ports.now()),
    probes: [
      { at: 'access', what: 'the user that the token acts as', read: ofAccess },
      { at: 'writeBack', what: 'the ticket fields', read: ({ reads }) => readFindings(reads, tickets) },
      { at: 'writeBack.userFields', what: 'the user fields', read: ({ reads }) => userReadFindings(reads, users) },
      { at: 'poll', what: 'changed tickets', tries: changed },
      { at: 'trigger', what: 'the triggers', read: ofTriggers },
      { at: 'automation', what: 'the automations', read: ofAutomations },
      { at: 'account', what: 'the account settings', read: ofRatings },
      { at: 'webhook', what: 'what the webhooks have delivered', read: ({ hookUrl }) => webhook.deliveries(hookUrl) },
    ],
    fields: (grades) => compareFields(kinds, { grades, create: webhook.create }),
    hooks: (hookUrl) => webhook.compared(hookUrl),
  };
}

const scopesOf = (settings: ZendeskSettings): string[] => scopeOf(settings).split(/\s+/);

/** The token's scopes, as Zendesk reports them or else as configured. A legacy token has the rights of its owner. */
async function grantedScopes(settings: ZendeskSettings, api: Account['api']): Promise<string[]> {
  if (settings.apiToken !== undefined) return ['read', 'write'];
  const told = await api.get('/api/v2/oauth/tokens/current.json', Token).catch(() => undefined);
  return told?.token.scopes ?? scopesOf(settings);
}

/** The end of API tokens. Source: developer.zendesk.com, OAuth migration. */
const tokensEnd = new Date('2027-04-30T00:00:00Z');
const clients = 'Admin Center > Apps and integrations > APIs > OAuth clients';

const resources =
  'tickets users auditlogs organizations hc apps triggers automations targets webhooks macros requests satisfaction_ratings dynamic_content any_channel web_widget';
const known = new Set([
  ...['read', 'write', 'impersonate'],
  ...resources.split(' ').flatMap((name) => [`${name}:read`, `${name}:write`]),
]);

/** Findings from the settings alone. */
function settingsFindings(settings: ZendeskSettings, now: Date): Finding[] {
  if (settings.apiToken !== undefined) {
    const problem = 'API tokens end on 2027-04-30; one that is not used for 30 days is switched off before';
    const remedy = `Create an OAuth client of kind Confidential (${clients}) and give clientId and clientSecret`;
    return [(now < tokensEnd ? warningAt : errorAt)('apiToken', problem, remedy)];
  }
  const unknown = scopesOf(settings).filter((word) => !known.has(word));
  if (unknown.length === 0) return [];
  const problem = `Zendesk knows no scope "${unknown.join(' ')}"; a token with it is forbidden everything`;
  const remedy =
    'Give the scopes as one text with spaces between them, like "read tickets:write", or leave `scope` out';
  return [errorAt('scope', problem, remedy)];
}

/** Findings about the token's user and scopes. */
function accessFindings(settings: ZendeskSettings, { id, role }: User, scopes: readonly string[]): Finding[] {
  const found: Finding[] = [];
  if (role !== 'admin') {
    const problem = `the integration acts as a user with the role ${role ?? 'unknown'}; looking for missed closings, webhooks and closed tickets needs an admin. What only admins see was not checked`;
    const owner = 'Make the owner of the OAuth client (or of the API token) an admin';
    const remedy = `${owner} (Admin Center > People > Team members), or let an admin own the client`;
    found.push(errorAt('access', problem, remedy));
  }
  const covers = (need: string) => scopes.includes(need) || scopes.includes(need.split(':').at(-1) ?? need);
  const { writeBack, integrationUserId } = settings;
  // Fields, exports, account settings and custom objects have no scopes of their own: they need plain `read` or `write`.
  const needs = [
    'read',
    ...(takesAnswers(writeBack) ? ['tickets:write'] : []),
    ...(writeBack.userFields === undefined ? [] : ['users:write']),
    ...(writeBack.customObject === undefined ? [] : ['write']),
  ];
  const missing = needs.filter((need) => !covers(need));
  const remedy = 'Add it to `scope`, or leave `scope` out: closeloop then asks for what it needs';
  if (missing.length > 0) found.push(errorAt('scope', `the token lacks the scope ${missing.join(' and ')}`, remedy));
  if (integrationUserId !== undefined && id != null && id !== integrationUserId) {
    const problem = `is ${integrationUserId}, but the integration acts as user ${id}: somebody else's doing is taken for ours`;
    found.push(warningAt('integrationUserId', problem, `Set it to ${id}, or leave it out`));
  }
  return found;
}

/** Findings about ticket fields that rules read (`ticket.fields.store`, `ticket.labels.store`): with a wrong name an expression is silently empty. */
async function readFindings(reads: Reads, { read, place }: FieldKind): Promise<Finding[]> {
  const { byId, slugs } = catalogueOf(await read());
  const idOf = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const remedy = `Names are titles in small letters with "_" between words, or the id in backticks; see ${place}`;
  return reads.flatMap(({ at, path: [top, kind, name] }) => {
    if (top !== 'ticket' || (kind !== 'fields' && kind !== 'labels') || name === undefined) return [];
    const why = whyEmpty(byId.get(idOf.get(name) ?? name), kind === 'labels');
    return why === undefined ? [] : [errorAt(at, `reads ticket.${kind}.${name}, but ${why}`, remedy)];
  });
}

function whyEmpty(field: Field | undefined, isLabel: boolean): string | undefined {
  if (field === undefined) return 'no ticket field has that name or id';
  if (field.removable === false) return "that is one of Zendesk's own fields, which are not among `fields`";
  if (field.active === false) return 'that ticket field is inactive';
  return isLabel && !field.custom_field_options?.length ? 'only dropdowns and multi-selects have labels' : undefined;
}

/** Findings about user fields that rules read (`requester.fields.plan`). */
async function userReadFindings(reads: Reads, { read, place }: FieldKind): Promise<Finding[]> {
  const fields = await read();
  return reads.flatMap(({ at, path: [top, next, key] }) => {
    if (top !== 'requester' || next !== 'fields' || !key) return [];
    const field = fields.find(({ id }) => id === key);
    if (field !== undefined && field.active !== false) return [];
    const why = field === undefined ? `there is no user field with the key "${key}"` : 'that user field is inactive';
    return [errorAt(at, `reads requester.fields.${key}, but ${why}`, `Take the field key from ${place}`)];
  });
}

const hourMs = 3_600_000;
const rulesPlace = 'Admin Center > Objects and rules > Business rules';

/** The longest time until Zendesk itself closes a solved ticket, whatever the automations say: 28 days. */
const longest = { hours: 28 * 24, by: 'Zendesk itself' };

/**
 * Checks whether tickets are closed before all answers have come. Then answers need a place other than their ticket.
 * Business hours count as hours here; in fact the ticket closes later, depending on the schedule.
 */
function closingFindings(
  writeBack: ZendeskSettings['writeBack'],
  automations: readonly Rule[],
  answersWithinMs: number,
): Finding[] {
  if (!takesAnswers(writeBack) || writeBack.whenClosed.length > 0) return [];
  const closings = automations.flatMap((rule) => {
    const hours = closesAfterHours(rule);
    return hours === undefined ? [] : [{ hours, by: `the automation "${rule.title}"` }];
  });
  const [{ hours, by } = longest] = [...closings, longest].sort((a, b) => a.hours - b.hours);
  if (hours * hourMs >= answersWithinMs) return [];
  const problem = `${by} closes tickets ${days(hours)} after they are solved, but answers come up to ${days(answersWithinMs / hourMs)} later: a closed ticket takes none`;
  const remedy = `Let it close later (${rulesPlace} > Automations; 28 days at most), or name a fallback in writeBack.whenClosed: edit, userFields or customObject`;
  return [warningAt('automation', problem, remedy)];
}

/** The hours from solved to closed; undefined for a rule with another purpose. */
function closesAfterHours({ active, actions, conditions }: Rule): number | undefined {
  if (!active || !actions.some(({ field, value }) => field === 'status' && value === 'closed')) return undefined;
  const waits = (conditions?.all ?? [])
    .filter(({ field, operator }) => field === 'SOLVED' && /^(is|greater_than)(_business_hours)?$/.test(operator))
    .map(({ value }) => Number(value));
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Placeholders that show a customer a rating or a survey, unlike `satisfaction.current_rating`. */
const asking = /\{\{\s*satisfaction\.(rating_section|rating_url|positive_rating_url|negative_rating_url|survey)/i;

/** Findings about rules that also ask customers for their opinion, unless the source uses Zendesk's survey. */
function surveyFindings({ csat }: ZendeskSettings, kind: 'trigger' | 'automation', rules: readonly Rule[]): Finding[] {
  const asks = ({ field, value }: Rule['actions'][number]): boolean =>
    /satisfaction|csat|survey/i.test(field) || asking.test(JSON.stringify(value) ?? '');
  const found = rules.filter(({ active, actions }) => csat === undefined && active && actions.some(asks));
  const remedy = `Switch it off (${rulesPlace}), or leave its tickets out in \`when\``;
  const says = 'asks customers for a satisfaction rating: they are asked twice';
  return found.map(({ title }) => warningAt(kind, `the ${kind} "${title}" ${says}`, remedy));
}

const days = (hours: number): string =>
  hours < 48 ? `${Math.round(hours)} hours` : `${Math.round((hours / 24) * 10) / 10} days`;
