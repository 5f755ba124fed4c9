import type { Finding } from '../../core/connector/contract.ts';
import { bodiesFor, latestStatuses, type Rule, signingSecret, type Webhook, webhooks } from './admin.ts';
import type { Look } from './check-look.ts';
import type { ZendeskApi } from './client.ts';
import { csatReceived } from './csat.ts';
import type { ZendeskSettings } from './settings.ts';

const place = 'Admin Center > Apps and integrations > Webhooks';
const rulesPlace = 'Admin Center > Objects and rules > Business rules > Triggers';
const statusChanged = 'zen:event-type:ticket.status_changed';

/** The subscription of a webhook that triggers and automations call. */
export const connected = 'conditional_ticket_events';

/** Is there a webhook that brings us closings, signed with a secret that we know, and do its deliveries arrive? */
export async function webhookFindings(
  settings: ZendeskSettings,
  api: ZendeskApi,
  hookUrl: string | undefined,
  triggers: readonly Rule[] | undefined,
  look: Look,
): Promise<Finding[]> {
  const address = addressFindings(hookUrl, settings.baseUrl !== undefined);
  if (hookUrl === undefined) return address;
  const all = await look({ at: 'webhook', what: 'the webhooks' }, () => webhooks(api));
  if (all === undefined) return address;

  const ours = all.filter((webhook) => pointsTo(webhook, hookUrl));
  const active = ours.filter(({ status }) => status === 'active');
  const verdicts = active.map((webhook) => ({ webhook, whyNot: whyUseless(webhook, triggers) }));
  const useful = verdicts.filter(({ whyNot }) => whyNot === undefined).map(({ webhook }) => webhook);
  const found = [...address, ...presence(hookUrl, ours, verdicts)];
  if (settings.csat !== undefined && !useful.some(({ subscriptions }) => subscriptions?.includes(csatReceived))) {
    const remedy = `Edit it and add the event "CSAT received" (${place}); a webhook for triggers can't have it: delete that one and run "closeloop setup"`;
    const problem = "no active webhook tells of ratings in Zendesk's own CSAT";
    if (useful.length > 0) found.push({ level: 'error', at: 'csat', problem, remedy });
  }
  if (useful.length > 1) {
    const names = useful.map(({ name }) => `"${name}"`).join(', ');
    found.push({
      level: 'warning',
      at: 'webhook',
      problem: `${useful.length} webhooks tell us the same: ${names}. Nobody is asked twice, but each closing is looked at more often`,
      remedy: `Keep one of them (${place})`,
    });
  }
  for (const webhook of ours) found.push(...(await secretFindings(settings, api, webhook, look)));
  for (const webhook of active) found.push(...(await deliveryFindings(api, webhook, look)));
  return found;
}

/** Zendesk has to reach us, over https. Against a stand-in (`baseUrl`) this machine will do. */
function addressFindings(hookUrl: string | undefined, isStandin: boolean): Finding[] {
  const at = 'http.publicUrl';
  if (hookUrl === undefined) {
    const problem = 'is missing, so the webhook was not checked; without one, closings are only found by polling';
    return [
      { level: 'warning', at, problem, remedy: 'Set it to the https address under which Zendesk reaches closeloop' },
    ];
  }
  if (hookUrl.startsWith('https://') || isStandin) return [];
  const problem = 'is not https: deliveries hold what customers wrote, and could be read on their way';
  return [{ level: 'error', at, problem, remedy: 'Put closeloop behind https and give that address' }];
}

export function pointsTo({ endpoint }: Webhook, hookUrl: string): boolean {
  return URL.canParse(endpoint) && new URL(endpoint).href === new URL(hookUrl).href;
}

function presence(
  hookUrl: string,
  ours: readonly Webhook[],
  verdicts: readonly { webhook: Webhook; whyNot: string | undefined }[],
): Finding[] {
  const error = (problem: string, remedy: string): Finding[] => [{ level: 'error', at: 'webhook', problem, remedy }];
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
  const useless = verdicts.filter(({ whyNot }) => whyNot !== undefined);
  if (useless.length < verdicts.length) return [];
  return useless.flatMap(({ webhook, whyNot }) => error(`the webhook "${webhook.name}" ${whyNot}`, remedyFor(webhook)));
}

/** Why a webhook tells us of no closing; undefined for a good one. */
export function whyUseless(webhook: Webhook, triggers: readonly Rule[] | undefined): string | undefined {
  const { id, http_method, request_format, subscriptions } = webhook;
  if (http_method !== 'POST' || request_format !== 'json') {
    return `sends ${http_method} ${request_format}; closeloop takes POST json`;
  }
  if (subscriptions?.includes(connected) !== true) {
    return subscriptions?.includes(statusChanged) === true ? undefined : 'is not subscribed to "Ticket status changed"';
  }
  // Which triggers there are couldn't be read, and that has been said.
  if (triggers === undefined) return undefined;
  const calling = triggers.filter((trigger) => bodiesFor(trigger, id).length > 0);
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

function remedyFor({ subscriptions }: Webhook): string {
  return subscriptions?.includes(connected) === true
    ? `Let a trigger "Status changed to Solved" notify it (${rulesPlace}) with the JSON body {"ticket_id": "{{ticket.id}}"}`
    : `Delete it and run "closeloop setup", or edit it (${place}): request method POST, format JSON, event "Ticket status changed"`;
}

async function secretFindings(
  { webhookSecrets }: ZendeskSettings,
  api: ZendeskApi,
  webhook: Webhook,
  look: Look,
): Promise<Finding[]> {
  const what = `the signing secret of the webhook "${webhook.name}"`;
  const secret = await look({ at: 'webhookSecrets', what }, () => signingSecret(api, webhook.id));
  if (secret === undefined || webhookSecrets.includes(secret)) return [];
  const problem = `none of them is the signing secret of the webhook "${webhook.name}": its deliveries are refused`;
  return [
    {
      level: 'error',
      at: 'webhookSecrets',
      problem,
      remedy: `Copy it from ${place} > ${webhook.name} > Reveal secret`,
    },
  ];
}

const wellEnough = new Set(['success', 'accepted', 'unknown']);

/** More than one in ten of the latest deliveries failed: a warning; an error while the newest did. */
async function deliveryFindings(api: ZendeskApi, webhook: Webhook, look: Look): Promise<Finding[]> {
  const what = `the deliveries of the webhook "${webhook.name}"`;
  const statuses = await look({ at: 'webhook', what }, () => latestStatuses(api, webhook.id));
  const failures = (statuses ?? []).filter((status) => !wellEnough.has(status));
  const newest = statuses?.[0];
  if (statuses === undefined || newest === undefined || failures.length * 10 <= statuses.length) return [];
  const kinds = [...new Set(failures)].join(', ');
  return [
    {
      level: wellEnough.has(newest) ? 'warning' : 'error',
      at: 'webhook',
      problem: `${failures.length} of the latest ${statuses.length} deliveries of the webhook "${webhook.name}" failed (${kinds})`,
      remedy: `See why (${place} > ${webhook.name} > Activity): is closeloop running, is its address reachable from the internet, is the secret right?`,
    },
  ];
}
