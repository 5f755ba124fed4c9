import { describe, expect, test } from 'vitest';
import { changed, type FollowUpStep, isOverdue, placeOf } from '../../../../worker/journey/follow-up.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import type { Act, FollowUp } from '../../../../worker/journey/journey.ts';
import { journeyIn } from '../../../support/worker/journey/example.ts';

const at = (time: string) => new Date(`2026-05-04T${time}Z`);
const open: FollowUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: at('08:00:00'), dueAt: at('12:00:00') };
const taken: FollowUp = { ...open, state: 'taken', takenBy: 'Maria', takenAt: at('09:00:00') };
const done: FollowUp = { ...taken, state: 'done', doneBy: 'Maria', doneAt: at('10:00:00'), outcome: 'Called' };

const now = at('11:00:00');
const take = (by: string): FollowUpStep => ({ do: 'take', by, at: now });
const finish = (by: string, outcome = 'Called'): FollowUpStep => ({ do: 'done', by, at: now, outcome });
const reopen = (by: string): FollowUpStep => ({ do: 'reopen', by, at: now });

describe('what a person does with a follow-up', () => {
  const allowed: [string, FollowUp, FollowUpStep, Partial<FollowUp>, string[]][] = [
    ['taken', open, take('Maria'), { state: 'taken', takenBy: 'Maria', takenAt: now }, ['follow-up taken by Maria']],
    ['taken twice by the same', taken, take('Maria'), taken, []],
    ['done by who took it', taken, finish('Maria'), { state: 'done', doneAt: now }, ['follow-up done by Maria']],
    ['done untaken', open, finish('Jaan'), { doneBy: 'Jaan', outcome: 'Called' }, ['follow-up done by Jaan']],
    ['done twice alike', done, finish('Maria'), done, []],
    ['reopened', done, reopen('Jaan'), { ...open, outcome: 'Called' }, ['follow-up reopened by Jaan']],
    ['given back by somebody else', taken, reopen('Jaan'), open, ['follow-up given back by Jaan']],
    ['reopened while it is open', open, reopen('Jaan'), open, []],
  ];
  test.each(allowed)('%s', (_name, before, step, after, trace) => {
    expect(changed(before, step)).toMatchObject({ ok: true, followUp: after, trace });
  });

  const refused: [string, FollowUp | undefined, FollowUpStep, string][] = [
    ['take what another has taken', taken, take('Jaan'), 'Maria has taken it at 2026-05-04T09:00:00.000Z'],
    ['end what another has taken', taken, finish('Jaan'), 'Maria has taken it at 2026-05-04T09:00:00.000Z'],
    ['take what is done', done, take('Maria'), 'Maria has done it at 2026-05-04T10:00:00.000Z'],
    ['end it with other words', done, finish('Maria', 'Wrote'), 'Maria has done it'],
    ['take what is not there', undefined, take('Maria'), 'there is no follow-up'],
  ];
  test.each(refused)('refused: %s', (_name, before, step, why) => {
    expect(changed(before, step)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });

  test('reopening leaves nothing of who had it', () => {
    const change = changed(done, reopen('Jaan'));
    expect(change.ok && Object.keys(change.followUp)).not.toContain('takenBy');
  });

  test('its first action stays, however often it is opened again and taken', () => {
    const steps: FollowUpStep[] = [
      { do: 'take', by: 'Maria', at: at('09:00:00') },
      { do: 'reopen', by: 'Jaan', at: at('10:00:00') },
      { do: 'take', by: 'Jaan', at: at('10:30:00') },
      { do: 'done', by: 'Jaan', at: at('11:00:00'), outcome: 'Called' },
    ];
    const last = steps.reduce((before, step) => {
      const change = changed(before, step);
      return change.ok ? change.followUp : before;
    }, open);
    expect(last).toMatchObject({ firstActionAt: at('09:00:00'), changedAt: at('11:00:00') });
  });

  test('its outcome is in no line of the trace', () => {
    const change = changed(open, finish('Maria', 'her dog was ill'));
    expect(change.ok && change.trace.join()).not.toContain('dog');
  });
});

test.each([
  ['before its time', open, '11:59:59', false],
  ['at its time', open, '12:00:00', true],
  ['taken, after its time', taken, '13:00:00', true],
  ['done, after its time', done, '13:00:00', false],
] as const)('%s', (_name, followUp, time, expected) => {
  expect(isOverdue(followUp, at(time))).toBe(expected);
});

describe('where a journey is listed', () => {
  const act = (state: Act['state']): Act => ({
    ...{ marker: 'm', rule: 'unhappy', step: 0, name: 'followUp', version: 1, at: now },
    state,
  });
  const acting = (state: Act['state']) => ({ acting: { judged: {}, acts: [act(state)] } });
  test.each([
    ['no journey', undefined, 'nowhere'],
    ['nothing said', {}, 'nowhere'],
    ['open', { followUp: open }, { list: 'open', at: open.dueAt }],
    ['taken', { followUp: taken }, { list: 'open', at: open.dueAt }],
    ['done', { followUp: done }, { list: 'done', at: done.doneAt }],
    ['to be opened', acting('wanted'), 'awaited'],
    ['to be opened once more', { ...acting('wanted'), followUp: done }, 'awaited'],
    ['given up', acting('parked'), 'nowhere'],
    ['erased', erased(journeyIn('answered', { ...acting('wanted'), followUp: open }), now), 'nowhere'],
  ] as const)('%s', (_name, journey, expected) => {
    expect(placeOf(journey)).toEqual(expected);
  });
});
