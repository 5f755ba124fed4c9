import { z } from 'zod';
import type { SetupStep } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { bodiesFor, signingSecret, triggers, type Webhook, webhooks } from './admin.ts';
import { connected, pointsTo } from './check-webhook.ts';
import type { ZendeskApi } from './client.ts';
import type { ZendeskSettings } from './settings.ts';

/** What `events.ts` understands: closings, what ends a waiting request, and ratings where they are wanted. */
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
  const look = async (): Promise<Webhook | undefined> => {
    const ours = (await webhooks(api)).filter((webhook) => pointsTo(webhook, hookUrl));
    return ours.find(({ status }) => status === 'active') ?? ours[0];
  };

  /** Subscribed, or connected where Zendesk refuses that. Which of the two it is can't be changed later. */
  async function made(): Promise<{ id: string; isConnected: boolean }> {
    const held = await look();
    if (held !== undefined) return { id: held.id, isConnected: held.subscriptions?.includes(connected) === true };
    const post = async (wanted: string[]): Promise<string> => {
      const webhook = {
        name: 'closeloop',
        endpoint: hookUrl,
        http_method: 'POST',
        request_format: 'json',
        status: 'active',
        subscriptions: wanted,
      };
      return (await create('POST', '/api/v2/webhooks', { webhook }, Created)).webhook.id;
    };
    try {
      return { id: await post(subscriptions(settings)), isConnected: false };
    } catch (error) {
      if (!(error instanceof CloseloopError) || error.outcome !== 'refused' || error.advice.kind === 'transient')
        throw error;
      return { id: await post([connected]), isConnected: true };
    }
  }

  async function connect(id: string): Promise<void> {
    if ((await triggers(api)).some((trigger) => bodiesFor(trigger, id).length > 0)) return;
    const trigger = {
      title: 'closeloop: ask for feedback on solved tickets',
      conditions: { all: [{ field: 'status', operator: 'value', value: 'solved' }], any: [] },
      // Nothing but the id: a customer's words could break the JSON.
      actions: [{ field: 'notification_webhook', value: [id, '{"ticket_id": "{{ticket.id}}"}'] }],
    };
    await create('POST', '/api/v2/triggers.json', { trigger }, z.unknown());
  }

  const finish: SetupStep['apply'] = async () => {
    const { id, isConnected } = await made();
    if (isConnected) await connect(id);
    return {
      note: "Put this secret into the environment, and let this source's webhookSecrets name its variable.",
      secrets: { webhookSecrets: await signingSecret(api, id) },
    };
  };

  const held = await look();
  if (held === undefined)
    return [{ what: `create the webhook "closeloop" that delivers to ${hookUrl}`, apply: finish }];
  const steps: SetupStep[] = [];
  if (held.status !== 'active') {
    const apply: SetupStep['apply'] = async () => {
      const body = { webhook: { status: 'active' } };
      await create('PATCH', `/api/v2/webhooks/${encodeURIComponent(held.id)}`, body, z.unknown());
      return {};
    };
    steps.push({ what: `activate the webhook "${held.name}"`, apply });
  }
  // Left by a setup that ended between the two.
  const isConnected = held.subscriptions?.includes(connected) === true;
  if (isConnected && !(await triggers(api)).some((trigger) => bodiesFor(trigger, held.id).length > 0)) {
    steps.push({ what: `create the trigger that calls the webhook "${held.name}"`, apply: finish });
  }
  return steps;
}
