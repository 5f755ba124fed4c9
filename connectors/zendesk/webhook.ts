import { z } from 'zod';
import {
  errorAt,
  hookUrlFindings,
  isSameUrl,
  type Prober,
  type SetupItem,
  setupSteps,
  warningAt,
} from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding, SetupStep } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { bodiesFor, latestStatuses, type Rule, signingSecret, triggers, type Webhook, webhooks } from './admin.ts';
import type { ZendeskApi } from './api.ts';
import { csatReceived } from './csat.ts';
import type { ZendeskSettings } from './settings.ts';

const place = 'Admin Center > Apps and integrations > Webhooks';
const rulesPlace = 'Admin Center > Objects and rules > Business rules > Triggers';
const statusChanged = 'zen:event-type:ticket.status_changed';

/** The subscription of a webhook that triggers and automations call. */
const connected = 'conditional_ticket_events';

/** Does a webhook deliver closings here, signed with a configured secret, and do its deliveries arrive? */
export async function webhookFindings(
  settings: ZendeskSettings,
  api: ZendeskApi,
  hookUrl: string | undefined,
  rules: readonly Rule[] | undefined,
  probe: Prober['probe'],
): Promise<Finding[]> {
  const address = hookUrlFindings('Zendesk', hookUrl, settings.baseUrl !== undefined);
  if (hookUrl === undefined) return address;
  const all = await probe({ at: 'webhook', what: 'the webhooks' }, () => webhooks(api));
  if (all === undefined) return address;

  const ours = all.filter(({ endpoint }) => isSameUrl(endpoint, hookUrl));
  const active = ours.filter(({ status }) => status === 'active');
  const verdicts = active.map((webhook) => ({ webhook, reason: whyUseless(webhook, rules) }));
  const useful = verdicts.filter(({ reason }) => reason === undefined).map(({ webhook }) => webhook);
  const found = [...address, ...presence(hookUrl, ours, verdicts)];
  if (settings.csat !== undefined && !useful.some(({ subscriptions }) => subscriptions?.includes(csatReceived))) {
    const remedy = `Edit it and add the event "CSAT received" (${place}); a webhook for triggers can't have it: delete that one and run "closeloop setup"`;
    const problem = "no active webhook tells of ratings in Zendesk's own CSAT";
    if (useful.length > 0) found.push(errorAt('csat', problem, remedy));
  }
  if (useful.length > 1) {
    const names = useful.map(({ name }) => `"${name}"`).join(', ');
    const problem = `${useful.length} webhooks tell us the same: ${names}. Nobody is asked twice, but each closing is looked at more often`;
    found.push(warningAt('webhook', problem, `Keep one of them (${place})`));
  }
  for (const webhook of ours) found.push(...(await secretFindings(settings, api, webhook, probe)));
  for (const webhook of active) found.push(...(await deliveryFindings(api, webhook, probe)));
  return found;
}

function presence(
  hookUrl: string,
  ours: readonly Webhook[],
  verdicts: readonly { webhook: Webhook; reason: string | undefined }[],
): Finding[] {
  const error = (problem: string, remedy: string): Finding[] => [errorAt('webhook', problem, remedy)];
  const [first] = ours;
  if (first === undefined) {
    return error(
      `no webhook delivers to ${hookUrl}`,
      `Run "closeloop setup", or correct the webhook's address (${place})`,
    );
  }
  if (verdicts.length === 0) {
    return error(`the webhook "${first.name}" is inactive`, `Run "closeloop setup", or activate it (${place})`);
  }
  const useless = verdicts.filter(({ reason }) => reason !== undefined);
  if (useless.length < verdicts.length) return [];
  return useless.flatMap(({ webhook, reason }) => error(`the webhook "${webhook.name}" ${reason}`, remedyFor(webhook)));
}

/** Why a webhook delivers no closing; undefined if it does. */
function whyUseless(webhook: Webhook, rules: readonly Rule[] | undefined): string | undefined {
  const { id, http_method, request_format, subscriptions } = webhook;
  if (http_method !== 'POST' || request_format !== 'json') {
    return `sends ${http_method} ${request_format}; closeloop takes POST json`;
  }
  if (!isConnected(webhook)) {
    return subscriptions?.includes(statusChanged) === true ? undefined : 'is not subscribed to "Ticket status changed"';
  }
  // The triggers couldn't be read, which is a finding already.
  if (rules === undefined) return undefined;
  const calling = rules.filter((trigger) => bodiesFor(trigger, id).length > 0);
  const active = calling.filter((trigger) => trigger.active);
  const [first] = calling;
  if (first === undefined) return 'is connected to triggers, but no trigger calls it';
  if (active.length === 0) return `is called by the trigger "${first.title}", which is inactive`;
  const bodies = active.flatMap((trigger) => bodiesFor(trigger, id));
  return bodies.some(namesTicket)
    ? undefined
    : `is called by the trigger "${first.title}" with a body that doesn't name the ticket`;
}

const namesTicket = (body: string): boolean => /"ticket_id"\s*:\s*"?\{\{\s*ticket\.id\s*\}\}/.test(body);

function remedyFor(webhook: Webhook): string {
  return isConnected(webhook)
    ? `Let a trigger "Status changed to Solved" notify it (${rulesPlace}) with the JSON body {"ticket_id": "{{ticket.id}}"}`
    : `Delete it and run "closeloop setup", or edit it (${place}): request method POST, format JSON, event "Ticket status changed"`;
}

async function secretFindings(
  { webhookSecrets }: ZendeskSettings,
  api: ZendeskApi,
  webhook: Webhook,
  probe: Prober['probe'],
): Promise<Finding[]> {
  const what = `the signing secret of the webhook "${webhook.name}"`;
  const secret = await probe({ at: 'webhookSecrets', what }, () => signingSecret(api, webhook.id));
  if (secret === undefined || webhookSecrets.includes(secret)) return [];
  const problem = `none of them is the signing secret of the webhook "${webhook.name}": its deliveries are refused`;
  const remedy = `Run "closeloop setup", which takes it over, or copy it from ${place} > ${webhook.name} > Reveal secret`;
  return [errorAt('webhookSecrets', problem, remedy)];
}

const wellEnough = new Set(['success', 'accepted', 'unknown']);

/** A warning if more than one in ten of the latest deliveries failed; an error if the newest failed, too. */
async function deliveryFindings(api: ZendeskApi, webhook: Webhook, probe: Prober['probe']): Promise<Finding[]> {
  const what = `the deliveries of the webhook "${webhook.name}"`;
  const statuses = await probe({ at: 'webhook', what }, () => latestStatuses(api, webhook.id));
  const failures = (statuses ?? []).filter((status) => !wellEnough.has(status));
  const newest = statuses?.[0];
  if (statuses === undefined || newest === undefined || failures.length * 10 <= statuses.length) return [];
  const kinds = [...new Set(failures)].join(', ');
  const problem = `${failures.length} of the latest ${statuses.length} deliveries of the webhook "${webhook.name}" failed (${kinds})`;
  const remedy = `See why (${place} > ${webhook.name} > Activity): is closeloop running, is its address reachable from the internet, is the secret right?`;
  return [(wellEnough.has(newest) ? warningAt : errorAt)('webhook', problem, remedy)];
}

/** The events that `events.ts` reads: closings, changes that end a waiting request, and with `csat` ratings. */
const subscriptions = (settings: ZendeskSettings): string[] =>
  [
    ...(settings.csat === undefined ? [] : ['csat_received']),
    'status_changed',
    'merged',
    'soft_deleted',
    'permanently_deleted',
    'marked_as_spam',
    'undeleted',
  ].map((name) => `zen:event-type:ticket.${name}`);

const Created = z.object({ webhook: z.object({ id: z.union([z.string(), z.number()]).transform(String) }) });

/**
 * The webhook that delivers to `hookUrl`: subscribed to ticket events, or where the account refuses that, connected to a
 * trigger. None without an address, nor for one that Zendesk can't reach safely: `check` says so.
 */
export async function webhookSteps(
  settings: ZendeskSettings,
  hookUrl: string | undefined,
  api: ZendeskApi,
  create: ZendeskApi['send'],
): Promise<SetupStep[]> {
  if (hookUrl === undefined || !(hookUrl.startsWith('https://') || settings.baseUrl !== undefined)) return [];
  /** A step created the webhook and has not returned its secret yet: the next attempt continues. */
  let isUnfinished = false;

  const find = async (): Promise<Webhook | undefined> => {
    const ours = (await webhooks(api)).filter(({ endpoint }) => isSameUrl(endpoint, hookUrl));
    return ours.find(({ status }) => status === 'active') ?? ours[0];
  };
  const isCalled = async (id: string): Promise<boolean> =>
    (await triggers(api)).some((trigger) => bodiesFor(trigger, id).length > 0);

  async function missingParts(): Promise<SetupItem[]> {
    const there = await find();
    const webhook = { id: 'webhook', make: finish };
    if (there === undefined)
      return [{ ...webhook, what: `create the webhook "closeloop" that delivers to ${hookUrl}` }];
    const { id, name, status } = there;
    const activation = { id: 'activation', what: `activate the webhook "${name}"`, make: () => activate(id) };
    const isUncalled = isConnected(there) && !(await isCalled(id));
    return [
      ...(status === 'active' ? [] : [activation]),
      ...(isUncalled || isUnfinished
        ? [{ ...webhook, what: `create the trigger that calls the webhook "${name}"` }]
        : []),
    ];
  }

  async function finish() {
    isUnfinished = true;
    const there = (await find()) ?? (await make(settings, hookUrl, create));
    if (isConnected(there) && !(await isCalled(there.id))) await connect(there.id, create);
    const secrets = { webhookSecrets: await signingSecret(api, there.id) };
    isUnfinished = false;
    return {
      note: "Put this secret into the environment, and let this source's webhookSecrets name its variable.",
      secrets,
    };
  }

  async function activate(id: string) {
    const body = { webhook: { status: 'active' } };
    await create('PATCH', `/api/v2/webhooks/${encodeURIComponent(id)}`, body, z.unknown());
    return {};
  }

  return await setupSteps(missingParts);
}

/** The signing secret of a webhook that delivers here, where the settings lack it. One that may not be read is a finding of `check`. */
export async function secretSteps(
  { webhookSecrets }: ZendeskSettings,
  hookUrl: string | undefined,
  api: ZendeskApi,
): Promise<SetupStep[]> {
  if (hookUrl === undefined) return [];
  const ours = (await webhooks(api)).filter(
    ({ endpoint, status }) => status === 'active' && isSameUrl(endpoint, hookUrl),
  );
  const secrets = await Promise.all(
    ours.map(({ id }) =>
      signingSecret(api, id).catch((error: unknown) => {
        if (error instanceof VendorError) return undefined;
        throw error;
      }),
    ),
  );
  const [secret] = secrets;
  if (secret === undefined || secrets.some((one) => one !== undefined && webhookSecrets.includes(one))) return [];
  const what = `take over the signing secret of the webhook "${ours[0]?.name}"`;
  return [{ what, apply: async () => ({ secrets: { webhookSecrets: secret } }) }];
}

const isConnected = ({ subscriptions }: Pick<Webhook, 'subscriptions'>): boolean =>
  subscriptions?.includes(connected) === true;

/** Creates a subscribed webhook, or where Zendesk refuses that, a connected one. The kind can't be changed later. */
async function make(
  settings: ZendeskSettings,
  hookUrl: string | undefined,
  create: ZendeskApi['send'],
): Promise<Pick<Webhook, 'id' | 'subscriptions'>> {
  const kind = { http_method: 'POST', request_format: 'json', status: 'active' };
  const post = async (wanted: string[]) => {
    const webhook = { name: 'closeloop', endpoint: hookUrl, ...kind, subscriptions: wanted };
    const { id } = (await create('POST', '/api/v2/webhooks', { webhook }, Created)).webhook;
    return { id, subscriptions: wanted };
  };
  try {
    return await post(subscriptions(settings));
  } catch (error) {
    if (!(error instanceof CloseloopError) || error.outcome !== 'refused' || error.advice.kind === 'transient')
      throw error;
    return await post([connected]);
  }
}

async function connect(id: string, create: ZendeskApi['send']): Promise<void> {
  const trigger = {
    title: 'closeloop: ask for feedback on solved tickets',
    conditions: { all: [{ field: 'status', operator: 'value', value: 'solved' }], any: [] },
    // Nothing but the id: a customer's words could break the JSON.
    actions: [{ field: 'notification_webhook', value: [id, '{"ticket_id": "{{ticket.id}}"}'] }],
  };
  await create('POST', '/api/v2/triggers.json', { trigger }, z.unknown());
}
