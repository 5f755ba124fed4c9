import { expect, test } from 'vitest';
import { freshdeskRetries } from '../../../standins/freshdesk/rules.ts';
import { hubspotRetries } from '../../../standins/hubspot/webhooks.ts';
import { intercomRetries } from '../../../standins/intercom/webhooks.ts';
import type { Attempt, RetryPolicy } from '../../../standins/kit/webhook-sender.ts';
import { railsJson } from '../../../standins/shopify/payloads.ts';
import { shopifyRetries } from '../../../standins/shopify/webhooks.ts';
import { signWooCommerce, wooCommerceRetries } from '../../../standins/woocommerce/webhooks.ts';
import { zendeskRetries } from '../../../standins/zendesk/webhooks.ts';

/* How often and how long each vendor tries again. What they sign is checked by the tests of the connectors' signatures. */

const answered = (status: number, retryAfterSeconds?: number): Attempt =>
  retryAfterSeconds === undefined ? { met: 'answer', status } : { met: 'answer', status, retryAfterSeconds };
const minute = 60_000;

test.each<[vendor: string, policy: RetryPolicy, met: Attempt, attempts: number, lastMs: number]>([
  ['Zendesk', zendeskRetries, answered(500), 1, 0],
  ['Zendesk', zendeskRetries, answered(401), 1, 0],
  ['Zendesk', zendeskRetries, answered(503), 1, 0],
  ['Zendesk', zendeskRetries, answered(503, 60), 1, 0],
  ['Zendesk', zendeskRetries, answered(503, 30), 6, 150_000],
  ['Zendesk', zendeskRetries, answered(429, 1), 6, 5_000],
  ['Zendesk', zendeskRetries, answered(409), 4, 15_000],
  ['Zendesk', zendeskRetries, { met: 'timeout' }, 6, 25_000],
  ['Zendesk', zendeskRetries, { met: 'no-connection' }, 1, 0],
  ['HubSpot', hubspotRetries, answered(500), 11, 86_400_000],
  ['HubSpot', hubspotRetries, answered(401), 11, 86_400_000],
  ['HubSpot', hubspotRetries, { met: 'no-connection' }, 11, 86_400_000],
  ['Freshdesk', freshdeskRetries, answered(503), 4, 95 * minute],
  ['Intercom', intercomRetries, answered(503), 2, minute],
  ['Intercom', intercomRetries, answered(429), 8, 127 * minute],
  ['Intercom', intercomRetries, answered(410), 1, 0],
  ['Shopify', shopifyRetries, answered(302), 9, 255 * 56_000],
  ['WooCommerce', wooCommerceRetries, answered(500), 1, 0],
])('%s, which %o met %j, makes %i attempts in %i ms', (_vendor, policy, met, attempts, lastMs) => {
  const made = [met];
  let total = 0;
  for (;;) {
    const pause = policy.pauseMs(made, () => 1);
    if (pause === undefined) break;
    total += pause;
    made.push(met);
  }
  expect([made.length, total]).toEqual([attempts, lastMs]);
});

test('WooCommerce decodes the entities of a stored secret, and Shopify writes JSON as Rails does', () => {
  expect(signWooCommerce('Tom &amp; &quot;Jerry&quot; &lt;3', 'x')).toBe(signWooCommerce('Tom & "Jerry" <3', 'x'));
  expect(railsJson({ text: '</a&b>', list: [1] })).toBe('{"text":"\\u003c\\/a\\u0026b\\u003e","list":[1]}');
});
