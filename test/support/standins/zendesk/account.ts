import type { StandinServer } from '../../../../standins/kit/server.ts';
import {
  startZendeskStandin,
  type ZendeskStandin,
  type ZendeskStandinOptions,
} from '../../../../standins/zendesk/standin.ts';
import { accountOfEachTest } from '../each-test.ts';

export const customer = 8_645_878;
const agent = 9_001;
export const fields = { dropdown: 360_001, number: 360_002, when: 360_003, text: 360_004, box: 360_005, many: 360_006 };

interface Account extends StandinServer {
  standin: ZendeskStandin;
  /** One call with a fresh token. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any;
}

export async function request(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

/** An account with a customer, an agent, a group, one field of several types and ticket 41960, open and assigned. */
export async function openAccount(options: ZendeskStandinOptions = {}): Promise<Account> {
  const server = await startZendeskStandin({ sleep: () => Promise.resolve(), ...options });
  const { standin, url } = server;
  standin.addUser({ id: customer, name: 'Cora', email: 'cora@example.com', phone: '+37255512345' });
  standin.addUser({ id: agent, name: 'Ann', email: 'ann@example.com', role: 'agent' });
  standin.addGroup({ id: 2001, name: 'Phone' });
  standin.addOrganization({ id: 6001, name: 'Acme' });
  standin.addTicketField({
    id: fields.dropdown,
    title: 'Grade',
    type: 'tagger',
    options: [
      { name: '9', value: 'fb_grade_9' },
      { name: '10', value: 'fb_grade_10' },
    ],
  });
  standin.addTicketField({ id: fields.number, title: 'Grade number', type: 'integer' });
  standin.addTicketField({ id: fields.when, title: 'Answered', type: 'date' });
  standin.addTicketField({ id: fields.text, title: 'Comment', type: 'textarea' });
  standin.addTicketField({ id: fields.box, title: 'Asked', type: 'checkbox', tag: 'fb_asked' });
  standin.addTicketField({
    id: fields.many,
    title: 'Reasons',
    type: 'multiselect',
    options: [
      { name: 'A', value: 'why_a' },
      { name: 'B', value: 'why_b' },
    ],
  });
  standin.addTicket({
    id: 41960,
    requesterId: customer,
    assigneeId: agent,
    groupId: 2001,
    organizationId: 6001,
    tags: ['vip'],
  });
  const granted = await request(`${url}/oauth/tokens`, 'POST', grant('read write'));
  const token: string = granted.json.access_token;
  standin.clearCalls();
  const call: Account['call'] = (method, path, body, headers) =>
    request(`${url}${path}`, method, body, { authorization: `Bearer ${token}`, ...headers });
  return { ...server, call };
}

/** The account of the test that runs. */
export const useAccount = () => accountOfEachTest((now) => openAccount({ now }));

export function grant(scope: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    grant_type: 'client_credentials',
    client_id: 'closeloop',
    client_secret: 'zendesk-client-secret',
    scope,
    ...more,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
