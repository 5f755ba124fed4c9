import {
  cached,
  createVendorApi,
  defineConnector,
  desk,
  inPlainForm,
  listOf,
  noEvent,
  noteAction,
  noteHtml,
  oneEvent,
  pollWindow,
  Refusal,
  secret,
  staticToken,
  VendorError,
  webhookSecrets,
  z,
} from 'closeloop';

/** What the webhook says of a ticket. */
const Happened = z.object({
  id: z.string(),
  closings: z.int(), // how often it was closed
  closedAt: z.coerce.date().nullable(), // null while it is open
  changedAt: z.coerce.date(),
});
const Ticket = Happened.extend({
  subject: z.string(),
  archived: z.boolean(),
  customer: z.object({ id: z.string(), email: z.string() }),
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  answeredAt: z.string().nullable(),
});
type Ticket = z.output<typeof Ticket>;
const Tickets = z.object({ tickets: listOf(Ticket), next: z.string().nullish() });
const Notes = z.object({ notes: listOf(z.object({ id: z.int().transform(String), html: z.string() })) });
const Fields = z.object({ grade: z.object({ options: listOf(z.number()).nullable() }) });

/** The webhook and the poll report the same closing with the same key. */
function eventOf({ id: recordId, closings, closedAt, changedAt }: z.output<typeof Happened>) {
  if (closedAt === null) {
    return { kind: 'changed' as const, recordId, at: changedAt, key: `${recordId}.${closings}.open`, what: 'reopened' };
  }
  return { kind: 'closed' as const, recordId, at: closedAt, key: `${recordId}.${closings}`, what: 'closed' };
}

const proof = {
  header: 'x-deskly-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  timestamp: { header: 'x-deskly-time', as: 'seconds', toleranceMs: 300_000 },
  signed: ({ raw }: { raw: Uint8Array }, time: string) => [`${time}.`, raw],
} as const;

export default defineConnector({
  name: 'deskly',
  settings: z.strictObject({
    baseUrl: z.url(),
    apiKey: secret,
    webhookSecrets: webhookSecrets(secret, 'copy it from Settings > Webhooks'),
  }),
  account: ({ baseUrl }) => new URL(baseUrl).host,
  actions: { note: noteAction },
  open: ({ baseUrl, apiKey, webhookSecrets: secrets }, ports) => {
    const api = createVendorApi({ name: 'Deskly', baseUrl, credentials: staticToken(apiKey) }, ports);
    const fields = cached(() => api.call({ method: 'GET', path: '/fields' }, Fields), 300_000, ports.now);
    const list = (query: string) => api.call({ method: 'GET', path: `/tickets?${query}` }, Tickets);

    return desk({
      vendor: 'Deskly',
      record: 'ticket',
      intake: {
        secrets,
        proof,
        events(body) {
          const { data } = z.object({ ticket: Happened }).safeParse(body);
          return data ? oneEvent(eventOf(data.ticket)) : noEvent('a delivery', 'it is about no ticket');
        },
      },
      read: {
        isId: (id) => /^T\d{1,18}$/.test(id),
        many: async (ids) => new Map((await list(`ids=${ids.join()}`)).tickets.map((ticket) => [ticket.id, ticket])),
        present: async () => (ticket: Ticket) => {
          const { id, closings, closedAt, subject, customer } = ticket;
          const state = closedAt
            ? { is: 'closed' as const, closing: `${closings}`, closedAt }
            : { is: 'open' as const };
          return { state, shape: { ticket: { id, subject }, customer }, personId: customer.id };
        },
      },
      poll: pollWindow(
        {
          async page(from, page) {
            const path = `/tickets?changed_since=${from.toISOString()}&after=${100 * (page - 1)}`;
            const { tickets, next } = await api.call({ method: 'GET', path, urgency: 'background' }, Tickets);
            return { rows: tickets, isFull: next != null };
          },
          changedAt: ({ changedAt }) => changedAt,
          events: (ticket) => [eventOf(ticket)],
        },
        ports,
      ),
      write: {
        settings: { grade: 'grade', comment: 'comment', answeredAt: 'answeredAt', note: true },
        written: inPlainForm,
        at: (ticket: Ticket, place) => new Map<string, unknown>(Object.entries(ticket)).get(place),
        closed: (of: Ticket | VendorError) =>
          !(of instanceof VendorError) && of.archived ? 'it is archived' : undefined,
        async put({ id, change }) {
          const { options } = (await fields()).grade;
          const grade = change.values.get('grade');
          if (typeof grade === 'number' && options !== null && !options.includes(grade))
            return new Refusal(['grade'], [`Deskly's dropdown "Grade" lacks ${grade}: add it`]);
          const body = { tickets: [{ id, ...Object.fromEntries(change.values) }] };
          return (await api.call({ method: 'PUT', path: '/tickets', body }, Tickets)).tickets[0];
        },
        notes: {
          async list(_, id) {
            const { notes } = await api.call({ method: 'GET', path: `/notes?tickets=${id}` }, Notes);
            return notes.map((note) => ({ id: note.id, text: note.html }));
          },
          add(_, about, ticket) {
            const body = { notes: [{ ticket, html: noteHtml(about), public: false }] };
            return api.call({ method: 'POST', path: '/notes', body }, z.unknown());
          },
          remove: (_, id) => api.call({ method: 'DELETE', path: `/notes?ids=${id}` }, z.unknown()),
        },
      },
    });
  },
});
