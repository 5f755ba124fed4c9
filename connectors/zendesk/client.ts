import zendeskNodeApi from 'zendesk-node-api';
import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { boundedFetch } from '../../core/connector/send.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Answer, withTransport, ZendeskCallError, zendeskCall } from './call.ts';
import { apiToken, type Credential, type Credentials, oauthTokens } from './credentials.ts';
import { failure, isThrottle } from './failure.ts';
import { pauseAfter, quotasOf, type Via } from './quota.ts';
import { addressOf, scopeOf, type ZendeskSettings } from './settings.ts';

type Verb = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Every call to one Zendesk account: inside its budget, with a valid token, one attempt. `path` begins with `/api/v2/`.
 * Throws ZendeskFailure, or CloseloopError where no call was made.
 */
export interface ZendeskApi {
  get<S extends z.ZodType>(path: string, answer: S, via?: Via): Promise<z.output<S>>;
  send<S extends z.ZodType>(
    method: Verb,
    path: string,
    body: object | undefined,
    answer: S,
    via?: Via,
  ): Promise<z.output<S>>;
  /** Through `zendesk-node-api`. */
  listTicketFields<S extends z.ZodType>(answer: S): Promise<z.output<S>>;
}

/** For a call, to the last byte. */
const longestMs = 30_000;

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().nullish() });

/** Asked for: 2 hours. Zendesk takes 300 to 172,800 s, and says half an hour where a client has its own setting. */
const lifeSeconds = { wanted: 7200, unsaid: 1800 };

export function zendeskApi(settings: ZendeskSettings, ports: ConnectorPorts): ZendeskApi {
  const base = addressOf(settings);
  const { subdomain } = settings;
  // Its own time-out ends the call before this one does.
  const fetch = boundedFetch(ports.fetch, longestMs);

  /** Runs one call and minds what its answer says of the quota. */
  async function once<T>(via: Via, run: (onAnswer: (answer: Answer) => void) => PromiseLike<T>): Promise<T> {
    await ports.budget.take(via.lane, via.urgency);
    if (via.spacingMs !== undefined) await ports.budget.pause(via.spacingMs, via.lane);
    let answer: Answer | undefined;
    let thrown: unknown;
    try {
      return await run((seen) => {
        answer = seen;
      });
    } catch (error) {
      thrown = error;
      throw error;
    } finally {
      if (answer !== undefined) await heed(answer, thrown, via.lane);
    }
  }

  async function heed(answer: Answer, thrown: unknown, lane: string | undefined): Promise<void> {
    const retryAfterMs = thrown instanceof ZendeskCallError ? thrown.retryAfterMs : undefined;
    // Too many jobs is a 429 in all but its (undocumented) status.
    const seen = isThrottle(thrown) ? { ...answer, statusCode: 429 } : answer;
    const pause = pauseAfter(seen, retryAfterMs, lane);
    if (pause !== undefined) await ports.budget.pause(pause.ms, pause.lane);
    for (const { quota, name } of quotasOf(seen, lane)) await ports.budget.reportRemaining(quota, name);
    const dropped = answer.headers['x-zendesk-api-warn'];
    if (dropped !== undefined) ports.log.warn({ subdomain, dropped }, 'Zendesk dropped keys of a request');
  }

  /** A call with our credentials; a token that is refused is replaced once. */
  async function authorised<T>(
    via: Via,
    run: (credential: Credential, onAnswer: (answer: Answer) => void) => PromiseLike<T>,
  ): Promise<T> {
    try {
      for (let replaced = false; ; replaced = true) {
        const credential = await credentials.current();
        try {
          return await once(via, (onAnswer) => run(credential, onAnswer));
        } catch (error) {
          const unauthorised = error instanceof ZendeskCallError && error.statusCode === 401;
          if (replaced || !unauthorised || !credentials.refused(credential)) throw error;
        }
      }
    } catch (error) {
      throw failure(error, subdomain);
    }
  }

  async function fetchToken(clientId: string, clientSecret: string): Promise<{ token: string; lifeMs: number }> {
    const json = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: scopeOf(settings),
      expires_in: lifeSeconds.wanted,
    };
    const { body } = await once({}, (onAnswer) =>
      zendeskCall({ method: 'POST', url: `${base}/oauth/tokens`, json, fetch, onAnswer }),
    );
    const token = parse(Token, body, 'POST /oauth/tokens');
    return { token: token.access_token, lifeMs: (token.expires_in ?? lifeSeconds.unsaid) * 1000 };
  }

  function credentialsOf({ clientId, clientSecret, email, apiToken: token }: ZendeskSettings): Credentials {
    if (clientId !== undefined && clientSecret !== undefined) {
      return oauthTokens(() => fetchToken(clientId, clientSecret), ports.now);
    }
    if (email !== undefined && token !== undefined) return apiToken(email, token);
    throw new CloseloopError(`Zendesk ${subdomain}: clientId and clientSecret are missing`, { kind: 'config' });
  }

  /** An answer of another shape than documented won't get better by asking again. */
  function parse<S extends z.ZodType>(schema: S, body: unknown, place: string): z.output<S> {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const at = parsed.error.issues[0]?.path.join('.') || 'its top';
    const message = `Zendesk ${subdomain}: ${place}: the answer differs from Zendesk's documentation at ${at}.`;
    throw new CloseloopError(message, { kind: 'permanent' }, { outcome: 'unknown' });
  }

  async function send(method: 'GET' | Verb, path: string, json: object | undefined, via: Via): Promise<unknown> {
    const { body } = await authorised(via, ({ authorization }, onAnswer) =>
      zendeskCall({
        method,
        url: base + path,
        headers: { authorization },
        fetch,
        onAnswer,
        ...(json === undefined ? {} : { json }),
      }),
    );
    return body;
  }

  const credentials = credentialsOf(settings);
  return {
    get: async (path, answer, via = {}) =>
      parse(answer, await send('GET', path, undefined, via), `GET ${path.split('?')[0]}`),
    send: async (method, path, body, answer, via = {}) =>
      parse(answer, await send(method, path, body, via), `${method} ${path.split('?')[0]}`),
    listTicketFields: async (answer) => {
      // The package keeps the token it was made with, so each call makes its own.
      const fields = await authorised({}, ({ nodeApi }, onAnswer) =>
        withTransport({ fetch, onAnswer }, () => zendeskNodeApi({ url: base, ...nodeApi }).ticketFields.list()),
      );
      return parse(answer, fields, 'ticket_fields');
    },
  };
}
