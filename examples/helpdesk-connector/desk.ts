import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** What Deskly shows of a ticket. */
interface Ticket {
  id: string;
  subject: string;
  closings: number;
  closedAt: string | null;
  changedAt: string;
  /** It takes no changes any more. */
  archived: boolean;
  customer: { id: string; email: string };
  grade: number | null;
  comment: string | null;
  answeredAt: string | null;
}

interface Note {
  id: number;
  ticket: string;
  html: string;
  public: boolean;
}

const perPage = 100;

/**
 * A stand-in of Deskly: `GET /tickets?ids=` and `?changed_since=&after=`, `PUT /tickets`, `GET|POST|DELETE /notes`, `GET /fields`, and what its
 * webhook would send.
 */
export async function startDesk(customer: { email: string; subject: string }, now = () => new Date()) {
  const tickets = new Map<string, Ticket>();
  const notes: Note[] = [];
  let noteId = 0;
  const desk = {
    url: '',
    calls: 0,
    /** Set: every call is answered so. */
    broken: undefined as
      | ((end: (status: number, headers: Record<string, string>, body: string) => void) => void)
      | undefined,
    /** The grades that its field takes, as a dropdown; undefined: any number. */
    options: undefined as readonly number[] | undefined,
    /** Tickets whose grade is taken and not kept: an automation of the desk empties the field. */
    swallowed: new Set<string>(),
    ticket: (id: string) => tickets.get(id),
    notes: (id: string) => notes.filter(({ ticket }) => ticket === id),
    /** Opens a ticket, unless it exists, and closes it; returns what the webhook sends. */
    close(id = `T${tickets.size + 1}`, at = now().toISOString()) {
      const who = { id: `C${id}`, email: customer.email };
      const answer = { grade: null, comment: null, answeredAt: null };
      const fresh = { id, subject: customer.subject, closings: 0, archived: false, customer: who, ...answer };
      const old = tickets.get(id) ?? fresh;
      return told({ ...old, closings: old.closings + 1, closedAt: at, changedAt: at });
    },
    /** A migration, a macro over many tickets: all of one instant. */
    closeAtOnce(count: number): string[] {
      const at = now().toISOString();
      return Array.from({ length: count }, () => desk.close(undefined, at).ticket.id);
    },
    reopen: (id: string) => change(id, { closedAt: null }),
    archive: (id: string) => change(id, { archived: true }),
    /** An agent corrects the customer's address, or, with `who`, puts another customer in the place. The webhook has no event for it. */
    changeCustomer(id: string, email: string, who?: string): void {
      const old = tickets.get(id);
      if (old) change(id, { customer: { id: who ?? old.customer.id, email } });
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  function change(id: string, parts: Partial<Ticket>) {
    const old = tickets.get(id);
    if (old === undefined) throw new Error(`Deskly has no ticket ${id}`);
    return told({ ...old, ...parts, changedAt: now().toISOString() });
  }

  /** What the webhook says of a ticket that changed. */
  function told(ticket: Ticket) {
    tickets.set(ticket.id, ticket);
    const { id, closings, closedAt, changedAt } = ticket;
    return { ticket: { id, closings, closedAt, changedAt } };
  }

  const idsIn = (url: URL, name: string): string[] => (url.searchParams.get(name) ?? '').split(',');
  const known = (ids: Iterable<string>): Ticket[] => [...new Set(ids)].flatMap((id) => tickets.get(id) ?? []);

  function changedSince(since: string, after: string | null) {
    const changed = [...tickets.values()].filter(({ changedAt }) => changedAt >= since);
    const ordered = changed.sort((a, b) => (a.changedAt < b.changedAt ? -1 : a.changedAt > b.changedAt ? 1 : 0));
    const first = Number(after ?? 0);
    const next = first + perPage < ordered.length ? String(first + perPage) : null;
    return { tickets: ordered.slice(first, first + perPage), next };
  }

  /** undefined: the call is refused. */
  function put(sent: Pick<Ticket, 'id' | 'grade' | 'comment' | 'answeredAt'>[]) {
    const isUnfit = (grade?: number | null) => grade != null && desk.options?.includes(grade) === false;
    if (sent.some(({ grade }) => isUnfit(grade))) return undefined;
    for (const { id, ...parts } of sent) {
      const isOpen = tickets.get(id)?.archived === false;
      if (isOpen) change(id, { ...parts, ...(desk.swallowed.has(id) && { grade: null }) });
    }
    return { tickets: known(sent.map(({ id }) => id)) };
  }

  function changeNotes(method: string, url: URL, body: string) {
    if (method === 'POST') {
      for (const { ticket, html, public: isPublic = true } of JSON.parse(body).notes) {
        notes.push({ id: ++noteId, ticket, html, public: isPublic });
      }
    }
    const ids = method === 'DELETE' ? idsIn(url, 'ids') : [];
    for (const id of ids)
      notes.splice(
        notes.findIndex((note) => note.id === Number(id)),
        1,
      );
    const of = new Set(idsIn(url, 'tickets'));
    return { notes: method === 'GET' ? notes.filter(({ ticket }) => of.has(ticket)) : [] };
  }

  function answer(method: string, url: URL, body: string): object | undefined {
    if (url.pathname === '/fields') return { grade: { options: desk.options ?? null } };
    if (url.pathname === '/notes') return changeNotes(method, url, body);
    if (method === 'PUT') return put(JSON.parse(body).tickets);
    const since = url.searchParams.get('changed_since');
    return since === null ? { tickets: known(idsIn(url, 'ids')) } : changedSince(since, url.searchParams.get('after'));
  }

  const server = createServer(async (request, response) => {
    desk.calls += 1;
    const end = (status: number, headers: Record<string, string>, body: string) => {
      response.writeHead(status, headers).end(body);
    };
    if (desk.broken) return desk.broken(end);
    if (request.headers.authorization !== 'Bearer key') return end(401, {}, '{}');
    const body = await text(request);
    const found = answer(request.method ?? '', new URL(request.url ?? '/', 'http://desk'), body);
    const json = found ?? { error: 'a value is not in its list' };
    end(found ? 200 : 422, { 'content-type': 'application/json' }, JSON.stringify(json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  desk.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return desk;
}

/** The headers of Deskly's webhook: it signs the time and the body. */
export function signed(raw: string | Uint8Array, secret: string): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${time}.`).update(raw).digest('hex');
  return { 'x-deskly-time': time, 'x-deskly-signature': signature };
}
