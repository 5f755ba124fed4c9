import { freshdesk } from '../../../../connectors/freshdesk/freshdesk.ts';
import { FreshdeskStandin } from '../../../../standins/freshdesk/standin.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { type ConnectorSample, customer, secrets, type Vendor } from '../../contract/sample.ts';
import { fault, hookUrl, leapingClock, mailbox, plantOneOf, posted, preflight } from '../vendor-account.ts';
import { answerFields, places } from './account.ts';

const header = 'x-closeloop-secret';

/** An account whose rules deliver here, and what brings each misconfiguration about. */
export const freshdeskSample: ConnectorSample = {
  connector: freshdesk,
  signatureHeaders: [header],
  signs: 'nothing',
  pollPage: 100,
  missingId: '999999999',
  // No read by ids; agents and groups once. A write has a read before, and a note after; the fields once.
  callsFor100: { read: 102, writeBack: 301 },
  acts: [
    {
      name: 'reopen',
      params: { group: 'Escalations', priority: 'high' },
      amiss: [{ group: 'Nobody' }, { agent: 'Nobody' }, { status: 5 }],
    },
    {
      name: 'set',
      params: { cf_handled: 'yes' },
      amiss: [{ cf_nothing: 'x' }, { cf_handled: 'perhaps' }, { [places.grade]: 1 }],
    },
  ],
  does: ['poll', 'check', 'setup', 'no-answer', 'echo', 'forget', 'replace'],
  planted: [
    'a wrong key',
    'an account that is suspended',
    'no rules',
    'a rule that is switched off',
    'a rule that names a field that is gone',
    'a rule with another address',
    'a rule without a secret',
    'a rule with another secret',
    'a field is missing',
    'a field of another type',
    'a status that is gone',
    'no administrator',
  ],
  async start() {
    const { now, atOnce } = leapingClock();
    const { fetch, taken, emptied } = mailbox();
    const standin = new FreshdeskStandin({ now, fetch });
    const server = await serve(standin.handle, { faults: standin.faults });
    for (const field of answerFields) standin.addField(field);
    standin.addGroup({ name: 'Escalations' });
    standin.addField({ name: 'cf_handled', type: 'custom_dropdown', choices: ['yes', 'no'] });
    const person = standin.addContact({ email: customer.email, name: 'Hanna' }).id;
    const deliverTo = (secret: string) => standin.setWebhook({ url: hookUrl, secret });
    deliverTo(secrets[0]);
    const changeRule = (changes: object) => {
      const { id = 0 } = [...standin.rules.all.values()][0] ?? {};
      standin.changeRule({ id, ...changes });
    };
    const resolve = async (id: number, secret: string) => {
      deliverTo(secret);
      await standin.resolve(id);
      return taken();
    };
    const closeRecord: Vendor['closeRecord'] = async (secret) => {
      const { id } = standin.addTicket({ requesterId: person, subject: customer.comment });
      return { recordId: String(id), delivery: await resolve(id, secret) };
    };
    return {
      settings: (given) => ({
        subdomain: 'acme',
        baseUrl: server.url,
        apiKey: standin.apiKey,
        setupKey: standin.adminKey,
        writeBack: { ...places, note: true, tags: true, noAnswer: true },
        ...(given && { webhookSecrets: given }),
      }),
      ports: { now },
      now,
      closeRecord,
      closeAtOnce: (count) => atOnce(count, () => closeRecord(secrets[0])),
      reopen: async (id) => void (await standin.reopen(Number(id))),
      closeAgain: (id, secret) => resolve(Number(id), secret),
      correctEmail: async (_id, email) => void standin.changeContact({ id: person, email }),
      async replaceCustomer(id, email) {
        standin.changeTicket({ id: Number(id), requesterId: standin.addContact({ email, name: 'Other' }).id });
      },
      sign: (raw, secret) => posted(raw, { [header]: secret }),
      gradeOn: (id) => {
        const grade = standin.ticket(Number(id)).values[places.grade];
        return grade === null || grade === undefined ? null : Number(grade);
      },
      commentOn: (id) => {
        const comment = standin.ticket(Number(id)).values[places.comment];
        return typeof comment === 'string' ? comment : null;
      },
      notesOn: (id) =>
        standin
          .ticket(Number(id))
          .conversations.map(({ body: text, isPrivate }) => ({ text, isHtml: true, isPublic: !isPrivate })),
      async swallow(id) {
        standin.faults.add({
          method: 'PUT',
          path: `/tickets/${id}$`,
          status: 200,
          body: { id: Number(id), status: 4 },
        });
      },
      async dropdown(grades) {
        standin.addField({ name: places.grade, type: 'custom_dropdown', choices: grades.map(String) });
      },
      lock: async (id) => void standin.changeTicket({ id: Number(id), is: 'archived' }),
      traces(id) {
        const { values, conversations, tags, mails, status } = standin.ticket(Number(id));
        const full = Object.entries(values).filter(([, value]) => value !== null);
        const notes = conversations.map(({ body, isPrivate }) => ({ body, isPrivate }));
        return { values: Object.fromEntries(full), notes, tags, mails, status };
      },
      breakVendor: (how, words) => standin.faults.add(fault(how, words, { code: words, message: words })),
      calls: () => standin.totalCalls(),
      close: () => server.close(),
      preflight: () => preflight,
      async strip() {
        standin.rules.all.clear();
        for (const { name } of answerFields) standin.removeField({ name });
      },
      async delivered() {
        await standin.idle();
        return emptied();
      },
      async plant(what) {
        const unauthorised = {
          status: 401,
          body: { code: 'invalid_credentials', message: 'You have to be logged in.' },
        };
        const [admin] = [...standin.agents.values()].filter(({ isAdmin }) => isAdmin);
        const plants: Readonly<Record<string, () => unknown>> = {
          'a wrong key': () => standin.faults.add({ times: 1_000, ...unauthorised }),
          'an account that is suspended': () => standin.changeSettings({ suspended: true }),
          'no rules': () => standin.rules.all.clear(),
          'a rule that is switched off': () => changeRule({ active: false }),
          'a rule that names a field that is gone': () => changeRule({ outdated: true }),
          'a rule with another address': () => changeRule({ url: 'https://old.example/hooks' }),
          'a rule without a secret': () => changeRule({ secret: null }),
          'a rule with another secret': () => changeRule({ secret: 'one of before' }),
          'a field is missing': () => standin.removeField({ name: places.grade }),
          'a field of another type': () => standin.addField({ name: places.grade, type: 'custom_checkbox' }),
          'a status that is gone': () => standin.changeSettings({ statuses: { 2: 'Open', 5: 'Closed' } }),
          'no administrator': () => standin.changeAgent({ id: admin?.id ?? 0, isAdmin: false }),
        };
        await plantOneOf(plants, what);
      },
    };
  },
};
