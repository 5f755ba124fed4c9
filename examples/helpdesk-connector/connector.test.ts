import { type ConnectorSample, connectorContract, customer } from 'closeloop/testing';
import { afterEach, beforeEach, describe, test } from 'vitest';
import deskly from './connector.ts';
import { signed, startDesk } from './desk.ts';

const delivery = (raw: Uint8Array, secret: string) => {
  const url = 'https://closeloop.example/hooks/desk';
  return { method: 'POST', url, headers: signed(raw, secret), raw, receivedAt: new Date() };
};

const sample: ConnectorSample = {
  connector: deskly,
  signatureHeaders: ['x-deskly-signature'],
  missingId: 'T0',
  callsFor100: { read: 1, writeBack: 1 },
  does: ['poll', 'replace'],
  async start() {
    const desk = await startDesk({ email: customer.email, subject: customer.comment });
    return {
      settings: (webhookSecrets) => ({ baseUrl: desk.url, apiKey: 'key', ...(webhookSecrets && { webhookSecrets }) }),
      async closeRecord(secret) {
        const happening = desk.close();
        const raw = Buffer.from(JSON.stringify(happening));
        return { recordId: happening.ticket, delivery: delivery(raw, secret) };
      },
      reopen: async (id) => void desk.reopen(id),
      closeAgain: async (id) => void desk.close(id),
      correctEmail: async (id, email) => desk.changeCustomer(id, email),
      replaceCustomer: async (id, email) => desk.changeCustomer(id, email, 'another'),
      sign: delivery,
      gradeOn: (id) => desk.ticket(id)?.grade ?? null,
      traces: (id) => desk.ticket(id),
      breakVendor(how, words) {
        desk.broken = (end) => {
          const body = JSON.stringify({ error: words });
          if (how === '429') end(429, { 'retry-after': '7' }, body);
          else if (how === 'html') end(200, { 'content-type': 'text/html' }, `<html>${words}</html>`);
          else if (how !== 'silent') end(Number(how), {}, body);
        };
      },
      calls: () => desk.calls,
      // Times are in milliseconds here: what happened before this moment has an earlier one.
      settle: () => new Promise((done) => setTimeout(done, 2)),
      close: () => desk.stop(),
    };
  },
};

connectorContract(sample, { describe, test, beforeEach, afterEach });
