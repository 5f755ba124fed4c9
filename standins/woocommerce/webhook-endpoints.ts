import { z } from 'zod';
import { jsonBody, ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { type Context, invalidParam, noSuchWebhook, problem } from './context.ts';
import { viewWebhook } from './views.ts';

const base = '/wp-json/wc/v3/webhooks';
const topic = z.string().regex(/^(?:order\.(?:created|updated|deleted|restored)|action\.\w+)$/);
const Changes = z.object({
  name: z.string().exactOptional(),
  topic: topic.exactOptional(),
  delivery_url: z.string().exactOptional(),
  secret: z.string().exactOptional(),
  status: z.enum(['active', 'paused', 'disabled']).exactOptional(),
});

export const webhookRoutes: Route<Context>[] = [
  route('GET', base, list),
  route('POST', base, create),
  route('PUT', `${base}/{id:\\d+}`, change),
];

function list({ store, query }: Context): StandinResponse {
  const perPage = Number(query.get('per_page') ?? 10);
  if (!Number.isInteger(perPage) || perPage < 1 || perPage > 100) throw invalidParam('per_page', 'must be 1 to 100');
  const page = Number(query.get('page') ?? 1);
  const all = [...store.webhooks.values()].reverse();
  return {
    status: 200,
    headers: { 'x-wp-total': String(all.length), 'x-wp-totalpages': String(Math.ceil(all.length / perPage)) },
    body: all.slice((page - 1) * perPage, page * perPage).map(viewWebhook),
  };
}

function changesIn(context: Context): z.output<typeof Changes> {
  const parsed = Changes.safeParse(jsonBody(context.req) ?? {});
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0] ?? '');
  if (name === 'topic') {
    throw problem(400, 'woocommerce_rest_invalid_webhook_topic', 'Webhook topic must be valid.');
  }
  throw invalidParam(name, 'is invalid');
}

function create(context: Context): StandinResponse {
  const { name, topic, delivery_url: deliveryUrl, secret } = changesIn(context);
  if (topic === undefined) {
    throw problem(400, 'woocommerce_rest_invalid_webhook_topic', 'Webhook topic is required and must be valid.');
  }
  const given = {
    name: name ?? `Webhook created on ${new Date(context.now).toISOString()}`,
    topic,
    deliveryUrl: checked(deliveryUrl ?? ''),
    // Nobody can ever read it.
    secret: secret ?? `random-${Math.random()}`,
  };
  const webhook = context.store.addWebhook(given, context.now);
  context.ping(webhook);
  return { status: 201, body: viewWebhook(webhook) };
}

function change(context: Context, params: Params): StandinResponse {
  const webhook = context.store.webhooks.get(Number(params.id));
  if (webhook === undefined) throw noSuchWebhook();
  const { delivery_url: deliveryUrl, ...rest } = changesIn(context);
  Object.assign(webhook, rest, deliveryUrl === undefined ? {} : { deliveryUrl: checked(deliveryUrl) });
  webhook.modifiedAt = context.now;
  return ok(viewWebhook(webhook));
}

/** Only its form: where it leads is looked at when something is delivered. */
function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw problem(400, 'woocommerce_rest_invalid_webhook_delivery_url', 'Webhook delivery URL must be a valid URL.');
}
