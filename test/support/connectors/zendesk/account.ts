import { afterEach } from 'vitest';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { Source, WriteBack, WriteResult } from '../../../../core/connector/contract.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { ZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import { answer as answerTo } from '../../contract/bench.ts';
import { type Recorded, testPorts } from './ports.ts';

const open: { close(): Promise<void> }[] = [];
export const closeAfterwards = (one: { close(): Promise<void> }): void => void open.push(one);
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

export const ids = { grade: 360001, comment: 360002, answeredAt: 360003, dropdown: 360004 };
export const everything = {
  grade: ids.grade,
  comment: ids.comment,
  answeredAt: ids.answeredAt,
  note: true,
  tags: true,
};

export interface Account {
  standin: ZendeskStandin;
  server: StandinServer;
  source: Source;
  seen: Recorded;
  customer: number;
  /** A solved ticket of a customer. */
  solved(more?: Partial<Parameters<ZendeskStandin['addTicket']>[0]>): number;
}

/** While a job of the stand-in waits, others are looked for again and again. */
const pollPause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

export async function account(
  writeBack: object = everything,
  options: ConstructorParameters<typeof ZendeskStandin>[0] = {},
): Promise<Account> {
  // Jobs end before the first look; what they do is looked at, not how long it takes.
  const standin = new ZendeskStandin({ jobs: { queuedMs: 0, workingMs: 0 }, ...options });
  const server = await serve(standin.handle, { faults: standin.faults });
  open.push(server);
  standin.addTicketField({ id: ids.grade, title: 'Grade', type: 'integer' });
  standin.addTicketField({ id: ids.comment, title: 'Comment', type: 'textarea' });
  standin.addTicketField({ id: ids.answeredAt, title: 'Answered', type: 'date' });
  standin.addTicketField({
    id: ids.dropdown,
    title: 'Score',
    type: 'tagger',
    options: [{ name: 'Nine', value: 'nine' }],
  });
  const agent = standin.addUser({ name: 'Bob', role: 'agent' }).id;
  const customer = standin.addUser({ name: 'Ann', email: 'ann@example.com', phone: '+3725550001' }).id;
  const group = standin.addGroup({ name: 'Phone' }).id;
  const { ports, seen } = testPorts({
    now: options.now ?? (() => new Date()),
    sleep: () => Promise.race([standin.idle(), pollPause()]),
  });
  const settings = {
    subdomain: 'acme',
    clientId: standin.credentials.clientId,
    clientSecret: standin.credentials.clientSecret,
    webhookSecrets: ['s'],
    baseUrl: server.url,
    writeBack,
  };
  return {
    standin,
    server,
    seen,
    customer,
    source: zendesk.open(settings, ports),
    solved: (more) =>
      standin.addTicket({ requesterId: customer, assigneeId: agent, groupId: group, status: 'solved', ...more }).id,
  };
}

export const answer = (recordId: number | string, more: Partial<WriteBack> = {}): WriteBack =>
  answerTo(String(recordId), {
    ...{ marker: `j${recordId}.1`, grade: 9, comment: 'Quick and kind' },
    answeredAt: new Date(Date.now() + 60_000),
    ...more,
  });

/** References of the internal and public comments that came after the description. */
export function notes(standin: ZendeskStandin, id: number): string[] {
  const found = JSON.stringify(standin.ticket(id).audits).match(/closeloop ref [\w.]+/g) ?? [];
  // Each comment shows its body thrice: body, html_body, plain_body.
  return found.filter((_, index) => index % 3 === 0);
}

export const written: WriteResult = { ok: true, findings: [] };

/** That nobody answered in time. */
export const noAnswer = (recordId: number): WriteBack =>
  answer(recordId, { status: 'no-answer', grade: null, comment: null });
