import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, invalid, notFound, problem } from './context.ts';
import {
  eventKinds,
  isSubscribable,
  objectTypeIds,
  objectTypes,
  type Subscription,
  singular,
  type WebhookTarget,
} from './definitions.ts';

/** For legacy public apps only, with the developer key (`hapikey`) instead of a token. */
export const webhookApi = '/webhooks/v3/';
const app = `${webhookApi}{appId:\\d+}`;

const settings = z.strictObject({
  targetUrl: z.string(),
  throttling: z.object({ maxConcurrentRequests: z.number().int(), period: z.string().optional() }),
});
const newSubscription = z.strictObject({
  eventType: z.string(),
  propertyName: z.string().optional(),
  objectTypeId: z.string().optional(),
  active: z.boolean().default(false),
});

export const webhookRoutes: Route<Context>[] = [
  route('GET', `${app}/settings`, showSettings),
  route('PUT', `${app}/settings`, changeSettings),
  route('GET', `${app}/subscriptions`, listSubscriptions),
  route('POST', `${app}/subscriptions`, subscribe),
];

function showSettings(context: Context, params: Params): StandinResponse {
  return ok(viewSettings(target(context, params)));
}

/** One target per app, https (http only to this machine, for tests of our own), more than five deliveries at a time. */
function changeSettings(context: Context, params: Params): StandinResponse {
  own(context, params);
  const { targetUrl, throttling } = bodyOf(context, settings);
  if (!URL.canParse(targetUrl)) throw invalid('targetUrl is not a URL');
  const { protocol, hostname } = new URL(targetUrl);
  if (protocol !== 'https:' && hostname !== '127.0.0.1') throw invalid('targetUrl must be https');
  if (throttling.maxConcurrentRequests <= 5) throw invalid('maxConcurrentRequests must be greater than 5');
  const { webhook } = context.store;
  context.store.webhook = {
    ...(webhook ?? { secrets: [context.account.clientSecret], form: 'classic', subscriptions: [] }),
    url: targetUrl,
  };
  return ok(viewSettings(context.store.webhook));
}

function listSubscriptions(context: Context, params: Params): StandinResponse {
  own(context, params);
  const { webhook } = context.store;
  return ok({ results: webhook?.subscriptions.map((one) => viewSubscription(one, webhook)) ?? [] });
}

function subscribe(context: Context, params: Params): StandinResponse {
  const webhook = target(context, params);
  const { eventType, propertyName, objectTypeId, active } = bodyOf(context, newSubscription);
  const [named = '', event] = eventType.split('.');
  const form = named === 'object' ? 'generic' : 'classic';
  const object = objectTypes.find((type) =>
    form === 'generic' ? objectTypeIds[type] === objectTypeId : singular[type] === named,
  );
  const kind = eventKinds.find((one) => one === event);
  if (kind === undefined || object === undefined) throw invalid(`${eventType} is not an event type`);
  if (kind === 'privacyDeletion' && (form === 'generic' || object !== 'contacts'))
    throw invalid(`${eventType} is not an event type`);
  if ((kind === 'propertyChange') !== (propertyName !== undefined))
    throw invalid('propertyName is for propertyChange, and only for it');
  if (propertyName !== undefined && !isSubscribable(propertyName)) throw invalid(`${propertyName} is not subscribable`);
  const same = (one: Subscription): boolean =>
    one.event === kind &&
    one.object === object &&
    one.propertyName === propertyName &&
    (one.form ?? webhook.form) === form;
  if (webhook.subscriptions.some(same))
    throw problem(409, 'OBJECT_ALREADY_EXISTS', 'The app is subscribed to this already');
  const made: Subscription = {
    id: context.account.nextSubscriptionId(),
    event: kind,
    object,
    ...(propertyName === undefined ? {} : { propertyName }),
    active,
    form,
  };
  webhook.subscriptions.push(made);
  return { status: 201, body: viewSubscription(made, webhook) };
}

/** @throws Problem 404 for another developer's app */
function own({ account: { appId } }: Context, params: Params): void {
  if (params.appId !== String(appId)) throw notFound('There is no such app');
}

/** @throws Problem 404 as well while the app has no target */
function target(context: Context, params: Params): WebhookTarget {
  own(context, params);
  if (context.store.webhook === undefined) throw notFound('The app has no webhook settings');
  return context.store.webhook;
}

const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

function viewSettings({ url }: WebhookTarget): object {
  return { targetUrl: url, throttling: { maxConcurrentRequests: 10, period: 'SECONDLY' }, ...times };
}

function viewSubscription(
  { id, event, object, propertyName, active = true, form }: Subscription,
  webhook: WebhookTarget,
): object {
  const generic = (form ?? webhook.form) === 'generic' && event !== 'privacyDeletion';
  return {
    id: String(id),
    eventType: `${generic ? 'object' : singular[object]}.${event}`,
    ...(generic ? { objectTypeId: objectTypeIds[object] } : {}),
    ...(propertyName === undefined ? {} : { propertyName }),
    active,
    ...times,
  };
}
