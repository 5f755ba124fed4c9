import { createVendorApi, defineConnector, jsonBody, listOf, secret, staticToken, verifyHmac, z } from 'closeloop';

const Ticket = z.object({
  id: z.string(),
  subject: z.string(),
  closings: z.int(), // how often it was closed
  closedAt: z.coerce.date().nullable(), // null while it is open
  customer: z.object({ id: z.string(), email: z.string() }),
  grade: z.number().nullable(),
});
const Tickets = z.object({ tickets: listOf(Ticket) });

/** Deskly's webhook delivers one of these, its feed lists them all; one thing has one id in both. */
const Happening = z
  .object({ id: z.string(), ticket: z.string(), event: z.enum(['closed', 'reopened']), at: z.coerce.date() })
  .transform(({ id, ticket, event, at }) => {
    const kind = event === 'closed' ? ('closed' as const) : ('changed' as const);
    return { kind, recordId: ticket, at, key: id, what: `ticket ${event}` };
  });
const Feed = z.object({ happenings: listOf(Happening), next: z.string(), more: z.boolean() });

export default defineConnector({
  name: 'deskly',
  settings: z.strictObject({
    baseUrl: z.url(),
    apiKey: secret,
    webhookSecrets: z.array(secret).min(1), // two while one replaces the other
  }),
  account: ({ baseUrl }) => new URL(baseUrl).host,
  open: ({ baseUrl, apiKey, webhookSecrets }, ports) => {
    const api = createVendorApi({ name: 'Deskly', baseUrl, credentials: staticToken(apiKey) }, ports);
    const signature = { header: 'x-deskly-signature', algorithm: 'sha256', encoding: 'hex' } as const;
    return {
      batchSize: 100,
      taken: { status: 202 },
      verify: (delivery) => verifyHmac(delivery, webhookSecrets, signature),
      events({ raw }) {
        const { data } = Happening.safeParse(jsonBody(raw));
        return data ? { ok: true, events: [data], ignored: [] } : { ok: false, why: 'no delivery of Deskly' };
      },
      async read(ids) {
        if (ids.length === 0) return [];
        const path = `/tickets?ids=${encodeURIComponent(ids.join())}`;
        const { tickets } = await api.call({ method: 'GET', path }, Tickets);
        return ids.map((id) => {
          const ticket = tickets.find((one) => one.id === id);
          if (ticket === undefined) return { ok: false, why: 'not-found' };
          const { closings, closedAt, subject, customer } = ticket;
          const state = closedAt
            ? ({ is: 'closed', closing: `${closings}`, closedAt } as const)
            : { is: 'open' as const };
          const shape = { ticket: { id, subject }, customer };
          return { ok: true, record: { id, currentId: id, state, shape, personId: customer.id } };
        });
      },
      async writeBack(items) {
        if (items.length === 0) return [];
        const grades = new Map(items.map(({ recordId, grade }) => [recordId, grade])); // the last one to a ticket wins
        const body = { tickets: [...grades].map(([id, grade]) => ({ id, grade })) };
        const { tickets } = await api.call({ method: 'PUT', path: '/tickets', body }, Tickets);
        return items.map(({ recordId: id }) => {
          const ticket = tickets.find((one) => one.id === id);
          if (ticket === undefined) return { ok: false, why: 'not-found', message: `Deskly has no ticket ${id}.` };
          const isTaken = ticket.grade === grades.get(id);
          return { ok: true, findings: isTaken ? [] : ['Deskly ignored the grade: switch its field "Grade" on'] };
        });
      },
      async poll(from) {
        const query = 'cursor' in from ? `after=${from.cursor}` : `since=${from.since.toISOString()}`;
        const path = `/feed?${query}`;
        const { happenings, next, more } = await api.call({ method: 'GET', path, urgency: 'background' }, Feed);
        return { events: happenings, cursor: next, done: !more, reached: happenings.at(-1)?.at ?? ports.now() };
      },
    };
  },
});
