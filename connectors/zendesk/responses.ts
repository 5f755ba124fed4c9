import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  permanent,
  type ResponseRules,
} from '../../core/connector/classify.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import { usedUpQuotas } from './quota.ts';

const ErrorBody = z.object({
  error: z.union([z.string(), z.object({ title: z.string() }).transform(({ title }) => title)]),
});

/** Zendesk's name for an error (`RecordNotFound`), never its prose: that is in the API user's language and may quote a customer. */
export function errorName(body: unknown): string | undefined {
  const parsed = ErrorBody.safeParse(body);
  return parsed.success && /^[A-Za-z_]{1,60}$/.test(parsed.data.error) ? parsed.data.error : undefined;
}

const again = 'it is tried again';
const bug = 'a bug in closeloop: please report it';

const table: MeaningTable = {
  '3xx': {
    kind: 'config',
    doubtful: true,
    problem: 'the account has moved',
    remedy: 'put its current subdomain (not a help center address) into `subdomain`',
  },
  400: permanent('Zendesk did not understand the call', bug),
  401: config(
    'Zendesk refuses the credentials, a new token too',
    'an admin must check that the owner of the OAuth client (or of the API token) is active and an agent, then update ' +
      'clientId and clientSecret',
  ),
  404: permanent('it does not exist any more', 'nothing is left to do'),
  '404 page': {
    kind: 'config',
    doubtful: true,
    problem: 'there is no help desk at this address',
    remedy: 'check `subdomain`: the first part of the address that agents use, like "acme" of acme.zendesk.com',
  },
  409: {
    kind: 'transient',
    outcome: 'refused',
    problem: 'somebody changed the same thing at the same time',
    remedy: again,
  },
  '4xx': permanent('Zendesk refuses this for good', 'an agent must look at what it is about'),
  shape: permanent("the answer differs from Zendesk's documentation", bug),
};

/** The remedy for a 403, by the beginning of the path. */
const rights: readonly [path: string, remedy: string][] = [
  [
    '/api/v2/users/me',
    'an admin must give the OAuth client the scope "read" (in `scope`, where that is set), and its owner must be an agent',
  ],
  [
    '/api/v2/incremental/',
    'only admins may ask what has changed: an admin must make the owner of the OAuth client (or of the API token) an admin ' +
      '(Admin Center > People > Team members), and give the client the scope "read"',
  ],
  [
    '/api/v2/users/',
    'an admin must give the OAuth client the scope "users:write" (writeBack.userFields) and its owner a role that may edit end users',
  ],
  [
    '/api/v2/custom_objects/',
    'an admin must give the OAuth client the scope "write" (writeBack.customObject) and its owner access to the custom object',
  ],
  [
    '',
    'an admin must give the OAuth client the scopes "read tickets:write" (one string) and its owner a role that may see and ' +
      'edit these tickets',
  ],
];

/** Zendesk's differences from the standard table. Source: developer.zendesk.com, "rate limits". */
export const responseRules: ResponseRules = {
  codeOf: errorName,
  meaningOf(response, path) {
    if (isThrottle(response)) return wait(response);
    if (response.status !== 403) return undefined;
    const remedy = rights.find(([beginning]) => path.startsWith(beginning))?.[1] ?? '';
    return config('the credentials lack a right', remedy);
  },
  table,
};

/** Zendesk refused the call and asks to wait: 429, or 30 jobs at once (whose status is undocumented). */
const isThrottle = ({ status, json }: HttpResponse): boolean => status === 429 || errorName(json) === 'TooManyJobs';

/** Without Retry-After, waits until a used-up limit is full again. A used-up limit of the endpoint pauses only its calls. */
function wait({ headers }: HttpResponse): Meaning {
  const { account, endpoint } = usedUpQuotas(headers);
  const resetMs = Math.max(0, ...[...account, ...endpoint].map((quota) => quota.resetMs));
  return {
    kind: 'wait',
    ...(resetMs > 0 && { ms: resetMs }),
    pauses: endpoint.length > 0 && account.length === 0 ? 'endpoint' : 'account',
    problem: 'Zendesk asks us to wait',
    remedy: again,
  };
}

const client = '(Admin Center > Apps and integrations > APIs > OAuth clients)';

const badClient: Meaning = config(
  'the OAuth client gets no token',
  `an admin of this Zendesk must check it ${client}: kind Confidential, its owner active; clientId, clientSecret and scope as in the configuration`,
);

/** The same for the call that fetches tokens with this scope. Codes: RFC 6749, section 5.2. */
export function tokenRules(scope: string): ResponseRules {
  const codes: MeaningTable = {
    invalid_scope: config(
      `the OAuth client may not have the scope "${scope}"`,
      `an admin must allow it to the OAuth client ${client}, or correct \`scope\`; left out it is what writeBack needs`,
    ),
    invalid_client: config(
      'the OAuth client is not known, or its secret is another one',
      `an admin must copy its identifier and secret ${client} into clientId and clientSecret`,
    ),
  };
  return {
    ...responseRules,
    table: { ...table, ...codes },
    meaningOf(response) {
      const { status, json } = response;
      if (isThrottle(response)) return wait(response);
      const isNamed = (errorName(json) ?? '') in codes || (status === 404 && json === undefined);
      return status >= 400 && status < 500 && status !== 408 && !isNamed ? badClient : undefined;
    },
  };
}
