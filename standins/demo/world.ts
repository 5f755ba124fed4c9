import { startFeedbackStandin } from '../feedback/standin.ts';
import { startZendeskStandin } from '../zendesk/standin.ts';
import { agents, campaigns, caseOf, customerOf, type PastCase, pastCases, stores } from './people.ts';
import { type Scenario, scenarios } from './scenarios.ts';

export const timeZone = 'Europe/Tallinn';
const secret = 'the-demo-signs-with-this';
const fields = { grade: 360001, comment: 360002, answeredAt: 360003, store: 360004 };
const hour = 3_600_000;

/** The world around closeloop: a help desk where tickets close, the Feedback service, and customers who answer. */
export interface DemoWorld {
  /** closeloop's configuration for this world. */
  config: string;
  pointWebhooksAt(url: string): void;
  /**
   * Does what is due by the clock: tickets close and reopen, customers answer. A ticket is reopened only once its
   * journey waits, however slow the machine.
   */
  live(isWaiting: (ticket: number) => Promise<boolean>): Promise<void>;
  /** One more ticket, which closes at once; its customer answers within hours. */
  addCaller(): void;
  /** Weeks in which customers were asked before the demo begins: at the service now, each with its feedback request. */
  past(): { past: PastCase; requestId: string }[];
  /** An agent solves this ticket, if it is open. */
  solve(ticket: number): void;
  /** What an answer has put on a ticket; undefined for a ticket without a grade. */
  answerOn(ticket: number): TicketAnswer | undefined;
  /** What answers have put on tickets, of every ticket that has a grade. */
  answers(): ({ ticket: number } & TicketAnswer)[];
  requests(): number;
  close(): Promise<void>;
}

export interface TicketAnswer {
  grade: number;
  comment: string | undefined;
}

interface Plan {
  at: Date;
  act: () => void;
  /** Only when the journey of this ticket waits. */
  whenWaiting?: number;
  /** Only once the customer of this ticket was asked. */
  onceAsked?: number | undefined;
}

/** `now`: the demo's clock. */
export async function openDemoWorld(now: () => Date): Promise<DemoWorld> {
  const begin = now();
  const feedback = await startFeedbackStandin({ now, timeZone });
  const desk = await startZendeskStandin({ now });
  let plans: Plan[] = [];
  /** Answers wait until the service has sent the request. */
  let answers: { contact: string; scenario: Scenario; given: number }[] = [];

  feedback.standin.addAccount({ name: 'acme', timeZone });
  feedback.standin.addKey({ account: 'acme', key: 'demo-key' });
  for (const { id, name, metric } of campaigns) {
    feedback.standin.addCampaign({
      ...{ account: 'acme', id, name, metric, type: 'mixed' },
      ...{ sendFrom: '09:00:00', sendUntil: '20:00:00', sendDelay: 120 },
      customFields: [
        { name: 'Store', fieldType: 'Choice', choices: [...stores], required: true },
        { name: 'Agent' },
        { name: 'closeloop', showInReport: false },
      ],
    });
  }
  // The service does its work, and the answer is lost: the customer must not be asked again because of that.
  feedback.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'work-then-cut' });

  for (const { id, name } of agents)
    desk.standin.addUser({ id, name, email: `agent-${id}@acme.example`, role: 'agent' });
  for (const { group } of campaigns) desk.standin.addGroup(group);
  desk.standin.addTicketField({ id: fields.grade, title: 'Feedback grade', type: 'integer' });
  desk.standin.addTicketField({ id: fields.comment, title: 'Feedback comment', type: 'textarea' });
  desk.standin.addTicketField({ id: fields.answeredAt, title: 'Feedback date', type: 'date' });
  desk.standin.addTicketField({ id: fields.store, title: 'Store', type: 'text' });

  const tickets: number[] = [];
  function open(scenario: Scenario): void {
    const { customer, ticket, tags = [] } = scenario;
    tickets.push(ticket);
    const user = desk.standin.addUser({
      name: customer.name,
      email: customer.email ?? null,
      phone: customer.phone ?? null,
      role: customer.agent ? 'agent' : 'end-user',
      ianaTimeZone: timeZone,
    });
    desk.standin.addTicket({
      id: ticket,
      requesterId: user.id,
      assigneeId: scenario.agent ?? agents[0].id,
      groupId: scenario.group ?? campaigns[0].group.id,
      tags,
      customFields: { [fields.store]: scenario.store },
    });
    const contact = customer.phone ?? customer.email;
    if (scenario.answers && contact !== undefined) answers.push({ contact, scenario, given: 0 });
  }

  function plan(hours: number, act: () => void, more: Pick<Plan, 'whenWaiting' | 'onceAsked'> = {}): void {
    plans.push({ at: new Date(begin.getTime() + hours * hour), act, ...more });
  }

  const isAsked = (ticket: number | undefined) => {
    const { phone, email } = scenarios.find((one) => one.ticket === ticket)?.customer ?? {};
    const contact = phone ?? email;
    return contact === undefined || feedback.standin.requests({ contact }).length > 0;
  };

  const hoursNow = () => (now().getTime() - begin.getTime()) / hour;

  for (const scenario of scenarios) {
    open(scenario);
    const solve = () => {
      desk.standin.solve(scenario.ticket);
      if (scenario.twice)
        void desk.standin.fireWebhook({ id: scenario.ticket, event: { current: 'SOLVED', previous: 'OPEN' } });
    };
    plan(scenario.solvedAt, solve, { onceAsked: scenario.solvedAfterAsking });
    const { ticket, reopenedAt, solvedAgainAt } = scenario;
    if (reopenedAt === undefined || solvedAgainAt === undefined) continue;
    plan(
      reopenedAt,
      () => {
        void desk.standin.reopen(ticket);
        plan(hoursNow() + solvedAgainAt - reopenedAt, () => void desk.standin.solve(ticket));
      },
      { whenWaiting: ticket },
    );
  }

  function answerOn(ticket: number): TicketAnswer | undefined {
    const on = desk.standin.ticket(ticket).fields;
    const [grade, comment] = [on[String(fields.grade)], on[String(fields.comment)]];
    if (grade === null || grade === undefined) return undefined;
    return { grade: Number(grade), comment: typeof comment === 'string' ? comment : undefined };
  }

  let callers = 0;
  let made = 0;
  return {
    config: `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: ${timeZone} }
http: { port: 0 }
collect: { every: 10m }
expireAfter: 24h
sources:
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: ${desk.standin.credentials.clientId}
    clientSecret: ${desk.standin.credentials.clientSecret}
    webhookSecrets: ["${secret}"]
    rules:
${campaigns
  .map(
    ({ id, group }) => `      - name: ${group.name.toLowerCase()} team
        when: ticket.group.name = "${group.name}" and $not("no_survey" in ticket.tags)
        campaign: ${id}
        contact: [requester.phone, requester.email]
        fields: { Store: ticket.fields.store, Agent: assignee.name }
        throttle: 15h
        again: each closing`,
  )
  .join('\n')}
    answers:
      - name: unhappy
        when: answer.grade <= answer.maxGrade * 0.4
        settle: 30m
        do:
          - reopen: { status: open, priority: high }
          - tag: [unhappy]
          - followUp: { to: agent, due: 1d }
    writeBack: { grade: ${fields.grade}, comment: ${fields.comment}, answeredAt: ${fields.answeredAt}, note: true, tags: true }
`,
    pointWebhooksAt: (url) => desk.standin.setWebhook({ url, secrets: [secret] }),
    async live(isWaiting) {
      const at = now();
      const due = plans.filter((one) => one.at <= at).sort((a, b) => a.at.getTime() - b.at.getTime());
      plans = plans.filter((one) => one.at > at);
      for (const one of due) {
        const { whenWaiting, onceAsked } = one;
        const isReady = (whenWaiting === undefined || (await isWaiting(whenWaiting))) && isAsked(onceAsked);
        if (isReady) one.act();
        else plans.push(one);
      }
      for (const waiting of answers) {
        const answer = waiting.scenario.answers?.[waiting.given];
        const requests = feedback.standin.requests({ contact: waiting.contact });
        const request = answer?.request === undefined ? requests.at(-1) : requests[answer.request - 1];
        if (!answer || !request?.sentAt) continue;
        if (at.getTime() - new Date(request.sentAt).getTime() < answer.after * hour) continue;
        const { grade, comment } = answer;
        feedback.standin.answer({ request: request.id, grade, ...(comment === undefined ? {} : { comment }) });
        waiting.given++;
      }
      answers = answers.filter(({ scenario, given }) => given < (scenario.answers?.length ?? 0));
    },
    addCaller() {
      const ticket = 2_000 + ++callers;
      const { campaign, store, agent, answer } = caseOf(ticket, { isRecent: true });
      const scenario: Scenario = {
        ...{ ticket, store, agent: agent.id, group: campaign.group.id, customer: customerOf(ticket) },
        ...{ what: 'solved', solvedAt: 0, ends: ['written'] },
        ...(answer && { answers: [{ ...answer, after: answer.hours }] }),
      };
      open(scenario);
      desk.standin.solve(scenario.ticket);
    },
    answerOn,
    answers: () =>
      tickets.flatMap((ticket) => {
        const answer = answerOn(ticket);
        return answer === undefined ? [] : [{ ticket, ...answer }];
      }),
    past() {
      const all = pastCases(begin).map((past) => {
        const { campaign, customer, askedAt, answeredAt, answer, store, agent } = past;
        const { id } = feedback.standin.addPast({
          ...{ campaign: campaign.id, email: customer.email, askedAt },
          values: { Store: store, Agent: agent.name, closeloop: `support/${past.ticket}.1` },
          ...(answer && answeredAt && { answer: { grade: answer.grade, comment: answer.comment, at: answeredAt } }),
        });
        return { past, requestId: String(id) };
      });
      made = all.length;
      return all;
    },
    solve: (ticket) => void desk.standin.solve(ticket),
    requests: () => feedback.standin.requests().length - made,
    async close() {
      await feedback.close();
      await desk.close();
    },
  };
}
