import {
  cached,
  chunks,
  createSweep,
  createVendorApi,
  defineConnector,
  isOlderThan,
  jsonBody,
  listOf,
  markerOf,
  noEvent,
  noteHtml,
  notOverNewer,
  oneEvent,
  secret,
  staticToken,
  verifyHmac,
  type WriteBack,
  type WriteResult,
  webhookSecrets,
  writeInBatches,
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
  answeredAt: z.coerce.date().nullable(),
});
type Ticket = z.output<typeof Ticket>;
const Tickets = z.object({ tickets: listOf(Ticket), next: z.string().nullish() });
const Notes = z.object({ notes: listOf(z.object({ id: z.int(), html: z.string() })) });
const Fields = z.object({ grade: z.object({ options: z.array(z.number()).nullable() }) });

/** The webhook and the poll report the same closing with the same key. */
function eventOf({ id: recordId, closings, closedAt, changedAt }: z.output<typeof Happened>) {
  if (closedAt === null) {
    return { kind: 'changed' as const, recordId, at: changedAt, key: `${recordId}.${closings}.open`, what: 'reopened' };
  }
  return { kind: 'closed' as const, recordId, at: closedAt, key: `${recordId}.${closings}`, what: 'closed' };
}

const signature = {
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
  // What `closeloop init` asks.
  onboarding: {
    about: 'Deskly: tickets that are closed',
    source: 'desk',
    questions: [
      { setting: 'baseUrl', ask: 'Address of the API' },
      { setting: 'apiKey', ask: 'Key (Settings > API)', variable: 'DESKLY_API_KEY' },
      {
        setting: 'webhookSecrets',
        ask: 'Secret (Settings > Webhooks)',
        variable: 'DESKLY_WEBHOOK_SECRET',
        isList: true,
      },
    ],
    contact: ['customer.email'],
    values: [{ name: 'subject', expression: 'ticket.subject' }],
  },
  open: ({ baseUrl, apiKey, webhookSecrets }, ports) => {
    const api = createVendorApi({ name: 'Deskly', baseUrl, credentials: staticToken(apiKey) }, ports);
    const fields = cached(() => api.call({ method: 'GET', path: '/fields' }, Fields), 300_000, ports.now);

    async function find(ids: readonly string[]): Promise<Map<string, Ticket>> {
      const found = new Map<string, Ticket>();
      for (const some of chunks([...new Set(ids)], 100)) {
        const path = `/tickets?ids=${encodeURIComponent(some.join())}`;
        const { tickets } = await api.call({ method: 'GET', path }, Tickets);
        for (const ticket of tickets) found.set(ticket.id, ticket);
      }
      return found;
    }

    /** The tickets as they are then. */
    async function put(tickets: readonly object[]): Promise<Map<string, Ticket>> {
      if (tickets.length === 0) return new Map();
      const after = await api.call({ method: 'PUT', path: '/tickets', body: { tickets } }, Tickets);
      return new Map(after.tickets.map((ticket) => [ticket.id, ticket]));
    }

    /** closeloop's own notes, by what they end with. */
    async function notesOn(ids: readonly string[]): Promise<Map<string, number>> {
      if (ids.length === 0) return new Map();
      const path = `/notes?tickets=${encodeURIComponent(ids.join())}`;
      const { notes } = await api.call({ method: 'GET', path }, Notes);
      const found = new Map<string, number>();
      for (const { id, html } of notes) {
        const marker = markerOf(html);
        if (marker !== undefined) found.set(marker, id);
      }
      return found;
    }

    async function addNotes(items: readonly WriteBack[]): Promise<void> {
      const there = await notesOn(items.map(({ recordId }) => recordId));
      const notes = items
        .filter(({ marker }) => !there.has(marker)) // an earlier attempt may have written it
        .map((item) => ({ ticket: item.recordId, html: noteHtml(item), public: false }));
      if (notes.length > 0) await api.call({ method: 'POST', path: '/notes', body: { notes } }, z.unknown());
    }

    /** One answer for each ticket, and each in one of a few calls. */
    async function write(items: readonly WriteBack[]): Promise<WriteResult[]> {
      const { options } = (await fields()).grade;
      const before = await find(items.map(({ recordId }) => recordId));
      const fits = ({ grade }: WriteBack) => grade === null || options === null || options.includes(grade);
      const isNewer = (item: WriteBack) => !isOlderThan(item, before.get(item.recordId)?.answeredAt?.getTime());
      const wanted = items.filter((item) => before.get(item.recordId)?.archived === false && isNewer(item));
      const after = await put(
        wanted.map((item) => {
          const { recordId: id, grade, comment, answeredAt } = item;
          return { id, comment, answeredAt, grade: fits(item) ? grade : null };
        }),
      );
      await addNotes(wanted);
      return items.map((item): WriteResult => {
        const { recordId: id, grade } = item;
        const ticket = after.get(id) ?? before.get(id);
        if (ticket === undefined) return { ok: false, why: 'not-found', message: 'Deskly has no such ticket.' };
        if (ticket.archived) return { ok: false, why: 'closed', message: `Deskly has archived ticket ${id}.` };
        if (!isNewer(item)) return notOverNewer('ticket');
        if (!fits(item)) return { ok: true, findings: [`Deskly's dropdown "Grade" lacks ${grade}: add it`] };
        const isKept = ticket.grade === grade;
        return {
          ok: true,
          findings: isKept ? [] : [`Deskly did not keep the grade of ${id}: look at its automations`],
        };
      });
    }

    return {
      batchSize: 100,
      taken: { status: 202 },
      verify: (delivery) => verifyHmac(delivery, webhookSecrets, signature),
      events({ raw }) {
        const body = jsonBody(raw);
        if (body === undefined) return { ok: false, why: 'it is no JSON' };
        const { data } = z.object({ ticket: Happened }).safeParse(body);
        return data ? oneEvent(eventOf(data.ticket)) : noEvent('a delivery', 'it is about no ticket');
      },
      async read(ids) {
        const found = await find(ids);
        return ids.map((id) => {
          const ticket = found.get(id);
          if (ticket === undefined) return { ok: false, why: 'not-found' };
          const { closings, closedAt, subject, customer } = ticket;
          const state = closedAt
            ? { is: 'closed' as const, closing: `${closings}`, closedAt }
            : { is: 'open' as const };
          const shape = { ticket: { id, subject }, customer };
          return { ok: true, record: { id, currentId: id, state, shape, personId: customer.id } };
        });
      },
      writeBack: (items) => writeInBatches(items, 100, write),
      async forget(ids) {
        const known = [...(await find(ids)).keys()];
        const after = await put(known.map((id) => ({ id, grade: null, comment: null, answeredAt: null })));
        const notes = [...(await notesOn(known)).values()];
        if (notes.length > 0) await api.call({ method: 'DELETE', path: `/notes?ids=${notes.join()}` }, z.unknown());
        return [...after.values()].flatMap(({ id, archived }) =>
          archived ? [`the answer on ${id}, which is archived`] : [],
        );
      },
      poll: createSweep(
        [
          {
            async page(from, after) {
              const path = `/tickets?changed_since=${from.toISOString()}${after === undefined ? '' : `&after=${after}`}`;
              const { tickets, next } = await api.call({ method: 'GET', path, urgency: 'background' }, Tickets);
              return { events: tickets.map(eventOf), next: next ?? undefined };
            },
          },
        ],
        { now: ports.now, overlapMs: 60_000 },
      ),
    };
  },
});
