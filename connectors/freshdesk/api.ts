import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { config, type MeaningTable, permanent } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { linkedPages } from '../../core/connector/pages.ts';
import { quotaIn } from '../../core/connector/quota.ts';
import { inSeconds } from '../../core/connector/seconds.ts';
import { basicCredentials } from '../../core/connector/token.ts';
import { createVendorApi, type VendorAccount } from '../../core/connector/vendor-api.ts';
import { flag, listOf, orElse } from '../../core/entries.ts';
import { Ticket } from './record.ts';
import type { FreshdeskSettings } from './settings.ts';

const windowMs = 60_000;
const ofKey = config('the API key is refused, or its agent lacks a right', "check the key, and the agent's role");
const ofAccount = config('the account is suspended, or its plan serves no API', 'look at the account and its plan');

const table: MeaningTable = {
  401: ofKey,
  403: ofKey,
  account_suspended: ofAccount,
  ssl_required: ofAccount,
  require_feature: ofAccount,
  invalid_field: config('a ticket field that writeBack names is gone', 'run closeloop check'),
  405: permanent('the ticket is in the trash or marked as spam', 'restore it, if it should take the answer'),
  429: {
    kind: 'wait',
    ms: windowMs,
    problem: "the account's calls are used up",
    remedy: 'a later attempt may succeed',
  },
};

const code = z.string().regex(/^[a-z_]{1,60}$/);
/** The body of an error, which concerns one field, several fields or the whole call. */
const ErrorBody = z.object({
  code: code.optional().catch(undefined),
  errors: listOf(z.object({ field: z.string(), code: code.catch('') })).catch([]),
});
const noError = { code: undefined, errors: [] };
const errorIn = (json: unknown) => ErrorBody.safeParse(json).data ?? noError;

/** An agent or a group, with its name. */
const Named = z
  .object({
    id: z.int().transform(String),
    name: z.string().nullish(),
    contact: z.object({ name: z.string().nullish() }).nullish(),
  })
  .transform(({ id, name, contact }) => [id, contact?.name ?? name ?? ''] as const);

export const Field = z.object({
  name: z.string(),
  type: z.string(),
  required_for_agents: flag,
  /** A list; for the field of statuses an object by the statuses' numbers. */
  choices: orElse(z.union([listOf(z.string()), z.looseObject({}).transform(Object.keys)]), undefined),
});

const rowsPerPage = 100;

/** Makes every call to one account. Webhooks, all API keys and all apps share the account's calls per minute. */
export function openAccount(settings: FreshdeskSettings, ports: ConnectorPorts) {
  const { subdomain, baseUrl, apiKey, setupKey, callsPerMinute } = settings;
  const half = (calls: number) => {
    const limit = Math.floor(calls / 2);
    return { limit, remaining: limit, resetMs: windowMs };
  };
  const account = {
    name: `Freshdesk ${subdomain}`,
    baseUrl: `${baseUrl ?? `https://${subdomain}.freshdesk.com`}/api/v2`,
    rateLimits: (headers) => quotaIn(headers, 'x-ratelimit-total', 'x-ratelimit-remaining', windowMs),
    unreportedLimits: { list: half(callsPerMinute.list), update: half(callsPerMinute.update) },
    requestIdHeader: 'x-request-id',
    rules: {
      table,
      codeOf: (json) => errorIn(json).code ?? errorIn(json).errors[0]?.code,
      fieldsOf: (json) =>
        errorIn(json).errors.flatMap(({ field, code }) =>
          code === 'invalid_field' ? [] : [field.replace(/^custom_fields\./, '')],
        ),
      meaningOf: ({ json }, path) =>
        errorIn(json).code === 'access_denied' && /^\/tickets\/\d/.test(path)
          ? permanent('the agent of the key may not see this ticket', 'give that agent global ticket scope')
          : undefined,
    },
  } satisfies VendorAccount;
  const api = createVendorApi({ ...account, ...basicCredentials(apiKey, 'X') }, ports);

  /** Every entry of a list. */
  async function all<Row extends z.ZodType>(path: string, row: Row) {
    const found: z.output<Row>[] = [];
    for await (const page of linkedPages(api, account, { method: 'GET', path }, listOf(row))) found.push(...page);
    return found;
  }
  /** The names of agents or groups by id. */
  const namesOf = (path: string) =>
    cached(async () => new Map(await all(`${path}?per_page=${rowsPerPage}`, Named)), 3_600_000, ports.now);

  /** A page of a list of changed records, for a window of the poll. */
  async function page<Row extends z.ZodType>(path: string, row: Row, urgency: Urgency) {
    const rows = await api.get(`${path}&per_page=${rowsPerPage}`, listOf(row), { urgency, endpoint: 'list' });
    return { rows, isFull: rows.length >= rowsPerPage };
  }

  return {
    ...{ ...api, all, page },
    admin: createVendorApi({ ...account, ...basicCredentials(setupKey ?? apiKey, 'X') }, ports),
    agents: namesOf('/agents'),
    groups: namesOf('/groups'),
    fields: cached(() => api.get('/ticket_fields', listOf(Field)), 900_000, ports.now),
    /** The tickets that changed at or after an instant, oldest change first, without the trash and spam. */
    changes: (urgency: Urgency) => ({
      page: (from: Date, number: number) => {
        const order = 'order_by=updated_at&order_type=asc';
        const path = `/tickets?updated_since=${inSeconds(from)}&${order}&page=${number}&include=requester,stats`;
        return page(path, Ticket, urgency);
      },
      changedAt: ({ updated_at }: Ticket) => updated_at,
    }),
  };
}
export type Account = ReturnType<typeof openAccount>;
