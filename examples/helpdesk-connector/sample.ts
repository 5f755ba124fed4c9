import { type ConnectorSample, customer } from 'closeloop/testing';
import deskly from './connector.ts';
import { signed, startDesk } from './desk.ts';

const delivered = (raw: Uint8Array, secret: string) => {
  const url = 'https://closeloop.example/hooks/desk';
  return { method: 'POST', url, headers: signed(raw, secret), raw, receivedAt: new Date() };
};
const bodyOf = (happened: object) => Buffer.from(JSON.stringify(happened));

/** An account at the stand-in, for the suite that every connector passes. */
export const sample: ConnectorSample = {
  connector: deskly,
  signatureHeaders: ['x-deskly-signature', 'x-deskly-time'],
  goesStale: true,
  missingId: 'T0',
  // A write looks at the field, the tickets and their notes, and adds what is missing.
  callsFor100: { read: 1, writeBack: 5 },
  does: ['poll', 'replace', 'forget'],
  pollPage: 100,
  async start() {
    // A clock that leaps: what happened before an instant has an earlier second.
    let time = Date.now() - 3_600_000;
    const now = () => {
      time += 1_000;
      return new Date(time);
    };
    const desk = await startDesk({ email: customer.email, subject: customer.comment }, now);
    return {
      now,
      ports: { now },
      settings: (webhookSecrets) => ({ baseUrl: desk.url, apiKey: 'key', ...(webhookSecrets && { webhookSecrets }) }),
      async closeRecord(secret) {
        const happened = desk.close();
        return { recordId: happened.ticket.id, delivery: delivered(bodyOf(happened), secret) };
      },
      reopen: async (id) => void desk.reopen(id),
      closeAgain: async (id, secret) => delivered(bodyOf(desk.close(id)), secret),
      closeAtOnce: async (count) => desk.closeAtOnce(count),
      correctEmail: async (id, email) => desk.changeCustomer(id, email),
      replaceCustomer: async (id, email) => desk.changeCustomer(id, email, 'another'),
      sign: delivered,
      gradeOn: (id) => desk.ticket(id)?.grade ?? null,
      commentOn: (id) => desk.ticket(id)?.comment ?? null,
      notesOn: (id) => desk.notes(id).map(({ html, public: isPublic }) => ({ text: html, isHtml: true, isPublic })),
      swallow: async (id) => void desk.swallowed.add(id),
      dropdown: async (options) => void Object.assign(desk, { options }),
      lock: async (id) => void desk.archive(id),
      traces(id) {
        const { changedAt: _, ...ticket } = { changedAt: '', ...desk.ticket(id) };
        return { ticket, notes: desk.notes(id).map(({ html }) => html) };
      },
      breakVendor(how, words) {
        desk.broken = (end) => {
          const body = JSON.stringify({ error: words });
          if (how === '429') end(429, { 'retry-after': '7' }, body);
          else if (how === 'html') end(200, { 'content-type': 'text/html' }, `<html>${words}</html>`);
          else if (how !== 'silent') end(Number(how), {}, body);
        };
      },
      calls: () => desk.calls,
      close: () => desk.stop(),
    };
  },
};
