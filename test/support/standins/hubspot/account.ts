import {
  type HubspotStandin,
  type HubspotStandinOptions,
  startHubspotStandin,
} from '../../../../standins/hubspot/standin.ts';
import type { StandinServer } from '../../../../standins/kit/server.ts';
import { accountOfEachTest } from '../each-test.ts';

export const ticketId = 541_935_488_729;
export const contactId = 10_101;

interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any;
}

interface Account extends StandinServer {
  standin: HubspotStandin;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

/** An account with a contact, a ticket of theirs, and properties of ours on tickets. */
export async function openAccount(options: HubspotStandinOptions = {}): Promise<Account> {
  const server = await startHubspotStandin({ sleep: () => Promise.resolve(), ...options });
  const { standin, url } = server;
  standin.addContact({ id: contactId, properties: { email: 'cora@example.com', firstname: 'Cora' } });
  standin.addTicket({ id: ticketId, properties: { subject: 'Printer' }, contacts: [contactId] });
  standin.addProperty({ type: 'tickets', name: 'fb_grade', kind: 'number', fieldType: 'number' });
  standin.addProperty({ type: 'tickets', name: 'fb_comment', kind: 'string', fieldType: 'textarea' });
  standin.addProperty({ type: 'tickets', name: 'fb_at', kind: 'datetime', fieldType: 'date' });
  standin.addProperty({ type: 'tickets', name: 'fb_day', kind: 'date', fieldType: 'date' });
  standin.addProperty({
    type: 'tickets',
    name: 'fb_status',
    kind: 'enumeration',
    fieldType: 'select',
    options: ['asked', 'answered'],
  });
  standin.addProperty({ type: 'tickets', name: 'fb_locked', kind: 'string', readOnly: true });
  return {
    ...server,
    call: async (method, path, body, headers) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: 'Bearer hubspot-token',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, json: await response.json() };
    },
  };
}

/** The account of the test that runs. */
export const useAccount = () => accountOfEachTest((now) => openAccount({ now }));

/** Of a batch read of these records. */
export const readBody = (ids: number[], more: object = {}) => ({
  inputs: ids.map((id) => ({ id: String(id) })),
  properties: [],
  propertiesWithHistory: [],
  ...more,
});
