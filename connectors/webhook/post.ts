import { type Meaning, type ResponseRules, VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { connections } from '../../core/connector/exchange.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { isPublicAddress, literalIn, PrivateAddress, publicLookup } from '../../core/connector/public-address.ts';
import type { HttpResponse, SendFailure } from '../../core/connector/send.ts';
import { signStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import type { WebhookSettings } from './settings.ts';

type Target = NonNullable<WebhookSettings['writeBack']>;

/**
 * Posts one signed event once; the queue repeats it under the same id. `not-found`: the receiver doesn't know the record (404 without a page).
 * @throws VendorError for every other response but 2xx
 */
export type Post = (id: string, event: object) => Promise<'taken' | 'not-found'>;

const rules: ResponseRules = {
  table: {
    410: {
      kind: 'config',
      problem: 'it wants no more events',
      remedy: 'correct writeBack.url, or take writeBack out',
    },
  },
};

export function poster({ url, secrets, allowPrivate }: Target, ports: ConnectorPorts): Post {
  const name = `The receiver of answers (${new URL(url).host})`;
  // A kept connection always goes to the address that was checked when the connection was opened.
  const { Agent } = connections();
  const dispatcher = new Agent(allowPrivate ? {} : { connect: { lookup: publicLookup() } });
  const api = createVendorApi(
    {
      name,
      baseUrl: url,
      // Standard Webhooks recommend 15 to 30 seconds.
      timeoutMs: 20_000,
      // Only the beginning of the response is read.
      head: 2_048,
      rules,
      unanswered,
      jsonOf,
      transport: (to, init) => ports.fetch(to, Object.assign({ ...init }, { dispatcher })),
    },
    ports,
  );

  return async (id, event) => {
    const literal = literalIn(url);
    if (!allowPrivate && literal !== undefined && !isPublicAddress(literal)) throw privateAddress(name);
    const body = JSON.stringify(event);
    const signed = signStandardWebhook({ id, at: ports.now(), body }, secrets);
    const headers = { 'user-agent': 'closeloop', ...signed };
    const call: VendorCall = { method: 'POST', path: '', place: 'an event', body, headers };
    const response = await api.exchange(call);
    try {
      await api.accept(call, response);
      return 'taken';
    } catch (error) {
      if (error instanceof VendorError && error.isGone) return 'not-found';
      throw error;
    }
  };
}

/**
 * The response as JSON. A login page has status 200, too, and counts as no JSON. Other texts of a receiver count as success; a 404 with a text
 * may come from a proxy.
 */
function jsonOf({ status, text }: HttpResponse): unknown {
  const isPage = status === 404 || /^<(?:!doctype|html)/i.test(text.trim());
  return isPage ? jsonBody(text) : null;
}

function isPrivate(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof PrivateAddress) return true;
  return false;
}

const isNotCalled = {
  kind: 'config',
  problem: 'it has a private address, which is not called',
  remedy: 'name a public address in writeBack.url, or set writeBack.allowPrivate if it is meant',
} as const;

const unanswered = ({ cause }: SendFailure): Meaning | undefined => (isPrivate(cause) ? isNotCalled : undefined);

function privateAddress(place: string): VendorError {
  const { kind, ...words } = isNotCalled;
  return new VendorError(place, { ...words, advice: { kind }, outcome: 'never-sent', status: 0, code: '' });
}
