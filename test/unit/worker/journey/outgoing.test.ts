import { expect, test } from 'vitest';
import type { Act, Journey } from '../../../../worker/journey/journey.ts';
import { eventTypes, outgoingOf, type Target } from '../../../../worker/journey/outgoing.ts';

const at = new Date('2026-11-26T12:00:00Z');
const target = (name: string, more: Partial<Target> = {}): Target => ({
  ...{ key: `webhook.${name}`, events: [], by: { action: 'send', name } },
  ...more,
});
const targets = [
  target('all', { events: eventTypes }),
  target('named'),
  target('named', { key: 'notify.named.slack', by: { action: 'notify', name: 'named' } }),
];
const journey: Journey = {
  ...{ id: 'p.1', source: 'support', recordId: 'p', state: 'asked', closing: 'c' },
  ...{ receivedAt: at, updatedAt: at, closedAt: at },
};
const answer = (version: number) => ({ answer: { grade: 1, comment: null, seenAt: at, version } });
const followUp = { state: 'open' as const, rule: 'r', to: 'agent', openedAt: at, dueAt: at };
const act = (state: Act['state'], name = 'send'): Partial<Journey> => ({
  acting: {
    judged: {},
    acts: [
      {
        marker: 'm',
        rule: 'unhappy',
        step: 0,
        name,
        version: 2,
        state,
        at,
        ...(state === 'done' && { to: ['named'] }),
      },
    ],
  },
});
const ofTest = { test: { contact: { kind: 'email' as const, value: 'me@example.com' } } };

test.each<[what: string, before: Partial<Journey>, after: Partial<Journey>, told: string[]]>([
  ['nothing new', {}, {}, []],
  ['the same answer again', answer(1), answer(1), []],
  ['a first answer', {}, answer(1), ['all answer.received 1']],
  ['an answer whose first version was never seen', {}, answer(2), ['all answer.received 2']],
  ['a changed answer', answer(1), answer(2), ['all answer.changed 2']],
  ['a request', {}, { requestId: '7' }, ['all request.created 0']],
  ['a skipped closing', { state: 'received' }, { state: 'skipped' }, ['all closing.skipped 0']],
  ['a skipped closing that is noted on', { state: 'skipped' }, { state: 'skipped' }, []],
  ['an overdue follow-up', { followUp }, { followUp: { ...followUp, alertedAt: at } }, ['all follow-up.overdue 0']],
  ['an action that sends', act('wanted'), act('done'), ['named answer.matched 2 unhappy']],
  ['an action that notifies', act('wanted', 'notify'), act('done', 'notify'), ['slack answer.matched 2 unhappy']],
  ['an action that was done before', act('done'), { ...act('done') }, []],
  ['an action that is parked', act('wanted'), act('parked'), []],
  ['a test', ofTest, { ...ofTest, ...answer(1) }, []],
  ['somebody who is erased', answer(1), { ...answer(2), erasedAt: at }, []],
])('of %s the right ones are told', (_, before, after, told) => {
  const events = outgoingOf({ ...journey, ...before }, { ...journey, ...after }, { targets, at });
  const inWords = events.map(({ target: { key }, event: { type, version, rule } }) =>
    `${key.split('.').at(-1)} ${type} ${version} ${rule}`.trim(),
  );
  expect(inWords).toEqual(told);
  for (const { event } of events) expect(event).toMatchObject({ journeyId: 'p.1', at });
});
