import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { z } from 'zod';
import { hubspot } from '../../../connectors/hubspot/hubspot.ts';
import { zendesk } from '../../../connectors/zendesk/zendesk.ts';
import { createHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { serve } from '../../../standins/kit/server.ts';
import { signZendesk } from '../../../standins/zendesk/signature.ts';
import { createZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { fault, hookUrl, mailbox, posted } from '../../support/connectors/vendor-account.ts';
import { type ConnectorSample, connectorContract, customer, secrets } from '../../support/contract.ts';

/** As both vendors word their errors. */
const bodyOf = (words: string): object => ({
  error: words,
  message: words,
  description: words,
  details: { value: [words] },
});

const zendeskSample: ConnectorSample = {
  connector: zendesk,
  signatureHeaders: ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp'],
  missingId: '999999999',
  // One for the token, one for the names of the fields, one for the tickets; a write looks before and after, and at its job.
  callsFor100: { read: 3, writeBack: 7 },
  does: ['poll', 'no-answer', 'echo', 'check', 'setup', 'forget', 'replace'],
  keeps: ['notes'],
  planted: ['webhook', 'grade'],
  async start() {
    // The last minute is never in an export: time goes on by leaps.
    let aheadMs = 0;
    const now = () => new Date(Date.now() + aheadMs);
    const { fetch, taken, emptied } = mailbox(now);
    const standin = createZendeskStandin({ fetch, now, jobs: { queuedMs: 0, workingMs: 0 } });
    const server = await serve(standin.handle, { faults: standin.faults });
    standin.setWebhook({ url: hookUrl, secrets: [...secrets] });
    const grade = standin.addTicketField({ title: 'Grade', type: 'integer' }).id;
    const comment = standin.addTicketField({ title: 'Comment', type: 'textarea' }).id;
    const answeredAt = standin.addTicketField({ title: 'Answered', type: 'date' }).id;
    const assigneeId = standin.addUser({ name: 'Bob', role: 'agent' }).id;
    const requesterId = standin.addUser({ name: 'Hanna', email: customer.email }).id;
    const groupId = standin.addGroup({ name: 'Phone' }).id;
    return {
      settings: (secrets) => ({
        subdomain: 'acme',
        clientId: standin.credentials.clientId,
        clientSecret: standin.credentials.clientSecret,
        baseUrl: server.url,
        writeBack: { grade, comment, answeredAt, note: true, tags: true, noAnswer: true },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      // Jobs end before the first look; what they do is looked at, not how long it takes.
      ports: { sleep: () => standin.idle(), now },
      async closeRecord(secret) {
        standin.setWebhook({ url: hookUrl, secrets: [secret] });
        const { id } = standin.addTicket({ requesterId, assigneeId, groupId, subject: customer.comment });
        await standin.solve(id);
        return { recordId: String(id), delivery: taken() };
      },
      reopen: async (id) => void (await standin.reopen(Number(id))),
      closeAgain: async (id) => void (await standin.solve(Number(id))),
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
      gradeOn: (id) =>
        z
          .number()
          .nullable()
          .default(null)
          .parse(standin.ticket(Number(id)).fields[String(grade)]),
      traces(id) {
        const { tags, fields, audits, mails } = standin.ticket(Number(id));
        const notes = JSON.stringify(audits).match(/"plain_body":"[^"]*closeloop ref/g)?.length;
        const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
        return { tags, fields: filled, mails, notes };
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

const hubspotSample: ConnectorSample = {
  connector: hubspot,
  signatureHeaders: ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp'],
  missingId: 'ticket-999999999',
  // Two for the tickets with their history, one each for pipelines, associations, contacts and owners.
  callsFor100: { read: 6, writeBack: 1 },
  does: ['poll', 'no-answer', 'echo', 'erase', 'forget', 'replace'],
  async start() {
    const { fetch, taken, emptied } = mailbox();
    // Closings are told apart by their instants: a clock that never shows one twice.
    let clock = Date.now() - 3_600_000;
    const now = () => new Date(clock++);
    const standin = createHubspotStandin({ fetch, now });
    const server = await serve(standin.handle, { faults: standin.faults });
    for (const [name, kind] of [
      ['feedback_grade', 'number'],
      ['feedback_comment', 'string'],
      ['feedback_at', 'datetime'],
    ] as const) {
      standin.addProperty({ type: 'tickets', name, kind });
    }
    const options = ['answered', 'no_answer'];
    standin.addProperty({ type: 'tickets', name: 'feedback_status', kind: 'enumeration', options });
    const owner = standin.addOwner({});
    const contact = standin.addContact({ properties: { email: customer.email } }).id;
    const number = (id: string) => Number(id.replace('ticket-', ''));
    return {
      settings: (secrets) => ({
        accessToken: standin.accessToken,
        baseUrl: server.url,
        writeBack: {
          grade: 'feedback_grade',
          comment: 'feedback_comment',
          answeredAt: 'feedback_at',
          status: 'feedback_status',
          noAnswer: true,
        },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      ports: { now },
      async closeRecord(secret) {
        const properties = {
          subject: customer.comment,
          hs_pipeline: '0',
          hs_pipeline_stage: '1',
          hubspot_owner_id: owner.id,
        };
        standin.removeWebhook();
        const { id } = standin.addTicket({ properties, contacts: [contact] });
        standin.setWebhook({ url: hookUrl, secrets: [secret] });
        await standin.close(id);
        return { recordId: `ticket-${id}`, delivery: taken() };
      },
      reopen: async (id) => void (await standin.reopen(number(id))),
      closeAgain: async (id) => void (await standin.close(number(id))),
      async correctEmail(_id, email) {
        await standin.change({ type: 'contacts', id: contact, properties: { email } });
      },
      async replaceCustomer(recordId, email) {
        const ticket = { type: 'tickets', id: number(recordId) } as const;
        await standin.associate({ ...ticket, contactId: standin.addContact({ properties: { email } }).id });
        await standin.associate({ ...ticket, contactId: contact, remove: true });
      },
      sign(raw, secret) {
        const timestamp = String(Date.now());
        const hmac = createHmac('sha256', secret).update(`POST${hookUrl}`).update(raw).update(timestamp);
        return posted(raw, {
          'x-hubspot-signature-v3': hmac.digest('base64'),
          'x-hubspot-request-timestamp': timestamp,
        });
      },
      gradeOn: (id) => gradeIn(standin.ticket(number(id)).properties.feedback_grade),
      traces(id) {
        const { hs_lastmodifieddate: _, ...properties } = standin.ticket(number(id)).properties;
        return properties;
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, bodyOf(words))),
      calls: () => standin.totalCalls(),
      now,
      delivered: async () => emptied(),
      async erase(_id, secret) {
        standin.setWebhook({ url: hookUrl, secrets: [secret] });
        await standin.privacyDelete(contact);
        const told = emptied().find(({ raw }) => Buffer.from(raw).includes('privacyDeletion'));
        if (told === undefined) throw new Error('the stand-in told nobody');
        return told;
      },
      close: () => server.close(),
    };
  },
};

function gradeIn(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : Number(text);
}

for (const sample of [zendeskSample, hubspotSample]) {
  connectorContract(sample, { describe, test, beforeEach, afterEach });
}
