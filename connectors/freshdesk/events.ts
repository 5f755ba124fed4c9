import { z } from 'zod';
import type { Delivery, Events } from '../../core/connector/contract.ts';
import { happenedAt, noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { orElse, text } from '../../core/entries.ts';
import type { Account } from './api.ts';
import { isId } from './record.ts';
import type { FreshdeskSettings } from './settings.ts';

const RuleMessage = z.object({
  ticket_id: z.union([z.string(), z.int()]).transform(String),
  kind: text,
  event: text,
  triggered_event: text,
  at: text,
});
/** The body as `setup` writes it ("advanced"), or in Freshdesk's own wrapping ("simple"). */
const Body = z.union([
  RuleMessage,
  z.object({ freshdesk_webhook: RuleMessage }).transform((body) => body.freshdesk_webhook),
]);

/** Matches `{status:{from:2,to:4}}`. This is no JSON, and names only the first of several changes. */
const ofStatus = /^\{status:\{from:(\d{1,4}),to:(\d{1,4})\}\}$/;

export function events(body: unknown, delivery: Delivery, { closedStatuses }: FreshdeskSettings): Events {
  const { data } = Body.safeParse(body);
  if (data === undefined) return { ok: false, why: 'no delivery of an automation rule' };
  const { ticket_id: recordId, kind, event, triggered_event } = data;
  if (!isId(recordId))
    return noEvent('a delivery', 'without a ticket: its rule sends another content than `setup` wrote', true);
  if (kind === 'rated') return noEvent('a rating', 'the poll reads ratings');
  const at = happenedAt(data.at, delivery);
  // A message without a time may report a second closing in the same words, so its key has the minute of the receipt: a duplicate costs one read, but
  // a lost closing loses a customer's feedback.
  const minute = delivery.receivedAt.toISOString().slice(0, 16);
  const when = Number.isNaN(Date.parse(data.at)) ? minute : at.toISOString();
  const [, from = '', to = ''] = ofStatus.exec(event || triggered_event) ?? [];
  const [wasClosed, isClosed] = [from, to].map((status) => closedStatuses.includes(Number(status)));
  const what = to === '' ? 'ticket changed' : `status ${to}, was ${from}`;
  const happened = { recordId, at, key: `${recordId}.${from}.${to}.${when}`, what };
  if (isClosed) return oneEvent({ ...happened, kind: 'closed', certain: true });
  // The message lacks the new status, so the worker has to read the ticket.
  if (to === '') return oneEvent({ ...happened, kind: 'closed' });
  return wasClosed ? oneEvent({ ...happened, kind: 'changed' }) : noEvent(what, 'neither closes nor reopens');
}

const Rating = z.object({
  id: z.int(),
  ticket_id: z.int().transform(String),
  feedback: orElse(z.string(), null),
  ratings: z.object({ default_question: z.int() }),
  created_at: z.iso.datetime({ offset: true }).transform((at) => new Date(at)),
});

/** Freshdesk's own ratings, as grades by the table of the settings. The list has no order. */
export const ratingWindow = ({ page }: Account, grades: Readonly<Record<string, number>>) => ({
  ...{ isUnordered: true, changedAt: ({ created_at }: z.output<typeof Rating>) => created_at },
  page: (from: Date, number: number) =>
    page(`/surveys/satisfaction_ratings?created_since=${from.toISOString()}&page=${number}`, Rating, 'background'),
  events({ id, ticket_id: recordId, feedback: comment, ratings, created_at: at }: z.output<typeof Rating>) {
    const grade = grades[String(ratings.default_question)];
    const rated = { kind: 'external-grade', recordId, comment, at, key: `rated.${id}`, what: 'rated' } as const;
    return grade === undefined ? [] : [{ ...rated, grade }];
  },
});
