import { createRequire } from 'node:module';
import zendeskNodeApi from 'zendesk-node-api';
import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { jobWatch } from '../../core/connector/jobs.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import { basicCredentials, clientCredentials, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import type * as requestPackage from './request/index.cjs';
import { rateLimitsIn, responseRules, tokenRules, unreportedLimits, userUpdates } from './responses.ts';
import { addressOf, scopeOf, type ZendeskSettings } from './settings.ts';

/** A call's endpoint (if it has a limit of its own, which all processes know by this name), urgency and headers. */
export type Via = Pick<VendorCall, 'endpoint' | 'urgency' | 'headers'>;
export const ticketUpdates = { endpoint: 'ticket-updates' } as const satisfies Via;

type Change = 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Send = <S extends z.ZodType>(call: VendorCall, schema: S) => Promise<z.output<S>>;

export type ZendeskApi = ReturnType<typeof zendeskApi>;

/** The requested lifetime of a token: 2 hours. Zendesk accepts 300 to 172,800 s, and grants half an hour if a client has its own setting. */
const [expires_in, unsaidMs] = [7200, 1_800_000];

/**
 * The client of one Zendesk account. Each call is within the account's budget, has a valid token, and is sent once. Paths begin with
 * `/api/v2/`.
 * Throws VendorError, or CloseloopError if no call was made.
 */
export function zendeskApi(settings: ZendeskSettings, ports: ConnectorPorts) {
  const { subdomain, clientId: client_id, clientSecret: client_secret, email, apiToken } = settings;
  const account = {
    ...{ name: `Zendesk ${subdomain}`, baseUrl: addressOf(settings), unreportedLimits, rateLimits: rateLimitsIn },
    requestIdHeader: 'x-request-id',
    jsonOf: ({ text, json }: HttpResponse) => (text.trim() === '' ? {} : json),
  };
  const scope = scopeOf(settings);
  const tokens = createVendorApi({ ...account, rules: tokenRules(scope) }, ports);
  const body = { grant_type: 'client_credentials', client_id, client_secret, scope, expires_in };
  const credentials = clientCredentials(async () => {
    const { token, lifeMs = unsaidMs } = await tokens.call({ method: 'POST', path: '/oauth/tokens', body }, TokenGrant);
    return { token, lifeMs };
  }, ports.now);
  const access = apiToken === undefined ? { credentials } : basicCredentials(`${email}/token`, apiToken);
  const api = createVendorApi({ ...account, ...access, rules: responseRules }, ports);

  async function exchange(call: VendorCall): Promise<HttpResponse> {
    const response = await api.exchange(call);
    // `Removed restricted keys ["grade"] from parameters …`: only words that can be names are logged.
    const dropped = response.headers.get('x-zendesk-api-warn')?.matchAll(/"([a-z][a-z0-9_]{0,60})"/g);
    if (dropped)
      ports.log.warn({ subdomain, dropped: [...dropped].map(([, name]) => name) }, 'Zendesk dropped keys of a request');
    await api.accept(call, response);
    return response;
  }
  const send: Send = async (call, schema) => api.parse(call, await exchange(call), schema);

  return {
    get: <S extends z.ZodType>(path: string, schema: S, via: Via = {}) => send({ method: 'GET', path, ...via }, schema),
    send: <S extends z.ZodType>(method: Change, path: string, body: object | undefined, schema: S, via: Via = {}) =>
      send({ method, path, ...(body && { body }), ...via }, schema),
    updateMany: jobUpdates(send, ports.sleep),
    /** Lists the ticket fields through the package `zendesk-node-api`. */
    async listTicketFields<S extends z.ZodType>(schema: S): Promise<z.output<S>> {
      const call: VendorCall = { method: 'GET', path: '/api/v2/ticket_fields.json' };
      let response: HttpResponse | undefined;
      const read = async () => {
        response = await exchange(call);
        return response.text;
      };
      const client = zendeskNodeApi({ url: account.baseUrl, token: '', oauth: true });
      const json = await sendingBy(read, () => client.ticketFields.list());
      if (response === undefined) throw new TypeError('zendesk-node-api made no request');
      return api.parse(call, { ...response, json }, schema);
    },
  };
}

/** An id, which is a number in most places of the API, and a text in closeloop. */
export const idText = z.transform((value, context): string => {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  context.issues.push({ code: 'custom', input: value });
  return z.NEVER;
});

const JobResult = z.object({ id: idText, success: z.boolean().default(false), error: z.unknown().optional() });
export type JobResult = z.output<typeof JobResult>;

/**
 * `status`: queued, working, completed, failed, killed. `results`: one per ticket of a completed job; other values before that, and after a
 * failure.
 */
const Job = z.object({ id: z.string().min(1), status: z.string(), results: z.array(z.unknown()).catch([]) });
const Begun = z.object({ job_status: Job });
const Jobs = z.object({ job_statuses: listOf(Job) });

/** After this time a job that has not ended counts as dead: Zendesk will not begin it any more. Zendesk documents no limit. */
export const jobLifeMs = 15 * 60_000;

/**
 * Changes up to 100 tickets or users in one job, and waits for the end of the job. @returns the result of each by its id; those without a
 * result are absent. @throws if the job's status can't be read (outcome `unknown`)
 */
function jobUpdates(send: Send, sleep: ConnectorPorts['sleep']) {
  const finished = jobWatch<z.output<typeof Job>>({
    async read(ids) {
      const path = `/api/v2/job_statuses/show_many.json?ids=${ids.join(',')}`;
      return (await send({ method: 'GET', path }, Jobs)).job_statuses;
    },
    hasEnded: ({ status }) => status !== 'queued' && status !== 'working',
    named: (id) => `Zendesk job ${id} (update_many)`,
    ...{ sleep, lifeMs: jobLifeMs },
  });
  return async (what: 'tickets' | 'users', changes: readonly object[]): Promise<ReadonlyMap<string, JobResult>> => {
    const via = what === 'tickets' ? ticketUpdates : userUpdates;
    const call = {
      method: 'PUT',
      path: `/api/v2/${what}/update_many.json`,
      body: { [what]: changes },
      ...via,
    } as const;
    return resultsOf((await finished((await send(call, Begun)).job_status)).results);
  };
}

export function resultsOf(results: readonly unknown[]): ReadonlyMap<string, JobResult> {
  const read = results.map((raw) => JobResult.safeParse(raw).data);
  return new Map(read.flatMap((result) => (result === undefined ? [] : [[result.id, result]])));
}

const Meta = z.object({
  meta: z.object({ has_more: z.boolean(), after_cursor: z.string().nullish() }).nullish(),
});

/** Reads a list with cursor paging to its end, 100 items per page. @param name the list's name in its pages */
export async function readAll<S extends z.ZodType>(
  api: Pick<ZendeskApi, 'get'>,
  path: string,
  name: string,
  item: S,
): Promise<z.output<S>[]> {
  const items: z.output<S>[] = [];
  const Page = Meta.and(z.object({ [name]: listOf(item) }));
  const watch = pageWatch(`Zendesk ${path.replace(/\d+/g, '{id}')}`);
  for (let after = ''; ; ) {
    const { meta, [name]: list = [] } = await api.get(`${path}?page[size]=100${after}`, Page);
    items.push(...list);
    if (meta?.has_more !== true || meta.after_cursor == null) return items;
    watch(meta.after_cursor);
    after = `&page[after]=${encodeURIComponent(meta.after_cursor)}`;
  }
}

/**
 * The `request` that `zendesk-node-api` loads. Both must share one instance, or the package would not use closeloop's transport: a bundler, a
 * test runner that transforms imports, or a second checkout would load two instances.
 */
const packageFile = createRequire(import.meta.url).resolve('zendesk-node-api');
const { sendingBy }: typeof requestPackage = createRequire(packageFile)('request');
