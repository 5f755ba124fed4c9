import { Agent } from 'undici';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { SendFailure, send } from '../../core/connector/send.ts';
import { signStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { judge, notAnswered } from '../../core/connector/vendor-api.ts';
import { type Advice, CloseloopError } from '../../core/errors.ts';
import { retryAfter } from '../../core/feedback/failure.ts';
import { isPublicAddress, literalIn, PrivateAddress, publicLookup } from './public-address.ts';
import type { WebhookSettings } from './settings.ts';

/** Standard Webhooks: 15 to 30 seconds. */
const timeoutMs = 20_000;
/** As much of the receiver's answer as is looked at. */
const mostBytes = 2_048;
const defaultPauseMs = 60_000;

type Target = NonNullable<WebhookSettings['writeBack']>;

/**
 * Posts one event, signed: one attempt; the queue repeats it, under the same id. `not-found`: the receiver doesn't know
 * the record (404, with no page).
 * @throws CloseloopError for everything else but 2xx
 */
export type Post = (id: string, event: object) => Promise<'taken' | 'not-found'>;

export function poster({ url, secrets, allowPrivate }: Target, ports: ConnectorPorts): Post {
  const place = `The receiver of answers (${new URL(url).host})`;
  // A connection that is kept open stays with the address that was judged when it was made.
  const dispatcher = new Agent(allowPrivate ? {} : { connect: { lookup: publicLookup() } });

  return async (id, event) => {
    const literal = literalIn(url);
    if (!allowPrivate && literal !== undefined && !isPublicAddress(literal)) throw privateAddress(place);
    await ports.budget.take();
    const body = JSON.stringify(event);
    const signed = signStandardWebhook({ id, at: ports.now(), body }, secrets);
    const { status, head, wait } = await sendSigned(body, signed);
    if (status === 429 || (status === 503 && wait !== undefined)) await ports.budget.pause(wait || defaultPauseMs);
    if (status === 410) throw gone(place);
    if (status === 404 && (head === '' || jsonBody(head) !== undefined)) return 'not-found';
    // A log-in page says 200, too. At a 404 there may be any text.
    const failure = judge(status, status === 404 || /^<(?:!doctype|html)/i.test(head), wait);
    if (failure === undefined) return 'taken';
    const { advice, outcome, meaning } = failure;
    throw new CloseloopError(`${place} answered ${status}: ${meaning}.`, advice, { outcome });
  };

  async function sendSigned(body: string, signed: Record<string, string>) {
    const headers = { 'content-type': 'application/json', 'user-agent': 'closeloop', ...signed };
    // Assigned, as Node's types know another release of undici than the one that is installed.
    const call: RequestInit = { method: 'POST', headers, body };
    try {
      const response = await send(ports.fetch, url, Object.assign(call, { dispatcher }), {
        timeoutMs,
        head: mostBytes,
      });
      const wait = retryAfter(response.headers.get('retry-after'), ports.now());
      return { status: response.status, head: response.text.trim(), wait };
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error;
      throw isPrivate(error.cause) ? privateAddress(place, error.cause) : notAnswered(place, error);
    }
  }
}

function isPrivate(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof PrivateAddress) return true;
  return false;
}

const config: Advice = { kind: 'config' };

function privateAddress(place: string, cause?: unknown): CloseloopError {
  const remedy = 'name a public address in writeBack.url, or set writeBack.allowPrivate if it is meant';
  return new CloseloopError(`${place} has a private address, which is not called: ${remedy}.`, config, {
    outcome: 'never-sent',
    cause,
  });
}

function gone(place: string): CloseloopError {
  return new CloseloopError(
    `${place} answered 410: it wants no more events. Correct writeBack.url, or take writeBack out.`,
    config,
  );
}
