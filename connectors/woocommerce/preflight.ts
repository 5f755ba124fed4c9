import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from '../../core/address.ts';
import { takesAnswers } from '../../core/connector/answer.ts';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Finding } from '../../core/connector/contract.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Shop } from './api.ts';
import { shapeNames } from './record.ts';
import type { WooCommerceSettings } from './settings.ts';
import { webhooksCompared } from './webhooks.ts';

const coreStatuses = new Set(['processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed']);
const skewMs = 5 * 60_000;

const Anything = z.unknown();
const oneOrder = { per_page: '1', _fields: 'id' };

/**
 * Makes a few GETs, and sends a batch of no orders, which changes nothing; WooCommerce refuses the batch to a read-only key. Meta data need no
 * setup.
 */
export function preflight(
  settings: WooCommerceSettings,
  shop: Shop,
  { now }: Pick<ConnectorPorts, 'now'>,
): DeskPreflight {
  const isStandin = isLoopback(settings.site);
  const at = 'site';
  return {
    credential: 'consumerKey',
    shape: { names: shapeNames, hint: 'meta data are under order.meta' },
    isStandin,
    probes: [
      {
        ...{ at, what: 'the orders' },
        read: async () => ofClock(now(), (await shop.call('GET', 'orders', Anything, { query: oneOrder })).at),
      },
      {
        ...{ at, what: 'the right to write' },
        tries: () => shop.call('POST', 'orders/batch', Anything, { body: { update: [] } }),
      },
      { ...{ at, what: 'the statuses' }, read: () => ofStatuses(settings, shop) },
    ],
    hooks: (hookUrl) => webhooksCompared(settings, shop, hookUrl),
    own: ({ hookUrl }) => [
      ...settings.webhookSecrets.flatMap(ofSecret),
      ...(takesAnswers(settings.writeBack) ? [] : [nowhere]),
      ...(hookUrl === undefined || isStandin ? [] : ofAddress(new URL(hookUrl))),
    ],
    steps({ hookUrl }) {
      if (hookUrl !== undefined) return [];
      throw new CloseloopError('WooCommerce has to be told where to deliver: set http.publicUrl.', { kind: 'config' });
    },
  };
}

const nowhere = warningAt(
  'writeBack',
  'no answer will be put on an order',
  'name meta data for it, like grade: feedback_grade, or set note: true',
);

function ofSecret(secret: string, index: number): Finding[] {
  const at = `webhookSecrets.${index}`;
  const remedy = 'use 40 or more letters and digits, here and in the webhooks';
  if (/&(?:amp|lt|gt|quot|#0?39);/.test(secret)) {
    const problem =
      'holds an HTML entity (&amp; …), which WooCommerce decodes before it signs: no signature will match';
    return [errorAt(at, problem, `write the plain sign, or better ${remedy}`)];
  }
  if (/[&<>"'\\\s]/.test(secret))
    return [warningAt(at, 'holds signs that WordPress may store in another form', remedy)];
  return secret.length >= 12 ? [] : [warningAt(at, 'is short enough to be guessed', remedy)];
}

/** Checks that WordPress can deliver to the address. Source: wp_http_validate_url. */
function ofAddress({ port, hostname, username }: URL): Finding[] {
  const error = (problem: string, remedy: string): Finding => errorAt('http.publicUrl', problem, remedy);
  const findings: Finding[] = [];
  if (!['', '80', '443', '8080'].includes(port))
    findings.push(error(`WordPress delivers to no port but 80, 443 and 8080, not to ${port}`, 'Take another port'));
  if (username !== '')
    findings.push(error('WordPress delivers to no address with a user in it', 'Take the user out of it'));
  if (isPrivate(hostname)) {
    const remedy = 'Make closeloop reachable from outside, and give that address';
    findings.push(error('WordPress delivers to no private address', remedy));
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

/** Checks the configured statuses. The list of orders refuses a status that no plugin has registered: no order will ever have it. */
async function ofStatuses({ statuses }: WooCommerceSettings, shop: Shop): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [index, status] of statuses.entries()) {
    if (coreStatuses.has(status)) continue;
    try {
      await shop.call('GET', 'orders', Anything, { query: { status, ...oneOrder } });
    } catch (error) {
      if (!(error instanceof VendorError) || error.status !== 400) throw error;
      const remedy = 'take it from the address of the filtered order list (post_status=wc-…), without "wc-"';
      findings.push(errorAt(`statuses.${index}`, `the shop knows no status "${status}"`, remedy));
    }
  }
  return findings;
}
