import { createHmac } from 'node:crypto';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { HubspotStandin } from '../../../../standins/hubspot/standin.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { bodyOf, fault, hookUrl, leapingClock, mailbox, posted } from '../vendor-account.ts';

/** An account whose app delivers here. */
export const hubspotSample: ConnectorSample = {
  connector: hubspot,
  signatureHeaders: ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp'],
  missingId: 'ticket-999999999',
  // A write needs one for the answers, and for the notes one to look for any and one to add them.
  // Two for the tickets with their history, one each for pipelines, associations, contacts and owners.
  callsFor100: { read: 6, writeBack: 3 },
  does: ['poll', 'no-answer', 'echo', 'erase', 'forget', 'replace'],
  goesStale: true,
  acts: [
    {
      name: 'reopen',
      params: { stage: 'Waiting on us', owner: 'agent@example.com' },
      amiss: [
        { stage: 'Nowhere' },
        { stage: 'Closed' },
        { stage: '1', pipeline: 'No such' },
        { stage: '1', owner: 'nobody@example.com' },
      ],
    },
    {
      name: 'task',
      params: { title: 'Call back', text: 'Within <4h>', due: '4h', priority: 'high' },
      amiss: [{ owner: 'nobody@example.com' }],
    },
    {
      name: 'set',
      params: { feedback_calls: 2, hs_ticket_priority: 'HIGH' },
      amiss: [
        { no_such: 'x' },
        { feedback_calls: 'two' },
        { feedback_grade: 1 },
        { hs_pipeline_stage: '1' },
        { hs_ticket_priority: 'Huge' },
      ],
    },
  ],
  pollPage: 200,
  lacks: {
    swallow: 'what HubSpot does not keep it refuses',
    lock: 'a rule of the account refuses: write-back.test.ts',
  },
  async start() {
    const { fetch, taken, emptied } = mailbox();
    // Closings are told apart by their instants.
    const { now, atOnce } = leapingClock(1);
    const standin = new HubspotStandin({ fetch, now });
    const server = await serve(standin.handle, { faults: standin.faults });
    for (const [name, kind] of [
      ['feedback_grade', 'number'],
      ['feedback_comment', 'string'],
      ['feedback_at', 'datetime'],
      ['feedback_calls', 'number'],
    ] as const) {
      standin.addProperty({ type: 'tickets', name, kind });
    }
    const options = ['answered', 'no_answer'];
    standin.addProperty({ type: 'tickets', name: 'feedback_status', kind: 'enumeration', options });
    const owner = standin.addOwner({});
    const contact = standin.addContact({ properties: { email: customer.email } }).id;
    const number = (id: string) => Number(id.replace('ticket-', ''));
    const close = async (id: number, secret: string): Promise<Delivery> => {
      standin.setWebhook({ url: hookUrl, secrets: [secret] });
      await standin.close(id);
      return taken();
    };
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      const subject = customer.comment;
      const properties = { subject, hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner.id };
      standin.removeWebhook();
      const { id } = standin.addTicket({ properties, contacts: [contact] });
      return { recordId: `ticket-${id}`, delivery: await close(id, secret) };
    };
    /** But for the moment by which each has to be done. */
    const tasksOn = (id: number) => standin.tasksOn('tickets', id).map(({ hs_timestamp: _, ...task }) => task);
    let grade = 'feedback_grade';
    return {
      settings: (secrets) => ({
        accessToken: standin.accessToken,
        baseUrl: server.url,
        writeBack: {
          grade,
          comment: 'feedback_comment',
          answeredAt: 'feedback_at',
          status: 'feedback_status',
          note: true,
          noAnswer: true,
        },
        ...(secrets && { webhookSecrets: secrets }),
      }),
      ports: { now },
      closeRecord,
      closeAtOnce: (count) => atOnce(count, () => closeRecord(secrets[0])),
      reopen: async (id) => void (await standin.reopen(number(id))),
      closeAgain: (id, secret) => close(number(id), secret),
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
      gradeOn: (id) => gradeIn(standin.ticket(number(id)).properties[grade]),
      commentOn: (id) => standin.ticket(number(id)).properties.feedback_comment ?? null,
      notesOn: (id) => standin.notesOn('tickets', number(id)).map((text) => ({ text, isHtml: true, isPublic: false })),
      async dropdown(grades) {
        grade = 'feedback_choice';
        standin.addProperty({ type: 'tickets', name: grade, kind: 'enumeration', options: grades.map(String) });
      },
      traces(id) {
        const { hs_lastmodifieddate: _, ...properties } = standin.ticket(number(id)).properties;
        // A note for each version of an answer is right, whichever comes first: note.test.ts.
        const notes = standin.notesOn('tickets', number(id)).filter((text) => !text.includes('Customer feedback'));
        return { ...properties, notes, tasks: tasksOn(number(id)) };
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
