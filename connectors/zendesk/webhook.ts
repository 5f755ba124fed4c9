import { z } from 'zod';
import { type Comparison, errorAt, isSameUrl, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding, SetupStep } from '../../core/connector/contract.ts';
import { comparedHooks, type DeskHooks, type WantedHook } from '../../core/connector/desk/preflight.ts';
import { listOf, orElse, text } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { idText, readAll, type ZendeskApi } from './api.ts';
import { csatReceived, ticketEvent } from './events.ts';
import type { Account } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';

/*
 * Checks and creates the webhook that delivers closings here, and the trigger that calls the webhook if Zendesk refuses a subscription to
 * ticket events.
 */

const place = 'Admin Center > Apps and integrations > Webhooks';
const rulesPlace = 'Admin Center > Objects and rules > Business rules > Triggers';

const Webhook = z.object({
  ...{ id: idText, name: text, endpoint: text, status: z.string(), http_method: text, request_format: text },
  subscriptions: listOf(z.string()).nullish(),
});
type Webhook = z.output<typeof Webhook>;
type Made = Pick<Webhook, 'id' | 'subscriptions'>;

const Conditions = listOf(z.object({ field: text, operator: text, value: z.unknown() })).nullish();
export const Rule = z.object({
  ...{ id: idText, title: text, active: orElse(z.boolean(), true) },
  conditions: z.object({ all: Conditions, any: Conditions }).partial().nullish(),
  actions: orElse(listOf(z.object({ field: text, value: z.unknown() })), []),
});
/** A trigger or an automation. */
export type Rule = z.output<typeof Rule>;
export const triggers = (api: ZendeskApi): Promise<Rule[]> => readAll(api, '/api/v2/triggers', 'triggers', Rule);

const Invocations = z.object({ invocations: listOf(z.object({ status: z.string() })) });
const Secret = z.object({ signing_secret: z.object({ secret: z.string() }) });
const Created = z.object({ webhook: z.object({ id: idText }) });

/** The events that `events.ts` reads: closings, changes that end a waiting feedback request, and with `csat` ratings. */
const names = ['status_changed', 'merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam', 'undeleted'];
const wanted = names.map((name) => ticketEvent + name);

/** The subscription of a webhook that triggers and automations call. */
const connected = 'conditional_ticket_events';
const isConnected = ({ subscriptions }: Made): boolean => subscriptions?.includes(connected) === true;
const isUncalled = (webhook: Made, rules: readonly Rule[]): boolean =>
  isConnected(webhook) && !rules.some((rule) => bodiesFor(rule, webhook.id).length > 0);
const pathOf = ({ id }: Made): string => `/api/v2/webhooks/${encodeURIComponent(id)}`;

/** The bodies with which a rule calls a webhook. */
const bodiesFor = ({ actions }: Rule, webhookId: string): string[] =>
  actions.flatMap(({ field, value }) => {
    if (field !== 'notification_webhook' || !Array.isArray(value) || String(value[0]) !== webhookId) return [];
    return [typeof value[1] === 'string' ? value[1] : ''];
  });

const namesTicket = (body: string): boolean => /"ticket_id"\s*:\s*"?\{\{\s*ticket\.id\s*\}\}/.test(body);

/** The reasons why a webhook delivers no closings, and its other flaws. @param rules the triggers */
function flawsOf(webhook: Webhook, rules: readonly Rule[], { csat }: ZendeskSettings): string[] {
  const { id, status, http_method, request_format, subscriptions } = webhook;
  if (status !== 'active') return ['is inactive'];
  if (http_method !== 'POST' || request_format !== 'json')
    return [`sends ${http_method} ${request_format}; closeloop takes POST json`];
  const lacks = (event: string, title: string) =>
    subscriptions?.includes(event) === true ? [] : [`is not subscribed to "${title}"`];
  const ofRatings = csat === undefined ? [] : lacks(csatReceived, 'CSAT received');
  if (!isConnected(webhook)) return [...lacks(`${ticketEvent}status_changed`, 'Ticket status changed'), ...ofRatings];
  const calling = rules.filter((trigger) => bodiesFor(trigger, id).length > 0);
  const active = calling.filter((trigger) => trigger.active);
  const [first] = calling;
  if (first === undefined) return ['is connected to triggers, but no trigger calls it'];
  if (active.length === 0) return [`is called by the trigger "${first.title}", which is inactive`];
  if (active.flatMap((trigger) => bodiesFor(trigger, id)).some(namesTicket)) return ofRatings;
  return [`is called by the trigger "${first.title}" with a body that doesn't name the ticket`];
}

/** The step for a person if the existing webhook differs from the webhook that closeloop would create. */
const byHand = (webhook: Webhook): string =>
  isConnected(webhook)
    ? `Let a trigger "Status changed to Solved" notify the webhook "${webhook.name}" (${rulesPlace}) with the JSON body {"ticket_id": "{{ticket.id}}"}. A webhook for triggers tells of no ratings: delete it for these, and run "closeloop setup".`
    : `Delete the webhook "${webhook.name}" and run "closeloop setup", or edit it (${place}): request method POST, format JSON, event "Ticket status changed", and with \`csat\` the event "CSAT received".`;

const wellEnough = new Set(['success', 'accepted', 'unknown']);

/** A warning if more than one in ten of the latest deliveries failed; an error if the newest failed, too. @param invocations newest first */
function deliveryFindings({ name }: Webhook, invocations: readonly { status: string }[]): Finding[] {
  const statuses = invocations.map(({ status }) => status);
  const failures = statuses.filter((status) => !wellEnough.has(status));
  const [newest] = statuses;
  if (newest === undefined || failures.length * 10 <= statuses.length) return [];
  const kinds = [...new Set(failures)].join(', ');
  const problem = `${failures.length} of the latest ${statuses.length} deliveries of the webhook "${name}" failed (${kinds})`;
  const remedy = `See why (${place} > ${name} > Activity): is closeloop running, is its address reachable from the internet, is the secret right?`;
  return [(wellEnough.has(newest) ? warningAt : errorAt)('webhook', problem, remedy)];
}

export class WebhookSetup {
  readonly #account: Account;
  readonly create: ZendeskApi['send'];
  /** Whether a step created the webhook and has not returned its secret yet: then the next attempt continues. */
  #isUnfinished = false;

  /** @param create sends with the rights of an admin: the source's own token may create nothing */
  constructor(account: Account, create: ZendeskApi['send']) {
    this.#account = account;
    this.create = create;
  }

  /** The comparison for `check` and `setup`. `setup` activates an existing webhook, or creates its trigger; a person does everything else. */
  async compared(hookUrl: string): Promise<Comparison> {
    const { api, settings } = this.#account;
    const here = await this.#listHere(hookUrl);
    const rules = here.some(isConnected) ? await triggers(api) : [];
    // `check` reports an address that Zendesk can't reach safely, so `setup` creates nothing for it.
    const isReached = hookUrl.startsWith('https://') || settings.baseUrl !== undefined;
    const what = `the webhook that delivers to ${hookUrl}`;
    const hooks: DeskHooks<Webhook, WantedHook> = {
      list: async () => here,
      wanted: () => (isReached ? [{ id: 'webhook', what }] : []),
      is: () => true,
      flaws: (one) => flawsOf(one, rules, settings).concat(this.#isUnfinished ? 'is not set up whole' : []),
      make: async (_, there) => {
        const isInactive = there !== undefined && there.status !== 'active';
        if (isInactive) await this.create('PATCH', pathOf(there), { webhook: { status: 'active' } }, z.unknown());
        if (there === undefined || this.#isUnfinished || isUncalled(there, rules))
          return await this.#finish(hookUrl, there, rules);
        return isInactive ? {} : { note: byHand(there) };
      },
    };
    return await comparedHooks(hooks, hookUrl);
  }

  /** Checks that the deliveries are signed with a secret of the settings, and that they arrive. */
  async deliveries(hookUrl: string | undefined): Promise<Finding[]> {
    const found: Finding[] = [];
    const here = hookUrl === undefined ? [] : await this.#listHere(hookUrl);
    const active = here.filter(({ status }) => status === 'active').map(({ name }) => `"${name}"`);
    if (active.length > 1) {
      const problem = `${active.length} webhooks tell us the same: ${active.join(', ')}. Nobody is asked twice, but each closing is looked at more often`;
      found.push(warningAt('webhook', problem, `Keep one of them (${place})`));
    }
    for (const webhook of here) {
      const { name, status } = webhook;
      if (!this.#account.settings.webhookSecrets.includes(await this.#secretOf(webhook))) {
        const problem = `none of them is the signing secret of the webhook "${name}": its deliveries are refused`;
        const remedy = `Run "closeloop setup", which takes it over, or copy it from ${place} > ${name} > Reveal secret`;
        found.push(errorAt('webhookSecrets', problem, remedy));
      }
      if (status !== 'active') continue;
      const path = `${pathOf(webhook)}/invocations?page[size]=100&sort=-latest_completed_at`;
      const { invocations } = await this.#account.api.get(path, Invocations);
      found.push(...deliveryFindings(webhook, invocations));
    }
    return found;
  }

  /**
   * The step that shows the signing secret of a webhook that delivers here, if the settings lack it. If closeloop may not read the secret,
   * `check` has a finding.
   */
  async lostSecret(hookUrl: string | undefined): Promise<SetupStep[]> {
    const here = hookUrl === undefined ? [] : await this.#listHere(hookUrl);
    const active = here.filter(({ status }) => status === 'active');
    const secrets = await Promise.all(active.map((webhook) => this.#secretOf(webhook).catch(unlessRefused)));
    const known: readonly (string | undefined)[] = this.#account.settings.webhookSecrets;
    const [secret] = secrets;
    if (secret === undefined || secrets.some((one) => known.includes(one))) return [];
    const what = `take over the signing secret of the webhook "${active[0]?.name}"`;
    return [{ what, apply: async () => ({ secrets: { webhookSecrets: secret } }) }];
  }

  /** The webhooks that deliver here, active webhooks first. */
  async #listHere(hookUrl: string): Promise<Webhook[]> {
    const all = await readAll(this.#account.api, '/api/v2/webhooks', 'webhooks', Webhook);
    const here = all.filter(({ endpoint }) => isSameUrl(endpoint, hookUrl));
    return here.toSorted((a, b) => Number(b.status === 'active') - Number(a.status === 'active'));
  }

  async #secretOf(webhook: Made): Promise<string> {
    return (await this.#account.api.get(`${pathOf(webhook)}/signing_secret`, Secret)).signing_secret.secret;
  }

  async #finish(hookUrl: string, there: Webhook | undefined, rules: readonly Rule[]) {
    this.#isUnfinished = true;
    const made = there ?? (await this.#make(hookUrl));
    if (isUncalled(made, rules)) {
      const trigger = {
        title: 'closeloop: ask for feedback on solved tickets',
        conditions: { all: [{ field: 'status', operator: 'value', value: 'solved' }], any: [] },
        // The body has only the id, because a customer's words could break the JSON.
        actions: [{ field: 'notification_webhook', value: [made.id, '{"ticket_id": "{{ticket.id}}"}'] }],
      };
      await this.create('POST', '/api/v2/triggers.json', { trigger }, z.unknown());
    }
    const secrets = { webhookSecrets: await this.#secretOf(made) };
    this.#isUnfinished = false;
    const note = "Put this secret into the environment, and let this source's webhookSecrets name its variable.";
    return { note, secrets };
  }

  /** Creates a subscribed webhook or, if Zendesk refuses that, a connected webhook. Zendesk can't change the kind later. */
  async #make(hookUrl: string): Promise<Made> {
    const kind = { http_method: 'POST', request_format: 'json', status: 'active' };
    const post = async (subscriptions: string[]) => {
      const webhook = { name: 'closeloop', endpoint: hookUrl, ...kind, subscriptions };
      return { ...(await this.create('POST', '/api/v2/webhooks', { webhook }, Created)).webhook, subscriptions };
    };
    try {
      return await post(this.#account.settings.csat === undefined ? wanted : [csatReceived, ...wanted]);
    } catch (error) {
      const isRefused = error instanceof CloseloopError && error.outcome === 'refused';
      if (!isRefused || error.advice.kind === 'transient') throw error;
      return await post([connected]);
    }
  }
}

function unlessRefused(error: unknown): undefined {
  if (error instanceof VendorError) return undefined;
  throw error;
}
