import { intercom } from '../../../../connectors/intercom/intercom.ts';
import { IntercomStandin } from '../../../../standins/intercom/standin.ts';
import { signIntercom } from '../../../../standins/intercom/webhooks.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { fault, hookUrl, leapingClock, mailbox, plantOneOf, posted, preflight } from '../vendor-account.ts';
import { allOn, attributes } from './workspace.ts';

/** A workspace whose app delivers here, and what brings each misconfiguration about. */
export const intercomSample: ConnectorSample = {
  connector: intercom,
  signatureHeaders: ['x-hub-signature'],
  missingId: '999999999',
  // Fifteen in a search. Planning needs the contacts, and once who works there; a write has a search before, and a note after.
  callsFor100: { read: 7 + 1 + 3, writeBack: 7 + 200 },
  does: ['poll', 'check', 'setup', 'no-answer', 'echo', 'erase', 'forget', 'replace'],
  pollPage: 150,
  lacks: { dropdown: 'no answer goes into an attribute that is a list: check refuses it' },
  acts: [
    {
      name: 'reopen',
      params: { team: 'Escalations', assignee: 'mara@standin.example' },
      amiss: [{ team: 'Nobody' }, { assignee: 'nobody@standin.example' }],
    },
    {
      name: 'assign',
      params: { team: 'Escalations', assignee: 'mara@standin.example' },
      amiss: [{ team: 'Nobody' }, { assignee: 'nobody@standin.example' }],
    },
  ],
  planted: [
    'a wrong token',
    'another region',
    'no admin',
    'an attribute is missing',
    'an attribute is there twice',
    'no right to tickets',
  ],
  async start() {
    const { now, atOnce } = leapingClock();
    const { fetch, taken, emptied } = mailbox();
    const standin = new IntercomStandin({ now, fetch });
    const server = await serve(standin.handle, { faults: standin.faults });
    const addAttributes = ({ deaf }: { deaf?: string } = {}): void => {
      for (const [name, dataType] of attributes) {
        for (const type of [undefined, 'Support request'])
          standin.addAttribute({ name, dataType, ...(type && { type }), ...(name === deaf && { deaf: true }) });
      }
    };
    addAttributes();
    standin.addTeam({ id: 991, name: 'Escalations' });
    const contact = standin.addContact({ email: customer.email, name: 'Hanna' }).id;
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      standin.setWebhook({ url: hookUrl, secret });
      const { id } = standin.addConversation({ contacts: [contact], subject: customer.comment });
      await standin.close({ id });
      return { recordId: id, delivery: taken() };
    };
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
      closeRecord,
      closeAtOnce: (count) => atOnce(count, () => closeRecord(secrets[0])),
      reopen: (id) => standin.reopen({ id }),
      async closeAgain(id, secret) {
        standin.setWebhook({ url: hookUrl, secret });
        await standin.close({ id });
        return taken();
      },
      correctEmail: (_id, email) => standin.changeContact({ id: contact, email }),
      replaceCustomer: (id, email) => standin.replaceContact({ id, contact: standin.addContact({ email }).id }),
      sign: (raw, secret) => posted(raw, { 'x-hub-signature': signIntercom(secret, raw) }),
      gradeOn(id) {
        const grade = standin.conversation(id).values['Feedback grade'];
        return typeof grade === 'number' ? grade : null;
      },
      commentOn: (id) => textOf(standin.conversation(id).values['Feedback comment']),
      notesOn: (id) =>
        standin
          .conversation(id)
          .parts.map(({ type, body }) => ({ text: body ?? '', isHtml: true, isPublic: type === 'comment' })),
      async swallow() {
        standin.removeAttributes();
        addAttributes({ deaf: 'Feedback grade' });
      },
      async lock(id) {
        const body = { type: 'error.list', errors: [{ code: 'parameter_invalid', message: 'no' }] };
        standin.faults.add({ method: 'PUT', path: id, times: 1_000, status: 400, body });
      },
      traces(id) {
        const { values, notes, state, admin, team, tags, parts } = standin.conversation(id);
        const told = parts.filter(({ type }) => type === 'comment').map(({ body }) => body);
        return { values, notes, state, admin, team, tags, told };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, bodyOf(words))),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
      preflight: () => preflight,
      strip: async () => standin.removeAttributes(),
      async delivered() {
        await standin.idle();
        return emptied();
      },
      async erase(_id, secret) {
        standin.setWebhook({ url: hookUrl, secret });
        await standin.deleteContact({ id: contact });
        return taken();
      },
      async plant(what) {
        const plants: Readonly<Record<string, () => unknown>> = {
          'a wrong token': () => standin.faults.add({ times: 1_000, ...unauthorised }),
          'another region': () => standin.changeSettings({ region: 'EU' }),
          'no admin': () => standin.removeAdmin(standin.serviceAdminId),
          'an attribute is missing': () => standin.removeAttributes(),
          'an attribute is there twice': () => standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' }),
          'no right to tickets': () => standin.changeSettings({ refuses: ['tickets'] }),
        };
        await plantOneOf(plants, what);
      },
    };
  },
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const unauthorised = {
  status: 401,
  body: { type: 'error.list', errors: [{ code: 'unauthorized', message: 'Access Token Invalid' }] },
};

/** As the vendor words its errors. */
const bodyOf = (words: string): object => ({
  type: 'error.list',
  request_id: null,
  errors: [{ code: words, message: words }],
});
