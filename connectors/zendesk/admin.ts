import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';
import { readPages, type ZendeskApi } from './api.ts';
import { incrementalExports } from './quota.ts';

/** What admins set up in the Admin Center, as far as `check` and `setup` look at it. */

const id = z.union([z.number(), z.string()]).transform(String);
const text = orElse(z.string(), null);

const Webhook = z.object({
  id,
  name: orElse(z.string(), ''),
  endpoint: orElse(z.string(), ''),
  status: z.string(),
  http_method: orElse(z.string(), ''),
  request_format: orElse(z.string(), ''),
  subscriptions: listOf(z.string()).nullish(),
});
export type Webhook = z.output<typeof Webhook>;

const Conditions = listOf(
  z.object({ field: orElse(z.string(), ''), operator: orElse(z.string(), ''), value: z.unknown() }),
)
  .nullish()
  .transform((list) => list ?? []);
const Rule = z.object({
  id,
  title: orElse(z.string(), ''),
  active: orElse(z.boolean(), true),
  conditions: z.object({ all: Conditions, any: Conditions }).partial().nullish(),
  actions: orElse(listOf(z.object({ field: orElse(z.string(), ''), value: z.unknown() })), []),
});
/** A trigger or an automation. */
export type Rule = z.output<typeof Rule>;

const Invocation = z.object({ status: z.string() });
const Secret = z.object({ signing_secret: z.object({ secret: z.string() }) });
const Me = z.object({ user: z.object({ id: id.nullish(), role: text }) });
const Token = z.object({ token: z.object({ scopes: listOf(z.string()) }) });
const Settings = z.object({
  settings: z.object({ active_features: z.object({ customer_satisfaction: z.boolean().nullish() }).nullish() }),
});

export const webhooks = (api: ZendeskApi): Promise<Webhook[]> => all(api, 'webhooks', Webhook);
export const triggers = (api: ZendeskApi): Promise<Rule[]> => all(api, 'triggers', Rule);
export const automations = (api: ZendeskApi): Promise<Rule[]> => all(api, 'automations', Rule);

/** The latest deliveries of the last 7 days, newest first. */
export async function latestStatuses(api: ZendeskApi, webhookId: string): Promise<string[]> {
  const path = `/api/v2/webhooks/${encodeURIComponent(webhookId)}/invocations?page[size]=100&sort=-latest_completed_at`;
  const { invocations } = await api.get(path, z.object({ invocations: listOf(Invocation) }));
  return invocations.map(({ status }) => status);
}

export async function signingSecret(api: ZendeskApi, webhookId: string): Promise<string> {
  const path = `/api/v2/webhooks/${encodeURIComponent(webhookId)}/signing_secret`;
  return (await api.get(path, Secret)).signing_secret.secret;
}

/** The user that the token acts as. Without an id: no user. */
export const me = async (api: ZendeskApi) => (await api.get('/api/v2/users/me.json', Me)).user;

export const tokenScopes = async (api: ZendeskApi): Promise<string[]> =>
  (await api.get('/api/v2/oauth/tokens/current.json', Token)).token.scopes;

export const asksForRatings = async (api: ZendeskApi): Promise<boolean> =>
  (await api.get('/api/v2/account/settings.json', Settings)).settings.active_features?.customer_satisfaction === true;

/** Reads the changes since `at` (more than a minute ago) to see whether the token may; ignores the response. */
export async function changedSince(api: ZendeskApi, at: Date): Promise<void> {
  const path = `/api/v2/incremental/tickets/cursor.json?start_time=${Math.floor(at.getTime() / 1000)}&per_page=1`;
  await api.get(path, z.unknown(), { endpoint: incrementalExports.endpoint });
}

/** The bodies with which a rule calls a webhook. */
export function bodiesFor(rule: Rule, webhookId: string): string[] {
  return rule.actions.flatMap(({ field, value }) => {
    if (field !== 'notification_webhook' || !Array.isArray(value) || String(value[0]) !== webhookId) return [];
    return [typeof value[1] === 'string' ? value[1] : ''];
  });
}

async function all<S extends z.ZodType>(api: ZendeskApi, name: string, item: S): Promise<z.output<S>[]> {
  const items: z.output<S>[] = [];
  const Page = z.looseObject({}).transform((page) => ({ items: listOf(item).parse(page[name]) }));
  await readPages(api, `/api/v2/${name}`, Page, (page) => {
    items.push(...page.items);
    return false;
  });
  return items;
}
