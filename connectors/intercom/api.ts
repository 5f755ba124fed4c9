import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { config, type Meaning, type MeaningTable, permanent } from '../../core/connector/classify.ts';
import type { ConnectorPorts, RateLimit, Urgency } from '../../core/connector/contract.ts';
import { headerNumber, quotaIn } from '../../core/connector/quota.ts';
import { staticToken } from '../../core/connector/token.ts';
import { createVendorApi, type VendorAccount, type VendorApi } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ResponseHeaders } from '../../core/ports.ts';
import { id } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

export const version = '2.16';

/** The window of Intercom's rate limit. */
const windowMs = 10_000;
const codes = (names: string, meaning: Meaning): MeaningTable =>
  Object.fromEntries(names.split(' ').map((name) => [name, meaning]));

/** The rows of Intercom's codes come first: a 404 may mean the teammate of `adminId`, and not the record. */
const table: MeaningTable = {
  ...codes(
    'unauthorized token_revoked token_blocked token_not_found token_expired token_unauthorized missing_authorization 401',
    config(
      'the access token is refused, or lacks a permission',
      "check the app's permissions, and copy its token anew (Developer Hub > Authentication)",
    ),
  ),
  ...codes(
    'api_plan_restricted forbidden action_forbidden 402 403',
    config('the plan or the app does not allow it', "check the workspace's plan and the app's permissions"),
  ),
  ...codes(
    'not_found conversation_not_found ticket_not_found 404',
    permanent('it does not exist any more', 'nothing is left to do'),
  ),
  ...codes(
    'admin_not_found assignee_not_found tag_not_found team_not_found',
    config(
      'a teammate, team or tag that closeloop names does not exist',
      'check adminId: it has to be a teammate of the workspace',
    ),
  ),
  intercom_version_invalid: config('Intercom no longer serves API version 2.16', 'update closeloop'),
  parameter_invalid: config(
    'an attribute does not exist, or two have its name',
    'look at the attributes that writeBack names (closeloop check)',
  ),
};

const ErrorList = z.object({ errors: listOf(z.object({ code: z.string().regex(/^[a-z_]{1,60}$/) })) });
const resetMs = (headers: ResponseHeaders, now: Date): number | undefined => {
  const ms = (headerNumber(headers, 'x-ratelimit-reset') ?? 0) * 1_000 - now.getTime();
  return headers.get('x-ratelimit-reset') !== null && ms <= 60_000 ? Math.max(0, ms) : undefined;
};

function rateLimits(headers: ResponseHeaders, now: Date): RateLimit[] {
  const ms = resetMs(headers, now);
  return ms === undefined ? [] : quotaIn(headers, 'x-ratelimit-limit', 'x-ratelimit-remaining', ms);
}

/** One condition of a search, or several conditions. */
export type Query =
  | { field: string; operator: '=' | '>' | 'IN'; value: unknown }
  | { operator: 'AND' | 'OR'; value: Query[] };

interface Page {
  perPage: number;
  after?: string | undefined;
  urgency?: Urgency;
}

const Next = z.object({ next: z.object({ starting_after: z.string().nullish() }).nullish() }).nullish();

/** Makes every call to one workspace. */
export function openWorkspace({ region, baseUrl, accessToken }: IntercomSettings, ports: ConnectorPorts) {
  const host = { us: 'api', eu: 'api.eu', au: 'api.au' }[region];
  const account: VendorAccount = {
    name: 'Intercom',
    baseUrl: baseUrl ?? `https://${host}.intercom.io`,
    credentials: staticToken(accessToken),
    rateLimits,
    requestIdHeader: 'x-request-id',
    rules: {
      table,
      codeOf: (json) => ErrorList.safeParse(json).data?.errors[0]?.code,
      meaningOf({ status, headers }) {
        // With status 422 `parameter_invalid` means a value, and not an attribute.
        if (status === 422) return permanent('Intercom refuses a value', 'see what writeBack writes');
        if (status !== 429) return undefined;
        // Without a time of reset, or with a time in the past by this machine's clock, closeloop waits for a whole window.
        const ms = resetMs(headers, ports.now()) || windowMs;
        return { kind: 'wait', ms, problem: 'the rate limit is used up', remedy: 'a later attempt may succeed' };
      },
    },
  };
  const authorize = (token: string) => ({ authorization: `Bearer ${token}`, 'intercom-version': version });
  const api = createVendorApi({ ...account, authorize }, ports);

  /** Reads a page of a search, whose conditions all hold. The order is not reliable. */
  async function search<S extends z.ZodType>(
    of: 'conversations' | 'tickets' | 'contacts',
    conditions: Query | readonly Query[],
    row: S,
    { perPage, after, urgency = 'work' }: Page,
  ) {
    const query = 'operator' in conditions ? conditions : { operator: 'AND', value: conditions };
    const list = listOf(row).optional();
    const pagination = { per_page: perPage, ...(after !== undefined && { starting_after: after }) };
    const SearchPage = z.object({ pages: Next, conversations: list, tickets: list, data: list });
    const { pages, ...lists } = await api.send('POST', `/${of}/search`, { query, pagination }, SearchPage, { urgency });
    const rows = lists[of === 'contacts' ? 'data' : of];
    if (rows === undefined)
      throw new CloseloopError(`Intercom: a search of ${of} without its list.`, { kind: 'permanent' });
    return { rows, next: pages?.next?.starting_after ?? undefined };
  }

  return {
    ...api,
    /** Calls without a version: Intercom uses the app's own version. */
    bare: createVendorApi(account, ports),
    search,
    people: cached(() => peopleOf(api), 15 * 60_000, ports.now),
  };
}
export type Workspace = ReturnType<typeof openWorkspace>;

export const Me = z.object({
  app: z.object({ id_code: z.string(), region: z.string() }),
});
const named = listOf(z.object({ id, name: z.string().catch(''), email: z.string().catch('') }));

/** The workspace, its teams, and its teammates who have not left. */
async function peopleOf(api: VendorApi) {
  const { app } = await api.get('/me', Me);
  const { admins } = await api.get('/admins', z.object({ admins: named }));
  const { teams } = await api.get('/teams', z.object({ teams: named }));
  const byId = (list: z.output<typeof named>) => new Map(list.map((one) => [one.id, one]));
  return { app, admins: byId(admins), teams: byId(teams) };
}
export type People = Awaited<ReturnType<typeof peopleOf>>;
