import { intercom } from '../../../../connectors/intercom/intercom.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { signIntercom } from '../../../../standins/intercom/signature.ts';
import { createIntercomStandin } from '../../../../standins/intercom/standin.ts';
import type { Fault } from '../../../../standins/kit/faults.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { type Breakage, type ConnectorSample, customer } from '../../contract/sample.ts';
import { allOn, attributes } from './workspace.ts';

const hookUrl = 'https://closeloop.example/hooks/contract';

/** A workspace whose app delivers here, and what brings each misconfiguration about. */
export const intercomSample: ConnectorSample = {
  connector: intercom,
  signatureHeaders: ['x-hub-signature'],
  missingId: '999999999',
  // Fifteen in a search. Planning needs the contacts, and once who works there; a write has a search before, and a note after.
  callsFor100: { plan: 7 + 1 + 3, ask: 7, writeBack: 7 + 200 },
  does: ['poll', 'check', 'setup', 'no-answer', 'echo', 'erase', 'forget'],
  planted: [
    'a wrong token',
    'another region',
    'no admin',
    'an attribute is missing',
    'an attribute is there twice',
    'no right to tickets',
  ],
  async start() {
    // Whole seconds, and never one twice: Intercom tells less apart by nothing.
    let clock = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const now = (): Date => {
      clock += 1_000;
      return new Date(clock);
    };
    const box: Delivery[] = [];
    const standin = createIntercomStandin({
      now,
      async fetch(input, init) {
        const { url, method, headers } = new Request(input, init);
        const raw = new Uint8Array(Buffer.from(String(init?.body)));
        box.push({ url, method, headers: Object.fromEntries(headers), raw, receivedAt: new Date() });
        return new Response();
      },
    });
    const server = await serve(standin.handle, { faults: standin.faults });
    const addAttributes = (): void => {
      for (const [name, dataType] of attributes) {
        for (const type of [undefined, 'Support request'])
          standin.addAttribute({ name, dataType, ...(type && { type }) });
      }
    };
    addAttributes();
    const contact = standin.addContact({ email: customer.email, name: 'Hanna' }).id;
    return {
      settings: (secrets) => ({
        workspace: standin.appId,
        accessToken: standin.accessToken,
        adminId: standin.serviceAdminId,
        webhookUrl: hookUrl,
        baseUrl: server.url,
        writeBack: allOn,
        ...(secrets && { webhookSecrets: secrets }),
      }),
      ports: { now },
      now,
      async closeRecord(secret) {
        standin.setWebhook({ url: hookUrl, secret });
        const { id } = standin.addConversation({ contacts: [contact], subject: customer.comment });
        await standin.close({ id });
        const delivery = box.at(-1);
        if (delivery === undefined) throw new Error('the stand-in delivered nothing');
        return { recordId: id, delivery };
      },
      reopen: (id) => standin.reopen({ id }),
      closeAgain: (id) => standin.close({ id }),
      sign: (raw, secret) => ({
        method: 'POST',
        url: hookUrl,
        headers: { 'x-hub-signature': signIntercom(secret, raw) },
        raw,
        receivedAt: new Date(),
      }),
      gradeOn(id) {
        const grade = standin.conversation(id).values['Feedback grade'];
        return typeof grade === 'number' ? grade : null;
      },
      traces(id) {
        const { values, notes, state } = standin.conversation(id);
        return { values, notes, state };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words)),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
      preflight: () => ({ hookUrl, grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 14 * 86_400_000 }),
      strip: async () => standin.removeAttributes(),
      async delivered() {
        await standin.idle();
        return box.splice(0);
      },
      async erase(_id, secret) {
        standin.setWebhook({ url: hookUrl, secret });
        await standin.deleteContact({ id: contact });
        const told = box.at(-1);
        if (told === undefined) throw new Error('the stand-in told nobody');
        return told;
      },
      async plant(what) {
        const plants: Readonly<Record<string, () => unknown>> = {
          'a wrong token': () => standin.faults.add({ times: 1_000, ...unauthorised }),
          'another region': () => standin.changeSettings({ region: 'EU' }),
          'no admin': () => standin.removeAdmin(standin.serviceAdminId),
          'an attribute is missing': () => standin.removeAttributes(),
          'an attribute is there twice': () => standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' }),
          'no right to tickets': () => standin.changeSettings({ lacks: ['tickets'] }),
        };
        const act = plants[what];
        if (act === undefined) throw new Error(`nobody knows how to plant "${what}"`);
        act();
      },
    };
  },
};

const unauthorised = {
  status: 401,
  body: { type: 'error.list', errors: [{ code: 'unauthorized', message: 'Access Token Invalid' }] },
};

/** On every call from now on. */
function fault(how: Breakage, words: string): Fault {
  const always = { times: 1_000 };
  const body = { type: 'error.list', request_id: null, errors: [{ code: words, message: words }] };
  switch (how) {
    case '401':
      return { ...always, status: 401, body };
    case '429':
      return { ...always, status: 429, headers: { 'retry-after': '7' }, body };
    case '500':
      return { ...always, status: 500, body };
    case 'html':
      return { ...always, status: 200, headers: { 'content-type': 'text/html' }, body: `<html>${words}</html>` };
    case 'silent':
      return { ...always, delayMs: 3_600_000 };
  }
}
