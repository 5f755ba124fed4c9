import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { errorAt, type Prober, unknownReads, vendorProber, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import type { Shop } from './api.ts';
import { shapeNames } from './record.ts';
import type { WooCommerceSettings } from './settings.ts';
import { isNamedOurs, listWebhooks, pointsTo, type Webhook, wantedTopics } from './webhooks.ts';

const coreStatuses = new Set(['processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed']);
const skewMs = 5 * 60_000;

const Anything = z.unknown();

/** A few GETs, and a batch of no orders, which changes nothing and is refused to a read-only key. */
export function checker(
  settings: WooCommerceSettings,
  shop: Shop,
  ports: Pick<ConnectorPorts, 'now'>,
): NonNullable<Source['check']> {
  return async (about) => {
    const { findings, probe } = vendorProber('consumerKey');
    const own = [...ofSettings(settings), ...ofAddress(settings, about)];
    const reads = unknownReads('WooCommerce', shapeNames, 'meta data are under order.meta', about.reads);
    const orders = await probe({ at: 'site', what: 'the orders' }, () =>
      shop.call('GET', 'orders', Anything, { query: { per_page: '1', _fields: 'id' } }),
    );
    // The other calls would fail for the same reason.
    if (orders === undefined) return [...own, ...reads, ...findings];
    await probe({ at: 'site', what: 'the right to write' }, () =>
      shop.call('POST', 'orders/batch', Anything, { body: { update: [] } }),
    );
    const statuses = await ofStatuses(settings, shop, probe);
    const webhooks = await probe({ at: 'site', what: 'the webhooks' }, () => listWebhooks(shop));
    const { hookUrl } = about;
    const hooks = webhooks === undefined || hookUrl === undefined ? [] : ofWebhooks(webhooks, hookUrl, settings);
    return [...own, ...reads, ...ofClock(ports.now(), orders.at), ...findings, ...statuses, ...hooks];
  };
}

function ofSettings({ webhookSecrets, writeBack }: WooCommerceSettings): Finding[] {
  const findings = webhookSecrets.flatMap((secret, index): Finding[] => {
    const at = `webhookSecrets.${index}`;
    const remedy = 'use 40 or more letters and digits, here and in the webhooks';
    if (/&(?:amp|lt|gt|quot|#0?39);/.test(secret)) {
      const problem =
        'holds an HTML entity (&amp; …), which WooCommerce decodes before it signs: no signature will match';
      return [errorAt(at, problem, `write the plain sign, or better ${remedy}`)];
    }
    if (/[&<>"'\\\s]/.test(secret)) {
      return [warningAt(at, 'holds signs that WordPress may store in another form', remedy)];
    }
    return secret.length >= 12 ? [] : [warningAt(at, 'is short enough to be guessed', remedy)];
  });
  const { grade, comment, status, note, answers } = writeBack;
  if ([grade, comment, status].every((name) => name === undefined) && !note && Object.keys(answers).length === 0) {
    const remedy = 'name meta data for it, like grade: feedback_grade, or set note: true';
    findings.push(warningAt('writeBack', 'no answer will be put on an order', remedy));
  }
  return findings;
}

/** The addresses that WordPress delivers to. Source: wp_http_validate_url. A stand-in on this machine takes any. */
function ofAddress({ site }: WooCommerceSettings, { hookUrl }: PreflightContext): Finding[] {
  if (hookUrl === undefined) {
    const problem = 'it is not known where the shop has to deliver, so the webhooks were not checked';
    return [warningAt('webhook', problem, 'set http.publicUrl')];
  }
  if (isLoopback(site)) return [];
  const { protocol, port, hostname, username } = new URL(hookUrl);
  const error = (problem: string, remedy: string): Finding => errorAt('webhook', problem, remedy);
  const findings: Finding[] = [];
  if (!['', '80', '443', '8080'].includes(port)) {
    findings.push(error(`WordPress delivers to no port but 80, 443 and 8080, not to ${port}`, 'change http.publicUrl'));
  }
  if (username !== '') {
    findings.push(error('WordPress delivers to no address with a user in it', 'take it out of http.publicUrl'));
  }
  if (isPrivate(hostname)) {
    const remedy = 'make closeloop reachable from outside and set http.publicUrl to that address';
    findings.push(error('WordPress delivers to no private address', remedy));
  }
  if (protocol === 'http:') {
    const problem = 'orders would come unencrypted';
    findings.push(warningAt('webhook', problem, 'give http.publicUrl an https address'));
  }
  return findings;
}

function isPrivate(hostname: string): boolean {
  if (isIP(hostname) === 4) return /^(?:10|127|0|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./.test(hostname);
  return hostname.startsWith('[') || !hostname.includes('.') || /\.(?:local|internal|localhost)$/.test(hostname);
}

function ofClock(here: Date, there: Date): Finding[] {
  const minutes = Math.round(Math.abs(here.getTime() - there.getTime()) / 60_000);
  if (minutes * 60_000 < skewMs) return [];
  const problem = `the clocks of the shop and of this machine differ by ${minutes} minutes: requests go out that much too early or late`;
  return [warningAt('site', problem, 'set both by a time server')];
}

/** The list of orders refuses a status that no plugin has registered; no order will ever have it. */
async function ofStatuses({ statuses }: WooCommerceSettings, shop: Shop, probe: Prober['probe']): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [index, status] of statuses.entries()) {
    if (coreStatuses.has(status)) continue;
    const at = `statuses.${index}`;
    const query = { status, per_page: '1', _fields: 'id' };
    await probe({ at: 'site', what: `the orders that are ${status}` }, async () => {
      try {
        await shop.call('GET', 'orders', Anything, { query });
      } catch (error) {
        if (!(error instanceof VendorError) || error.status !== 400) throw error;
        const remedy = 'take it from the address of the filtered order list (post_status=wc-…), without "wc-"';
        findings.push(errorAt(at, `the shop knows no status "${status}"`, remedy));
      }
    });
  }
  return findings;
}

function ofWebhooks(
  webhooks: readonly Webhook[],
  hookUrl: string,
  { statuses }: Pick<WooCommerceSettings, 'statuses'>,
): Finding[] {
  const here = webhooks.filter((webhook) => pointsTo(webhook, hookUrl));
  const tellsAll = statuses.every((status) => isActive(here, `action.woocommerce_order_status_${status}`));
  const [updated, deleted] = wantedTopics;
  const findings: Finding[] = [];
  const remedy = 'run closeloop setup, or correct it under WooCommerce > Settings > Advanced > Webhooks';
  if (!isActive(here, updated) && !tellsAll) {
    findings.push(errorAt('webhook', flawOf(webhooks, here, updated), remedy));
  }
  if (here.length > 0 && !isActive(here, deleted)) {
    const problem = `no active webhook of the topic ${deleted}: an order in the trash is noticed only when its request is due`;
    findings.push(warningAt('webhook', problem, remedy));
  }
  return findings;
}

const isActive = (webhooks: readonly Webhook[], topic: string): boolean =>
  webhooks.some((webhook) => webhook.topic === topic && webhook.status === 'active');

function flawOf(all: readonly Webhook[], here: readonly Webhook[], topic: string): string {
  const asleep = here.find((webhook) => webhook.topic === topic);
  if (asleep !== undefined) {
    const why = asleep.status === 'disabled' ? ', which the shop does after failures' : '';
    return `the webhook ${asleep.id} (${topic}) is ${asleep.status}${why}`;
  }
  if (here.length > 0) return `webhooks point here, none with the topic ${topic} ("Order updated")`;
  const astray = all.find((webhook) => isNamedOurs(webhook) && webhook.topic === topic);
  if (astray !== undefined) return `the webhook ${astray.id} (${topic}) delivers to another address than this source's`;
  return `no webhook of the topic ${topic} delivers here`;
}
