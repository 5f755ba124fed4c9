import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import type { ConnectorPorts, Quota, Source } from '../../../../core/connector/contract.ts';
import { quietPorts } from '../../contract/quiet-ports.ts';

/** What may be sent in a batch; anything that isn't text as a value is refused, as HubSpot does. */
const Sent = z.object({
  inputs: z.array(z.strictObject({ id: z.string(), properties: z.record(z.string(), z.string()).default({}) })),
  properties: z.array(z.string()).default([]),
  propertiesWithHistory: z.array(z.string()).default([]),
});
type Sent = z.output<typeof Sent>;

export interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Sent;
}
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}
export type Handler = (call: Call, response: ServerResponse) => Reply | undefined;

/** A server that answers as the test says and keeps what it was asked; `handler` gives undefined to answer by itself. */
export async function serve(handler: Handler) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const call = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Sent.parse(text ? JSON.parse(text) : { inputs: [] }),
    };
    calls.push(call);
    const reply = handler(call, response);
    if (reply === undefined) return;
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
}

export const now = new Date('2026-11-21T10:00:00Z');

/** Real fetch; a clock that stands; a budget that counts. */
export function testPorts(clock = () => now) {
  const used = {
    takes: 0,
    pauses: [] as number[],
    endpoints: [] as (string | undefined)[],
    left: [] as [quota: Quota, name?: string][],
  };
  const ports = quietPorts({
    now: clock,
    budget: {
      take: async () => {
        used.takes += 1;
      },
      pause: async (ms, endpoint) => {
        used.pauses.push(ms);
        used.endpoints.push(endpoint);
      },
      reportRemaining: async (quota, name) => void used.left.push(name === undefined ? [quota] : [quota, name]),
    },
  });
  return { ports, used };
}

export const minimal = { accessToken: 'pat-eu1-made-up', webhookSecrets: ['3f1c9a52-0b7e-4d6a-9c41-made-up-secret'] };

export function open(settings: object = {}, ports: ConnectorPorts = testPorts().ports): Source {
  return hubspot.open({ ...minimal, ...settings }, ports);
}

/** Runs `run` against a server with this handler, and closes it whatever happens. */
export async function against<T>(
  handler: Handler,
  run: (at: { source: Source; calls: Call[]; used: ReturnType<typeof testPorts>['used'] }) => Promise<T>,
  settings: object = {},
  clock = () => now,
): Promise<T> {
  const server = await serve(handler);
  const { ports, used } = testPorts(clock);
  try {
    return await run({ source: open({ baseUrl: server.url, ...settings }, ports), calls: server.calls, used });
  } finally {
    await server.close();
  }
}

export const pipelines = {
  tickets: {
    results: [
      {
        id: '0',
        label: 'Support',
        stages: [
          { id: '1', label: 'New', metadata: { ticketState: 'OPEN', isClosed: 'false' } },
          { id: '3', label: 'Closed (only by its label)', metadata: { ticketState: 'OPEN' } },
          { id: '4', label: 'Open (only by its label)', metadata: { ticketState: 'CLOSED', isClosed: 'true' } },
          { id: '5', label: 'Archived', metadata: { ticketState: 'CLOSED' } },
        ],
      },
    ],
  },
  deals: {
    results: [
      {
        id: 'default',
        label: 'Sales',
        stages: [
          { id: 'new', label: 'New', metadata: { probability: '0.2' } },
          { id: 'closedwon', label: 'Proposal sent', metadata: { probability: '0.4', isClosed: 'false' } },
          { id: 'won', label: 'Won', metadata: { probability: '1.0', isClosed: 'true' } },
          { id: 'lost', label: 'Lost', metadata: { probability: '0.0' } },
        ],
      },
    ],
  },
};

export const notFound = (ids: string[]) => ({
  status: 'error',
  category: 'OBJECT_NOT_FOUND',
  message: `could not find ${ids}`,
  context: { ids },
});

/** What a ticket or deal is in the fake account. */
export interface Row {
  id: string;
  properties?: Record<string, string | null>;
  history?: [value: string, at: string][];
  /** [contact id, association type ids] */
  contacts?: [id: string, typeIds?: number[]][];
}

export interface Account {
  tickets?: Row[];
  deals?: Row[];
  contacts?: Row[];
  owners?: Record<string, object[]>;
  /** Old id → the id of the record that remains. */
  merged?: Record<string, string>;
}

/** Answers reads as HubSpot does: any order, 207 for what is missing, numbers for associated ids. */
export function account({ tickets = [], deals = [], contacts = [], owners = {}, merged = {} }: Account): Handler {
  const rows: Record<string, Map<string, Row>> = Object.fromEntries(
    Object.entries({ tickets, deals, contacts }).map(([name, list]) => [
      name,
      new Map(list.map((row) => [row.id, row])),
    ]),
  );
  return ({ method, path, body }) => {
    const url = new URL(path, 'http://fake');
    const [, , area, version, object = '', ...rest] = url.pathname.split('/');
    if (version !== '2026-09') return { status: 404, body: { category: 'OBJECT_NOT_FOUND' } };
    if (method === 'GET' && area === 'pipelines')
      return { body: object === 'deals' ? pipelines.deals : pipelines.tickets };
    if (method === 'GET' && area === 'owners') {
      const all = owners[url.searchParams.get('archived') ?? 'false'] ?? [];
      const from = Number(url.searchParams.get('after') ?? 0);
      const next = from + 2 < all.length ? { paging: { next: { after: String(from + 2) } } } : {};
      return { body: { results: all.slice(from, from + 2), ...next } };
    }
    const ids: string[] = body.inputs.map((input) => input.id);
    const most = area === 'associations' ? 1_000 : body.propertiesWithHistory.length > 0 ? 50 : 100;
    if (ids.length > most) return { status: 400, body: { category: 'VALIDATION_ERROR' } };
    const own = rows[object] ?? new Map<string, Row>();
    if (area === 'associations' && rest.join('/') === 'contacts/batch/read') {
      const without = ids.filter((id) => !own.get(id)?.contacts?.length);
      return {
        status: without.length ? 207 : 200,
        body: {
          results: ids.flatMap((id) => {
            const to = own.get(id)?.contacts ?? [];
            if (to.length === 0) return [];
            return [
              {
                from: { id },
                to: to.map(([contact, typeIds = [16]]) => ({
                  toObjectId: Number(contact),
                  associationTypes: typeIds.map((typeId) => ({ category: 'HUBSPOT_DEFINED', typeId, label: null })),
                })),
              },
            ];
          }),
          numErrors: without.length,
          errors: without.map((id) => ({
            status: 'error',
            category: 'OBJECT_NOT_FOUND',
            subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
            context: { fromObjectId: [id] },
          })),
        },
      };
    }
    if (area === 'objects' && rest.join('/') === 'batch/read') {
      const found = new Set(ids.map((id) => own.get(merged[id] ?? id)).filter((row) => row !== undefined));
      const missing = ids.filter((id) => !own.has(merged[id] ?? id));
      return {
        status: missing.length ? 207 : 200,
        body: {
          results: [...found].reverse().map(({ id, properties = {}, history = [] }) => ({
            id,
            properties: Object.fromEntries(body.properties.map((name) => [name, properties[name] ?? null])),
            ...(body.propertiesWithHistory.length && {
              propertiesWithHistory: {
                [body.propertiesWithHistory[0] ?? '']: history.map(([value, timestamp]) => ({
                  value,
                  timestamp,
                  sourceType: 'CRM_UI',
                })),
              },
            }),
          })),
          ...(missing.length && { numErrors: missing.length, errors: [notFound(missing)] }),
        },
      };
    }
    return { status: 404, body: { category: 'OBJECT_NOT_FOUND' } };
  };
}
