import { isOfPrivateAddress, openReceiver } from '../../../core/connector/public-address.ts';
import { transientAfter } from '../../../core/connector/retry-after.ts';
import { type HttpResponse, send } from '../../../core/connector/send.ts';
import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import { adviceOf, CloseloopError } from '../../../core/errors.ts';
import type { Ports } from '../../../core/ports.ts';
import type { Webhook } from '../../config/webhooks.ts';
import { receiversOf } from '../../operations/alerts/receivers.ts';
import { alertSettings } from '../../operations/alerts.ts';
import { isGone, noteGone } from '../../operations/gone.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { ReceiverTarget } from '../targets.ts';
import { answerMessageOf } from './answer-message.ts';
import { idOf } from './event.ts';
import { payloadOf } from './payload.ts';
import type { Prepare } from './send.ts';

/** How to send to a target. */
interface Telling {
  prepare: Prepare;
  close(): Promise<void>;
}

/** Sends one message about each answer to a chat, a mailbox or a receiver of the operator's own. */
export function receiverOf(
  { settings }: ReceiverTarget,
  { config, ports, log }: Pick<EngineOptions, 'config' | 'ports' | 'log'>,
): Telling {
  const page = alertSettings(config)?.page;
  const { timeZone } = config.feedback;
  const now = () => new Date();
  const receivers = receiversOf({ ...settings, page }, { fetch: ports.fetch, now }, log);
  return {
    prepare: async (event, journey, of) => {
      const message = await answerMessageOf(event, journey, { id: idOf(event, of), of, timeZone });
      if (message === undefined) return undefined;
      return async () => {
        for (const receiver of receivers) await receiver.deliver(message);
      };
    },
    close: async () => undefined,
  };
}

/** Posts each event to a webhook, signed. A webhook that answered 410 Gone gets no more events. */
export function webhookOf(webhook: Webhook, { ports, redis }: Pick<EngineOptions, 'ports' | 'redis'>): Telling {
  const { post, close } = poster(webhook, ports);
  const attempt = async (id: string, payload: object) => {
    if (await isGone(redis, webhook)) throw gone();
    await post(id, payload).catch(async (error: unknown) => {
      if (isPermanent(error)) await noteGone(redis, webhook);
      throw error;
    });
  };
  return {
    prepare: async (event, journey, of) => {
      const payload = await payloadOf(event, journey, { include: webhook.include, of });
      return payload && (async () => await attempt(idOf(event, of), payload));
    },
    close,
  };
}

/** Standard Webhooks recommends 15 to 30 seconds. Real time. */
const timeoutMs = 20_000;

/**
 * Posts signed events to one receiver; each call is one attempt. It follows no redirect, and reads only the beginning of the response. `post` throws a SendFailure or a CloseloopError, whose message never holds the address, which may be a
 * secret.
 */
export function poster(
  { url, secrets, allowPrivate }: Pick<Webhook, 'url' | 'secrets' | 'allowPrivate'>,
  ports: Pick<Ports, 'fetch'>,
): { post: (id: string, payload: object) => Promise<void>; close: () => Promise<void> } {
  const { fetch, close } = openReceiver({ url, allowPrivate }, ports.fetch);
  const post = async (id: string, payload: object) => {
    const body = JSON.stringify(payload);
    // The machine's clock, as receivers compare the time with their own clock.
    const signed = signStandardWebhook({ id, at: new Date(), body }, secrets);
    const headers = { 'content-type': 'application/json', 'user-agent': 'closeloop', ...signed };
    const init = { method: 'POST', headers, body };
    const response = await send(fetch, url, init, { timeoutMs, head: 1 }).catch((error: unknown) => {
      throw isOfPrivateAddress(error) ? privateAddress(error) : error;
    });
    if (!response.ok) throw refusal(response);
  };
  return { post, close };
}

function refusal({ status, headers }: HttpResponse): CloseloopError {
  if (status === 410) return gone();
  const what = status >= 300 && status < 400 ? `${status}, a redirect, which is not followed` : `${status}`;
  return new CloseloopError(`the receiver answered ${what}`, transientAfter(headers, new Date()));
}

const gone = (): CloseloopError =>
  new CloseloopError('the receiver wants no more events (410 Gone)', { kind: 'permanent' });

const isPermanent = (error: unknown): boolean => adviceOf(error).kind === 'permanent';

const privateAddress = (cause: unknown): CloseloopError =>
  new CloseloopError(
    'the receiver has a private address, which is not called: name a public one, or set allowPrivate if it is meant',
    { kind: 'transient' },
    { outcome: 'never-sent', cause },
  );
