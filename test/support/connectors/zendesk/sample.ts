import { z } from 'zod';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { ZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import { signZendesk } from '../../../../standins/zendesk/webhooks.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { bodyOf, fault, hookUrl, leapingClock, mailbox, posted } from '../vendor-account.ts';

const Audits = z.array(
  z.object({ events: z.array(z.object({ plain_body: z.string().optional(), public: z.boolean().optional() })) }),
);

const Status = z.object({ status: z.string() });

/** An account whose webhook delivers here, and what brings each misconfiguration about. */
export const zendeskSample: ConnectorSample = {
  connector: zendesk,
  signatureHeaders: ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp'],
  missingId: '999999999',
  // One for the token, one for the names of the fields, one for the tickets; a write looks before and after, and at its job.
  callsFor100: { read: 3, writeBack: 7 },
  acts: [{ name: 'reopen', params: { group: 'Phone', priority: 'high' }, amiss: [{ group: 'Nobody' }] }],
  does: ['poll', 'no-answer', 'echo', 'check', 'setup', 'forget', 'replace'],
  keeps: ['notes'],
  goesStale: true,
  pollPage: 1_000,
  lacks: { swallow: 'what gets lost without an error is the value of a dropdown' },
  planted: ['webhook', 'grade'],
  async start() {
    const clock = leapingClock();
    // The last minute is never in an export.
    let aheadMs = 0;
    const now = () => new Date(clock.now().getTime() + aheadMs);
    const { fetch, taken, emptied } = mailbox();
    const standin = new ZendeskStandin({ fetch, now, jobs: { queuedMs: 0, workingMs: 0 } });
    const server = await serve(standin.handle, { faults: standin.faults });
    standin.setWebhook({ url: hookUrl, secrets: [...secrets] });
    const grade = standin.addTicketField({ title: 'Grade', type: 'integer' }).id;
    const comment = standin.addTicketField({ title: 'Comment', type: 'textarea' }).id;
    const answeredAt = standin.addTicketField({ title: 'Answered', type: 'text' }).id;
    const assigneeId = standin.addUser({ name: 'Bob', role: 'agent' }).id;
    const requesterId = standin.addUser({ name: 'Hanna', email: customer.email }).id;
    const groupId = standin.addGroup({ name: 'Phone' }).id;
    const solve = async (id: number, secret: string): Promise<Delivery> => {
      standin.setWebhook({ url: hookUrl, secrets: [secret] });
      await standin.solve(id);
      return taken();
    };
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      const { id } = standin.addTicket({ requesterId, assigneeId, groupId, subject: customer.comment });
      return { recordId: String(id), delivery: await solve(id, secret) };
    };
    let place = grade;
    const fieldOf = (id: string, field: number): unknown => standin.ticket(Number(id)).fields[String(field)];
    return {
      settings: (secrets) => ({
        subdomain: 'acme',
        clientId: standin.credentials.clientId,
        clientSecret: standin.credentials.clientSecret,
        baseUrl: server.url,
        writeBack: { grade: place, comment, answeredAt, note: true, tags: true, noAnswer: true },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      // Jobs end before the first look; what they do is looked at, not how long it takes.
      ports: { sleep: () => standin.idle(), now },
      closeRecord,
      closeAtOnce: (count) => clock.atOnce(count, () => closeRecord(secrets[0])),
      reopen: async (id) => void (await standin.reopen(Number(id))),
      closeAgain: (id, secret) => solve(Number(id), secret),
      correctEmail: async (_id, email) => void standin.changeUser({ id: requesterId, email }),
      async replaceCustomer(id, email) {
        await standin.edit({ id: Number(id), requesterId: standin.addUser({ email }).id });
      },
      sign(raw, secret) {
        const timestamp = new Date().toISOString();
        return posted(raw, {
          'x-zendesk-webhook-signature': signZendesk(secret, timestamp, raw),
          'x-zendesk-webhook-signature-timestamp': timestamp,
        });
      },
      gradeOn(id) {
        const value = fieldOf(id, place) ?? null;
        return value === null ? null : Number(value);
      },
      commentOn: (id) => z.string().nullish().parse(fieldOf(id, comment)) ?? null,
      notesOn: (id) =>
        Audits.parse(standin.ticket(Number(id)).audits)
          .flatMap(({ events }) => events)
          .flatMap(({ plain_body: text, public: isPublic = true }) =>
            text ? [{ text, isHtml: false, isPublic }] : [],
          ),
      async dropdown(grades) {
        const options = grades.map((one) => ({ name: String(one), value: String(one) }));
        place = standin.addTicketField({ title: 'Choice', type: 'tagger', options }).id;
      },
      lock: async (id) => void (await standin.close(Number(id))),
      traces(id) {
        const { ticket, tags, fields, audits, mails } = standin.ticket(Number(id));
        const notes = JSON.stringify(audits)
          .match(/closeloop ref [^"<\\]+/g)
          ?.toSorted();
        const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
        return { tags, fields: filled, mails, notes, status: Status.parse(ticket).status };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, bodyOf(words))),
      idle: () => standin.idle(),
      calls: () => standin.totalCalls(),
      now,
      async settle() {
        aheadMs += 120_000;
      },
      preflight: () => ({ hookUrl, grades: [1, 2, 3], reads: [], answersWithinMs: 86_400_000 }),
      async plant(what) {
        if (what === 'webhook') standin.removeWebhooks();
        else standin.ticketField(grade).active = false;
      },
      strip: async () => void standin.removeWebhooks(),
      delivered: async () => emptied(),
      close: () => server.close(),
    };
  },
};
