import pLimit from 'p-limit';
import type { PastCase } from '../../standins/demo/people.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { ifStill, type Step } from '../journey/transitions.ts';
import type { FollowUpSource } from '../support/follow-ups.ts';

const hourMs = 3_600_000;
export const later = (at: Date, hours: number) => new Date(at.getTime() + hours * hourMs);

/** Tickets from before the demo have lower numbers. */
const firstTicket = 1_001;

const outcomes = [
  'Called, apologised, and sent a voucher.',
  'Explained what went wrong. They were fine with it.',
  'Passed it on to the store, which called back.',
  'Refunded the delivery.',
];

/** Stores the journeys of what happened before the demo begins, as if closeloop had been there. */
export async function plantHistory(
  all: readonly { past: PastCase; requestId: string }[],
  { store, followUps }: FollowUpSource,
  now: Date,
): Promise<void> {
  const limited = pLimit(8);
  const answered = all.filter(({ past }) => isUnhappy(past)).map(({ past }) => past);
  const unhappy = answered.sort((a, b) => Number(a.answeredAt) - Number(b.answeredAt)).map(({ ticket }) => ticket);
  await Promise.all(
    all.map(({ past, requestId }) =>
      limited(async () => {
        const recordId = String(past.ticket);
        const { closedAt } = past;
        const about = { recordId, closing: 'r0', closedAt, eventKey: `past:${recordId}`, receivedAt: closedAt };
        const { journey } = await store.getOrCreate(about, []);
        const newest = unhappy.length - unhappy.indexOf(past.ticket);
        const after = await planted(
          journey,
          stepsOf(past, requestId, isUnhappy(past) ? newest : undefined, now),
          store,
        );
        if (after?.followUp) await followUps.relist(after.id, store);
      }),
    ),
  );
}

async function planted(journey: Journey, steps: readonly Step[], store: Pick<JourneyStore, 'update'>) {
  let after: Journey | undefined = journey;
  for (const step of steps) after = after && (await store.update(after, ifStill(after.state, step)));
  return after;
}

function isUnhappy({ answer, campaign }: PastCase): boolean {
  return answer !== undefined && answer.grade <= campaign.maxGrade * 0.4;
}

/** @param newest the position among the unhappy answers, where the last answer is 1 */
function stepsOf(past: PastCase, requestId: string, newest: number | undefined, now: Date): Step[] {
  const { campaign, store, agent, customer, closedAt, askedAt, answeredAt, answer } = past;
  const contact = { kind: 'email' as const, value: customer.email };
  const planned: Step = {
    to: 'waiting',
    at: closedAt,
    change: {
      ...{ rule: `${campaign.group.name.toLowerCase()} team`, campaign: campaign.id, campaignName: campaign.name },
      ...{ maxGrade: campaign.maxGrade, contact, dueAt: askedAt, values: { Store: store, Agent: agent.name } },
    },
    trace: [`rule "${campaign.group.name.toLowerCase()} team", campaign ${campaign.id}`],
  };
  const asked: Step = {
    to: 'asked',
    at: askedAt,
    change: { requestId, askedAt },
    trace: [`asked: feedback request ${requestId}`],
  };
  if (!answer || !answeredAt)
    return [planned, asked, { to: 'expired', at: later(askedAt, 24), trace: ['expired: no answer came'] }];
  const { grade, comment = null } = answer;
  const given = { grade, comment, seenAt: answeredAt, version: 1 };
  const followUp = newest === undefined ? {} : { followUp: followUpOf(newest, agent.name, answeredAt, now) };
  return [
    planned,
    asked,
    { to: 'answered', at: answeredAt, change: { answer: given }, trace: [`answered: grade ${grade}`] },
    {
      to: 'written',
      at: later(answeredAt, 0.1),
      change: { writtenVersion: 1, ...followUp },
      trace: ['grade and comment are on the record'],
    },
  ];
}

/**
 * A follow-up that was done long ago. The three newest are not done: the newest is not due yet, nobody has taken the second, which is overdue, and
 * somebody has taken the third.
 */
function followUpOf(newest: number, agent: string, answeredAt: Date, now: Date): FollowUp {
  const openedAt = later(answeredAt, 0.5);
  const opened = { rule: 'unhappy', to: 'agent', agent, openedAt, dueAt: later(answeredAt, 4) };
  if (newest === 1) return { ...opened, state: 'open', dueAt: later(now, 3) };
  if (newest === 2) return { ...opened, state: 'open', dueAt: later(now, -2) };
  if (newest === 3) return { ...opened, state: 'taken', takenBy: agent, takenAt: later(now, -1), dueAt: later(now, 1) };
  const doneAt = later(answeredAt, newest % 4 === 0 ? 7 : 2.5);
  return {
    ...opened,
    state: 'done',
    takenBy: agent,
    takenAt: later(answeredAt, 1),
    doneBy: agent,
    doneAt,
    outcome: outcomes[newest % 4],
  };
}

/**
 * How an agent sees to a follow-up of a ticket that no scenario tells of: to most within hours, to every third, and to those from before the
 * demo, a day after it was due. Without them the list would only grow, as of a team that does nothing.
 */
export function agentOf(
  { recordId, values = {} }: Journey,
  { openedAt, dueAt }: FollowUp,
): { by: string; takesAt: Date; hours: number; outcome: string } {
  const ticket = Number(recordId);
  const isLate = ticket < firstTicket || ticket % 3 === 0;
  const takesAt = isLate ? later(dueAt, 24) : later(openedAt, 3);
  return { by: String(values.Agent), takesAt, hours: 2, outcome: outcomes[ticket % 4] ?? '' };
}
