import { createHash } from 'node:crypto';
import { eventReader } from '../../../../connectors/webhook/events.ts';
import { settings as schema } from '../../../../connectors/webhook/settings.ts';
import { webhook } from '../../../../connectors/webhook/webhook.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { signStandardWebhook } from '../../../../core/connector/standard-webhook.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { JobboardStandin } from '../../../../standins/webhook/standin.ts';
import { memorySnapshots } from '../../contract/memory-snapshots.ts';
import { type ConnectorSample, customer } from '../../contract/sample.ts';
import { fault, hookUrl, mailbox, posted } from '../vendor-account.ts';

/** The suite's secrets are words; this scheme's are random bytes. Nothing, and blanks, stay what they are. */
const whsec = (text: string): string =>
  text.trim() === '' ? text : `whsec_${createHash('sha256').update(text).digest('base64')}`;

/** How the job board's events are read. */
export const jobEvents = {
  record: 'data.job.id',
  closed: 'type = "job.done" or type = "job.updated" and data.job.status = "done"',
  changed: 'type = "job.reopened"',
  closedAt: 'data.job.doneAt',
  person: 'data.customer.id',
  shape: 'data',
  graded: { when: 'type = "job.rated"', grade: 'data.stars', comment: 'data.words' },
  erase: { when: 'type = "customer.forget"', contacts: '[data.customer.email, data.customer.phone]' },
  survey: {},
};

/** A job board that nobody wrote a connector for. */
export const webhookSample: ConnectorSample = {
  connector: webhook,
  signatureHeaders: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
  missingId: '999999999',
  callsFor100: { read: 0, writeBack: 100 },
  does: ['no-answer', 'echo', 'erase', 'forget', 'replace'],
  goesStale: true,
  lacks: {
    notes: 'the receiver makes of an answer what it likes',
    swallow: 'the receiver is asked to take answers, and never to show them',
    dropdown: 'the receiver refuses what it can not hold',
    lock: 'the receiver refuses what it can not hold',
    newer: 'the receiver gets every answer with its time, and compares those itself',
  },
  // How many answers it has taken.
  keeps: ['taken'],
  async start() {
    let clock = Date.now() - 60_000;
    const now = (): Date => new Date(clock++);
    const snapshots = memorySnapshots();
    const { fetch, emptied } = mailbox();
    const standin = new JobboardStandin({ fetch });
    const server = await serve(standin.handle, { faults: standin.faults });
    const settings = (secrets?: readonly string[]) => ({
      signature: { kind: 'standard', ...(secrets && { secrets: secrets.map(whsec) }) },
      event: jobEvents,
      writeBack: {
        url: `${server.url}/answers`,
        secrets: [standin.answerSecret],
        allowPrivate: true,
        noAnswer: true,
      },
    });
    /** Keeps the snapshots that the deliveries carry, as the worker does. */
    const read = eventReader(schema.parse(settings(['first-secret'])), (recordId) => recordId);
    const told: Delivery[] = [];
    const hear = async (): Promise<Delivery[]> => {
      const heard = emptied();
      for (const delivery of heard) {
        const events = await read(delivery);
        if (events.ok) snapshots.hear(events.events);
      }
      told.push(...heard);
      return heard;
    };
    const last = async (): Promise<Delivery> => {
      const delivery = (await hear()).at(-1);
      if (delivery === undefined) throw new Error('the stand-in delivered nothing');
      return delivery;
    };
    return {
      settings,
      ports: { snapshots },
      now,
      async closeRecord(secret) {
        standin.setHook({ url: hookUrl, secret: whsec(secret) });
        const { id } = standin.addJob({ title: customer.comment, customer: { email: customer.email } });
        await standin.finish(id);
        return { recordId: id, delivery: await last() };
      },
      async reopen(id) {
        await standin.reopen(id);
        await hear();
      },
      async closeAgain(id, secret) {
        standin.setHook({ url: hookUrl, secret: whsec(secret) });
        await new Promise((done) => setTimeout(done, 2));
        await standin.finish(id);
        return await last();
      },
      async correctEmail(id, email) {
        await standin.change({ id, customer: { email } });
        await hear();
      },
      async replaceCustomer(id, email) {
        await standin.change({ id, customer: { id: 'another', email } });
        await hear();
      },
      sign(raw, secret) {
        const signed = signStandardWebhook({ id: 'msg_by_hand', at: new Date(), body: raw }, [whsec(secret)]);
        return posted(raw, signed);
      },
      gradeOn: (id) => standin.job(id).feedback?.grade ?? null,
      commentOn: (id) => standin.job(id).feedback?.comment ?? null,
      traces: (id) => standin.job(id),
      breakVendor: (how, words) => standin.faults.add(fault(how, words, { error: words })),
      calls: () => standin.totalCalls(),
      async delivered() {
        await standin.idle();
        await hear();
        return told.splice(0);
      },
      async erase(id) {
        await hear();
        await standin.forget(id);
        return await last();
      },
      close: () => server.close(),
    };
  },
};
