import { z } from 'zod';
import { type Comparison, errorAt, isSameUrl, type SetupItem, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding, SetupStep } from '../../core/connector/contract.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { readAll, type ZendeskApi, zendeskApi } from './api.ts';
import { csatReceived } from './csat.ts';
import type { ZendeskSettings } from './settings.ts';

/* The webhook that delivers closings here, and the trigger that calls the webhook where ticket events are refused. */

const place = 'Admin Center > Apps and integrations > Webhooks';
const rulesPlace = 'Admin Center > Objects and rules > Business rules > Triggers';

const id = z.union([z.number(), z.string()]).transform(String);
const text = orElse(z.string(), '');

const Webhook = z.object({
  ...{ id, name: text, endpoint: text, status: z.string(), http_method: text, request_format: text },
  subscriptions: listOf(z.string()).nullish(),
});
type Webhook = z.output<typeof Webhook>;

const Conditions = listOf(z.object({ field: text, operator: text, value: z.unknown() }))
  .nullish()
  .transform((list) => list ?? []);
export const Rule = z.object({
  ...{ id, title: text, active: orElse(z.boolean(), true) },
  conditions: z.object({ all: Conditions, any: Conditions }).partial().nullish(),
  actions: orElse(listOf(z.object({ field: text, value: z.unknown() })), []),
});
/** A trigger or an automation. */
export type Rule = z.output<typeof Rule>;
export const triggers = (api: ZendeskApi): Promise<Rule[]> => readAll(api, '/api/v2/triggers', 'triggers', Rule);

const Invocations = z.object({ invocations: listOf(z.object({ status: z.string() })) });
const Secret = z.object({ signing_secret: z.object({ secret: z.string() }) });
const Created = z.object({ webhook: z.object({ id }) });

const statusChanged = 'zen:event-type:ticket.status_changed';

/** The events that `events.ts` reads: closings, changes that end a waiting request, and with `csat` ratings. */
const wanted = [
  statusChanged,
  ...['merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam', 'undeleted'].map(
    (name) => `zen:event-type:ticket.${name}`,
  ),
];

/** The subscription of a webhook that triggers and automations call. */
const connected = 'conditional_ticket_events';
type Made = Pick<Webhook, 'id' | 'subscriptions'>;
const isConnected = ({ subscriptions }: Made): boolean => subscriptions?.includes(connected) === true;
const isUncalled = (webhook: Made, rules: readonly Rule[]): boolean =>
  isConnected(webhook) && !rules.some((rule) => bodiesFor(rule, webhook.id).length > 0);

/** The bodies with which a rule calls a webhook. */
const bodiesFor = ({ actions }: Rule, webhookId: string): string[] =>
  actions.flatMap(({ field, value }) => {
    if (field !== 'notification_webhook' || !Array.isArray(value) || String(value[0]) !== webhookId) return [];
    return [typeof value[1] === 'string' ? value[1] : ''];
  });

const namesTicket = (body: string): boolean => /"ticket_id"\s*:\s*"?\{\{\s*ticket\.id\s*\}\}/.test(body);

/** Why an active webhook delivers no closing; undefined if it does. */
function flawOf(webhook: Webhook, rules: readonly Rule[]): string | undefined {
  const { id, http_method, request_format, subscriptions } = webhook;
  if (http_method !== 'POST' || request_format !== 'json')
    return `sends ${http_method} ${request_format}; closeloop takes POST json`;
  if (!isConnected(webhook))
    return subscriptions?.includes(statusChanged) === true ? undefined : 'is not subscribed to "Ticket status changed"';
  const calling = rules.filter((trigger) => bodiesFor(trigger, id).length > 0);
  const active = calling.filter((trigger) => trigger.active);
  const [first] = calling;
  if (first === undefined) return 'is connected to triggers, but no trigger calls it';
  if (active.length === 0) return `is called by the trigger "${first.title}", which is inactive`;
  if (active.flatMap((trigger) => bodiesFor(trigger, id)).some(namesTicket)) return undefined;
  return `is called by the trigger "${first.title}" with a body that doesn't name the ticket`;
}

const remedyFor = (webhook: Webhook): string =>
  isConnected(webhook)
    ? `Let a trigger "Status changed to Solved" notify it (${rulesPlace}) with the JSON body {"ticket_id": "{{ticket.id}}"}`
    : `Delete it and run "closeloop setup", or edit it (${place}): request method POST, format JSON, event "Ticket status changed"`;

/** Does a webhook deliver closings here? @param here those that deliver here @param rules the triggers, where one is connected */
function findingsOf(
  { csat }: ZendeskSettings,
  hookUrl: string,
  here: readonly Webhook[],
  rules: readonly Rule[],
): Finding[] {
  const error = (problem: string, remedy: string): Finding[] => [errorAt('webhook', problem, remedy)];
  const [first] = here;
  const active = here.filter(({ status }) => status === 'active');
  if (first === undefined)
    return error(
      `no webhook delivers to ${hookUrl}`,
      `Run "closeloop setup", or correct the webhook's address (${place})`,
    );
  if (active.length === 0)
    return error(`the webhook "${first.name}" is inactive`, `Run "closeloop setup", or activate it (${place})`);
  const useful = active.filter((webhook) => flawOf(webhook, rules) === undefined);
  if (useful.length === 0)
    return active.flatMap((one) => error(`the webhook "${one.name}" ${flawOf(one, rules)}`, remedyFor(one)));
  const found: Finding[] = [];
  if (csat !== undefined && !useful.some(({ subscriptions }) => subscriptions?.includes(csatReceived))) {
    const remedy = `Edit it and add the event "CSAT received" (${place}); a webhook for triggers can't have it: delete that one and run "closeloop setup"`;
    found.push(errorAt('csat', "no active webhook tells of ratings in Zendesk's own CSAT", remedy));
  }
  if (useful.length > 1) {
    const names = useful.map(({ name }) => `"${name}"`).join(', ');
    const problem = `${useful.length} webhooks tell us the same: ${names}. Nobody is asked twice, but each closing is looked at more often`;
    found.push(warningAt('webhook', problem, `Keep one of them (${place})`));
  }
  return found;
}

const wellEnough = new Set(['success', 'accepted', 'unknown']);

/** A warning if more than one in ten of the latest deliveries failed; an error if the newest failed, too. @param statuses newest first */
function deliveryFindings({ name }: Webhook, statuses: readonly string[]): Finding[] {
  const failures = statuses.filter((status) => !wellEnough.has(status));
  const [newest] = statuses;
  if (newest === undefined || failures.length * 10 <= statuses.length) return [];
  const kinds = [...new Set(failures)].join(', ');
  const problem = `${failures.length} of the latest ${statuses.length} deliveries of the webhook "${name}" failed (${kinds})`;
  const remedy = `See why (${place} > ${name} > Activity): is closeloop running, is its address reachable from the internet, is the secret right?`;
  return [(wellEnough.has(newest) ? warningAt : errorAt)('webhook', problem, remedy)];
}

export class WebhookSetup {
  readonly #settings: ZendeskSettings;
  readonly #api: ZendeskApi;
  /** The source's own token may create nothing; this one is used by setup alone. */
  readonly create: ZendeskApi['send'];
  /** A step created the webhook and has not returned its secret yet: the next attempt continues. */
  #isUnfinished = false;

  constructor(settings: ZendeskSettings, api: ZendeskApi, ports: ConnectorPorts) {
    this.#settings = settings;
    this.#api = api;
    this.create = zendeskApi({ ...settings, scope: 'read write' }, ports).send;
  }

  /** For `check` and `setup`. What exists stays unchanged, but an inactive webhook that delivers here is activated. */
  async compared(hookUrl: string): Promise<Comparison<SetupItem>> {
    const here = await this.#listHere(hookUrl);
    const rules = await this.#rulesFor(here);
    const findings = findingsOf(this.#settings, hookUrl, here, rules);
    return { findings, missing: this.#missing(hookUrl, here, rules) };
  }

  /** Are the deliveries signed with a secret of the settings, and do they arrive? */
  async deliveries(hookUrl: string | undefined): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const webhook of hookUrl === undefined ? [] : await this.#listHere(hookUrl)) {
      const { id, name, status } = webhook;
      if (!this.#settings.webhookSecrets.includes(await this.#secretOf(webhook))) {
        const problem = `none of them is the signing secret of the webhook "${name}": its deliveries are refused`;
        const remedy = `Run "closeloop setup", which takes it over, or copy it from ${place} > ${name} > Reveal secret`;
        found.push(errorAt('webhookSecrets', problem, remedy));
      }
      if (status !== 'active') continue;
      const path = `/api/v2/webhooks/${encodeURIComponent(id)}/invocations?page[size]=100&sort=-latest_completed_at`;
      const { invocations } = await this.#api.get(path, Invocations);
      found.push(
        ...deliveryFindings(
          webhook,
          invocations.map((one) => one.status),
        ),
      );
    }
    return found;
  }

  /** The signing secret of a webhook that delivers here, where the settings lack it. One that may not be read is a finding of `check`. */
  async lostSecret(hookUrl: string | undefined): Promise<SetupStep[]> {
    const here = hookUrl === undefined ? [] : await this.#listHere(hookUrl);
    const active = here.filter(({ status }) => status === 'active');
    const secrets = await Promise.all(active.map((webhook) => this.#secretOf(webhook).catch(unlessRefused)));
    const known: readonly (string | undefined)[] = this.#settings.webhookSecrets;
    const [secret] = secrets;
    if (secret === undefined || secrets.some((one) => known.includes(one))) return [];
    const what = `take over the signing secret of the webhook "${active[0]?.name}"`;
    return [{ what, apply: async () => ({ secrets: { webhookSecrets: secret } }) }];
  }

  /** Active ones first. */
  async #listHere(hookUrl: string): Promise<Webhook[]> {
    const all = await readAll(this.#api, '/api/v2/webhooks', 'webhooks', Webhook);
    const here = all.filter(({ endpoint }) => isSameUrl(endpoint, hookUrl));
    return here.toSorted((a, b) => Number(b.status === 'active') - Number(a.status === 'active'));
  }

  async #secretOf({ id }: Made): Promise<string> {
    const path = `/api/v2/webhooks/${encodeURIComponent(id)}/signing_secret`;
    return (await this.#api.get(path, Secret)).signing_secret.secret;
  }

  async #rulesFor(some: readonly Made[]): Promise<Rule[]> {
    return some.some(isConnected) ? await triggers(this.#api) : [];
  }

  #missing(hookUrl: string, [there]: readonly Webhook[], rules: readonly Rule[]): SetupItem[] {
    // `check` tells of an address that Zendesk can't reach safely.
    if (!hookUrl.startsWith('https://') && this.#settings.baseUrl === undefined) return [];
    const whole = { id: 'webhook', make: () => this.#finish(hookUrl) };
    if (there === undefined) return [{ ...whole, what: `create the webhook "closeloop" that delivers to ${hookUrl}` }];
    const { id, name, status } = there;
    const activation = { id: 'activation', what: `activate the webhook "${name}"`, make: () => this.#activate(id) };
    const isToFinish = isUncalled(there, rules) || this.#isUnfinished;
    return [
      ...(status === 'active' ? [] : [activation]),
      ...(isToFinish ? [{ ...whole, what: `create the trigger that calls the webhook "${name}"` }] : []),
    ];
  }

  async #finish(hookUrl: string) {
    this.#isUnfinished = true;
    const there = (await this.#listHere(hookUrl))[0] ?? (await this.#make(hookUrl));
    if (isUncalled(there, await this.#rulesFor([there]))) {
      const trigger = {
        title: 'closeloop: ask for feedback on solved tickets',
        conditions: { all: [{ field: 'status', operator: 'value', value: 'solved' }], any: [] },
        // Nothing but the id: a customer's words could break the JSON.
        actions: [{ field: 'notification_webhook', value: [there.id, '{"ticket_id": "{{ticket.id}}"}'] }],
      };
      await this.create('POST', '/api/v2/triggers.json', { trigger }, z.unknown());
    }
    const secrets = { webhookSecrets: await this.#secretOf(there) };
    this.#isUnfinished = false;
    const note = "Put this secret into the environment, and let this source's webhookSecrets name its variable.";
    return { note, secrets };
  }

  /** Creates a subscribed webhook, or where Zendesk refuses that, a connected one. The kind can't be changed later. */
  async #make(hookUrl: string): Promise<Made> {
    const kind = { http_method: 'POST', request_format: 'json', status: 'active' };
    const post = async (subscriptions: string[]) => {
      const webhook = { name: 'closeloop', endpoint: hookUrl, ...kind, subscriptions };
      return { ...(await this.create('POST', '/api/v2/webhooks', { webhook }, Created)).webhook, subscriptions };
    };
    try {
      return await post(this.#settings.csat === undefined ? wanted : [csatReceived, ...wanted]);
    } catch (error) {
      const isRefused = error instanceof CloseloopError && error.outcome === 'refused';
      if (!isRefused || error.advice.kind === 'transient') throw error;
      return await post([connected]);
    }
  }

  async #activate(id: string) {
    const body = { webhook: { status: 'active' } };
    await this.create('PATCH', `/api/v2/webhooks/${encodeURIComponent(id)}`, body, z.unknown());
    return {};
  }
}

function unlessRefused(error: unknown): undefined {
  if (error instanceof VendorError) return undefined;
  throw error;
}
