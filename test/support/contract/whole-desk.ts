import { z } from 'zod';
import type { Connector, Delivery, WriteBack } from '../../../core/connector/contract.ts';
import { jsonBody } from '../../../core/connector/json-body.ts';
import { adviceOf } from '../../../core/errors.ts';
import deskly from '../../../examples/helpdesk-connector/connector.ts';
import { signed, startDesk } from '../../../examples/helpdesk-connector/desk.ts';
import { type ConnectorSample, customer, type Part } from '../contract.ts';

const everything: readonly Part[] = ['poll', 'check', 'setup', 'no-answer', 'echo', 'erase', 'forget', 'replace'];

/** What the account has beside its tickets, of the sample that is open. Tests run one after the other. */
const account = {
  webhook: true,
  grades: true,
  unanswered: new Set<string>(),
  written: new Set<string>(),
  told: [] as string[],
};

const Erased = z.object({ erase: z.string() });

const blank = (recordId: string): WriteBack => ({
  recordId,
  status: 'answered',
  marker: 'none',
  grade: null,
  comment: null,
  answeredAt: new Date(),
  campaign: '',
});

/** The example with everything that the contract leaves open. */
export const whole: Connector = {
  ...deskly,
  open: (settings, ports) => {
    const source = deskly.open(settings, ports);
    return {
      ...source,
      writesNoAnswer: true,
      events(delivery) {
        const { data } = Erased.safeParse(jsonBody(delivery.raw));
        if (data === undefined) return source.events(delivery);
        const event = {
          kind: 'erase',
          personIds: [data.erase],
          at: delivery.receivedAt,
          key: data.erase,
          what: 'erase',
        } as const;
        return { ok: true, events: [event], ignored: [] };
      },
      async writeBack(items) {
        for (const { recordId, status } of items) {
          if (status === 'no-answer') account.unanswered.add(recordId);
          account.told.push(recordId);
          account.written.add(recordId);
        }
        return await source.writeBack(items);
      },
      async forget(recordIds) {
        // Again, too: a write that was given up may have been carried out since.
        const ids = recordIds.filter((id) => account.written.has(id));
        for (const id of ids) account.unanswered.delete(id);
        await source.writeBack(ids.map(blank));
        return [];
      },
      async check() {
        const advice = await source.read(['T1']).then(() => undefined, adviceOf);
        if (advice?.kind === 'config')
          return [{ level: 'error', at: 'apiKey', problem: 'it is refused', remedy: 'get another' }];
        const missing = Object.entries({ webhook: account.webhook, grades: account.grades }).filter(
          ([, there]) => !there,
        );
        return missing.map(([at]) => ({ level: 'error', at, problem: 'it is missing', remedy: 'closeloop setup' }));
      },
      async setup() {
        const make = async () => {
          account.webhook = true;
          return {};
        };
        return account.webhook ? [] : [{ what: 'create the webhook', apply: make }];
      },
    };
  },
};

/** At the example's stand-in. */
export function sampleOf(connector: Connector, does: readonly Part[] = everything): ConnectorSample {
  const delivery = (raw: Uint8Array, secret: string): Delivery => {
    const url = 'https://closeloop.example/hooks/desk';
    return { method: 'POST', url, headers: signed(raw, secret), raw, receivedAt: new Date() };
  };
  const body = (value: object) => Buffer.from(JSON.stringify(value));
  return {
    connector,
    signatureHeaders: ['x-deskly-signature'],
    missingId: 'T0',
    callsFor100: { read: 1, writeBack: 1 },
    does,
    planted: ['webhook', 'grades'],
    async start() {
      const desk = await startDesk({ email: customer.email, subject: customer.comment });
      Object.assign(account, { webhook: true, grades: true, unanswered: new Set(), written: new Set(), told: [] });
      return {
        settings: (webhookSecrets) => ({ baseUrl: desk.url, apiKey: 'key', ...(webhookSecrets && { webhookSecrets }) }),
        async closeRecord(secret) {
          const happening = desk.close();
          return { recordId: happening.ticket, delivery: delivery(body(happening), secret) };
        },
        reopen: async (id) => void desk.reopen(id),
        closeAgain: async (id) => void desk.close(id),
        correctEmail: async (id, email) => desk.changeCustomer(id, email),
        replaceCustomer: async (id, email) => desk.changeCustomer(id, email, 'another'),
        sign: delivery,
        gradeOn: (id) => desk.ticket(id)?.grade ?? null,
        traces: (id) => ({ ...desk.ticket(id), isUnanswered: account.unanswered.has(id) }),
        breakVendor(how, words) {
          desk.broken = (end) => {
            const text = JSON.stringify({ error: words });
            if (how === '429') end(429, { 'retry-after': '7' }, text);
            else if (how === 'html') end(200, {}, `<html>${words}</html>`);
            else if (how !== 'silent') end(Number(how), {}, text);
          };
        },
        calls: () => desk.calls,
        settle: () => new Promise((done) => setTimeout(done, 2)),
        preflight: () => ({ grades: [1, 2, 3], reads: [], answersWithinMs: 1 }),
        plant: async (what) => void Object.assign(account, { [what]: false }),
        strip: async () => void Object.assign(account, { webhook: false }),
        async delivered(secret) {
          const told = account.told.splice(0);
          return told.map((ticket) => {
            return delivery(
              body({ id: `H-${ticket}`, ticket, event: 'reopened', at: new Date().toISOString() }),
              secret,
            );
          });
        },
        erase: async (id, secret) => delivery(body({ erase: desk.ticket(id)?.customer.id ?? '' }), secret),
        close: () => desk.stop(),
      };
    },
  };
}
