import {
  cached,
  createVendorApi,
  defineConnector,
  desk,
  deskWriteBack,
  doing,
  inPlainForm,
  isReopened,
  listOf,
  noEvent,
  noteAction,
  noteHtml,
  oneEvent,
  pollWindow,
  type RecordState,
  Refusal,
  secret,
  staticToken,
  typesByPart,
  VendorError,
  webhookSecrets,
  z,
} from 'closeloop';

/** The part of a ticket that Deskly's webhook sends. */
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

/** Both the webhook and the poll report a closing by this function, so that the closing has the same key in both. */
function eventOf({ id: recordId, closings, closedAt, changedAt }: z.output<typeof Happened>) {
  if (closedAt === null) {
    return { kind: 'changed' as const, recordId, at: changedAt, key: `${recordId}.${closings}.open`, what: 'reopened' };
  }
  return { kind: 'closed' as const, recordId, at: closedAt, key: `${recordId}.${closings}`, what: 'closed' };
}

const stateOf = ({ closings, closedAt }: Ticket): RecordState =>
  closedAt ? { is: 'closed', closing: `${closings}`, closedAt } : { is: 'open' };

/** Deskly signs the time and the body. */
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
    writeBack: deskWriteBack(z.enum(['grade', 'comment', 'answeredAt']), {
      takes: 'a field of tickets',
      note: 'Adds a private note: two more calls per answer',
      commentLength: { most: 10_000, initial: 5_000 },
    }),
  }),
  account: ({ baseUrl }) => new URL(baseUrl).host,
  parts: { customer: ['customer.email'] },
  actions: { note: noteAction, reopen: z.literal(true).describe('Opens the ticket again') },
  onboarding: {
    about: 'Deskly: tickets that are closed',
    source: 'desk',
    questions: [
      { setting: 'baseUrl', ask: 'Address of the API' },
      { setting: 'apiKey', ask: 'Key (Settings > API)', variable: 'DESKLY_API_KEY' },
      { setting: 'webhookSecrets', ask: 'Secret (Settings > Webhooks)', variable: 'DESKLY_SECRET', isList: true },
    ],
    settings: { writeBack: { grade: 'grade', comment: 'comment', answeredAt: 'answeredAt', note: true } },
    contact: ['customer.email'],
    values: [{ name: 'subject', expression: 'ticket.subject' }],
  },
  open: ({ baseUrl, apiKey, webhookSecrets: secrets, writeBack }, ports) => {
    const api = createVendorApi({ name: 'Deskly', baseUrl, credentials: staticToken(apiKey) }, ports);
    const fields = cached(() => api.get('/fields', Fields), 300_000, ports.now);
    const list = (query: string) => api.get(`/tickets?${query}`, Tickets);
    const update = async (ticket: { id: string } & Record<string, unknown>) =>
      (await api.send('PUT', '/tickets', { tickets: [ticket] }, Tickets)).tickets[0];

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
          const { id, subject, customer } = ticket;
          return { state: stateOf(ticket), shape: { ticket: { id, subject }, customer }, personId: customer.id };
        },
      },
      poll: pollWindow(
        {
          async page(from, page) {
            const path = `/tickets?changed_since=${from.toISOString()}&after=${100 * (page - 1)}`;
            const { tickets, next } = await api.get(path, Tickets, { urgency: 'background' });
            return { rows: tickets, isFull: next != null };
          },
          changedAt: ({ changedAt }) => changedAt,
          events: (ticket) => [eventOf(ticket)],
        },
        ports,
      ),
      write: {
        settings: writeBack,
        written: inPlainForm,
        at: (ticket: Ticket, place) => new Map<string, unknown>(Object.entries(ticket)).get(place),
        closed: (of: Ticket | VendorError) =>
          !(of instanceof VendorError) && of.archived ? 'it is archived' : undefined,
        async put({ id, change }) {
          const { options } = (await fields()).grade;
          const grade = change.values.get('grade');
          if (typeof grade === 'number' && options !== null && !options.includes(grade))
            return new Refusal(['grade'], [`Deskly's dropdown "Grade" lacks ${grade}: add it`]);
          return await update({ id, ...Object.fromEntries(change.values) });
        },
        notes: {
          async list(_, id) {
            const { notes } = await api.get(`/notes?tickets=${id}`, Notes);
            return notes.map((note) => ({ id: note.id, text: note.html }));
          },
          add(_, about, ticket) {
            const body = { notes: [{ ticket, html: noteHtml(about), public: false }] };
            return api.send('POST', '/notes', body, z.unknown());
          },
          remove: (_, id) => api.send('DELETE', `/notes?ids=${id}`, undefined, z.unknown()),
        },
      },
      actions: {
        reopen: doing(z.literal(true), async (ticket: Ticket, _, request) => {
          if (!isReopened(stateOf(ticket), request)) await update({ id: ticket.id, closedAt: null });
          return 'reopened';
        }),
      },
      preflight: {
        credential: 'apiKey',
        shape: {
          names: { ticket: { id: true, subject: true }, customer: { id: true, email: true } },
          hint: 'a rule sees no other part of a ticket',
        },
        probes: [{ what: 'the tickets', tries: () => list('ids=T0') }],
        fields: {
          of: 'tickets',
          field: 'field',
          place: 'Settings > Fields',
          async list() {
            const { options } = (await api.get('/fields', Fields)).grade;
            const grade = options === null ? { type: 'number' } : { type: 'dropdown', values: options.map(String) };
            const texts = ['comment', 'answeredAt'].map((name) => ({ name, type: 'text', required: false }));
            return [{ name: 'grade', required: false, ...grade }, ...texts];
          },
          types: typesByPart({
            grade: { whole: 'number', fraction: 'number', any: ['dropdown'] },
            comment: ['text'],
            others: ['text'],
          }),
        },
        isStandin: false,
      },
      own: { recordUrl: (id) => `https://${new URL(baseUrl).host}/tickets/${id}` },
    });
  },
});
