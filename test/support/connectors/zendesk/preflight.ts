import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { PreflightContext, Source } from '../../../../core/connector/contract.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { ZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import { testPorts } from './ports.ts';

export const day = 86_400_000;
export const hookUrl = 'http://127.0.0.1:9/hooks/support';
export const secret = 'the-webhook-secret';
export const grades = [1, 2, 3, 4, 5];

/** Ids of the ticket fields of `openAccount`. */
export const ids = { grade: 360001, comment: 360002, answeredAt: 360003, status: 360004, store: 360005, plain: 360006 };

export const writeBack = {
  grade: ids.grade,
  comment: ids.comment,
  answeredAt: ids.answeredAt,
  status: ids.status,
  tags: true,
  userFields: { grade: 'last_grade' },
  whenClosed: ['userFields', 'customObject'],
  customObject: { object: 'feedback', grade: 'grade', ticket: 'ticket' },
};

export const about: PreflightContext = {
  hookUrl,
  grades,
  reads: [
    { at: 'rules[0].when', path: ['ticket', 'fields', 'store'] },
    { at: 'rules[0].when', path: ['ticket', 'group', 'name'] },
    { at: 'rules[0].fields.Store', path: ['ticket', 'labels', 'store'] },
    { at: 'rules[0].fields.Plain', path: ['ticket', 'fields', String(ids.plain)] },
    { at: 'rules[0].fields.Tier', path: ['requester', 'fields', 'tier'] },
  ],
  answersWithinMs: 3 * day,
};

export interface Account extends StandinServer {
  standin: ZendeskStandin;
  /** `fetch`: how calls get to the stand-in, where not by its address. */
  open(settings?: object, fetch?: typeof globalThis.fetch): Source;
}

/** An account in which everything is as it should be for `writeBack` and `about`; the webhook apart. */
export async function openAccount(): Promise<Account> {
  const standin = new ZendeskStandin();
  const server = await serve(standin.handle, { faults: standin.faults });
  const options = grades.map((grade) => ({ name: `${grade} stars`, value: String(grade) }));
  standin.addTicketField({ id: ids.grade, title: 'Grade', type: 'tagger', options });
  standin.addTicketField({ id: ids.comment, title: 'Comment', type: 'textarea' });
  standin.addTicketField({ id: ids.answeredAt, title: 'Answered', type: 'date' });
  standin.addTicketField({ id: ids.status, title: 'State', type: 'text' });
  const stores = [{ name: 'Tartu', value: 'store_tartu' }];
  standin.addTicketField({ id: ids.store, title: 'Store', type: 'tagger', options: stores });
  standin.addTicketField({ id: ids.plain, title: 'Plain', type: 'text' });
  standin.addUserField({ key: 'last_grade', type: 'integer' });
  standin.addUserField({ key: 'tier', type: 'text' });
  standin.addCustomObject({
    key: 'feedback',
    fields: [
      { key: 'grade', type: 'integer' },
      { key: 'ticket', type: 'text' },
    ],
  });
  const { clientId, clientSecret } = standin.credentials;
  const settings = { subdomain: 'acme', webhookSecrets: [secret], baseUrl: server.url, writeBack };
  const open: Account['open'] = (more = {}, fetch = globalThis.fetch) => {
    const credentials = 'apiToken' in more ? {} : { clientId, clientSecret };
    const { ports } = testPorts({ now: () => new Date(), fetch });
    return zendesk.open({ ...settings, ...credentials, ...more }, ports);
  };
  return { ...server, standin, open };
}
