import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

interface Ticket {
  id: string;
  subject: string;
  closings: number;
  closedAt: string | null;
  customer: { id: string; email: string };
  grade: number | null;
}

interface Happening {
  id: string;
  ticket: string;
  event: 'closed' | 'reopened';
  at: string;
}

/** A stand-in of Deskly: `GET /tickets?ids=`, `PUT /tickets`, `GET /feed?since=|after=`, and what its webhook would send. */
export async function startDesk(customer: { email: string; subject: string }) {
  const tickets = new Map<string, Ticket>();
  const feed: Happening[] = [];
  const desk = {
    url: '',
    calls: 0,
    /** Set: every call is answered so. */
    broken: undefined as
      | ((end: (status: number, headers: Record<string, string>, body: string) => void) => void)
      | undefined,
    ticket: (id: string) => tickets.get(id),
    /** Opens a ticket, unless it exists, and closes it. */
    close(id = `T${tickets.size + 1}`): Happening {
      const old = tickets.get(id);
      const who = { id: `C${id}`, email: customer.email };
      const fresh = { id, subject: customer.subject, closings: 0, closedAt: null, customer: who, grade: null };
      const at = new Date().toISOString();
      tickets.set(id, { ...(old ?? fresh), closings: (old?.closings ?? 0) + 1, closedAt: at });
      return tell(id, 'closed', at);
    },
    reopen(id: string): Happening {
      const old = tickets.get(id);
      if (old) tickets.set(id, { ...old, closedAt: null });
      return tell(id, 'reopened', new Date().toISOString());
    },
    /** An agent corrects the customer's address, or, with `who`, puts another customer in the place. The webhook has no event for it. */
    changeCustomer(id: string, email: string, who?: string): void {
      const old = tickets.get(id);
      if (old) tickets.set(id, { ...old, customer: { id: who ?? old.customer.id, email } });
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  function tell(ticket: string, event: Happening['event'], at: string): Happening {
    const happening = { id: `H${feed.length + 1}`, ticket, event, at };
    feed.push(happening);
    return happening;
  }

  function answer(method: string, url: URL, body: string): object {
    if (url.pathname === '/feed') {
      const since = url.searchParams.get('since');
      const from = since === null ? Number(url.searchParams.get('after')) : feed.findIndex(({ at }) => at >= since);
      const first = from < 0 ? feed.length : from;
      const page = feed.slice(first, first + 100);
      return { happenings: page, next: String(first + page.length), more: first + page.length < feed.length };
    }
    const sent: { id: string; grade: number | null }[] = method === 'PUT' ? JSON.parse(body).tickets : [];
    for (const { id, grade } of sent) {
      const old = tickets.get(id);
      if (old) tickets.set(id, { ...old, grade });
    }
    const ids = method === 'PUT' ? sent.map(({ id }) => id) : (url.searchParams.get('ids') ?? '').split(',');
    return { tickets: [...new Set(ids)].flatMap((id) => tickets.get(id) ?? []) };
  }

  const server = createServer(async (request, response) => {
    desk.calls += 1;
    const end = (status: number, headers: Record<string, string>, body: string) => {
      response.writeHead(status, headers).end(body);
    };
    if (desk.broken) return desk.broken(end);
    if (request.headers.authorization !== 'Bearer key') return end(401, {}, '{}');
    const body = await text(request);
    const json = JSON.stringify(answer(request.method ?? '', new URL(request.url ?? '/', 'http://desk'), body));
    end(200, { 'content-type': 'application/json' }, json);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  desk.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return desk;
}

/** The headers of Deskly's webhook. */
export function signed(raw: string | Uint8Array, secret: string): Record<string, string> {
  return { 'x-deskly-signature': createHmac('sha256', secret).update(raw).digest('hex') };
}
