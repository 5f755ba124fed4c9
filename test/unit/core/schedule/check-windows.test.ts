import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { checkWindows, nextSendTime, type RuleWindow } from '../../../../core/schedule/send-time.ts';
import { doubtsAbout } from '../../../../core/schedule/window-doubts.ts';
import { inputOf, type Row } from '../../../support/core/send-time-row.ts';

const day = '08:00-21:00';

describe('a window that may not do what was meant', () => {
  const doubts = (row: Row) => doubtsAbout(inputOf(row));

  test('has its hours swapped', () => {
    expect(doubts({ window: { from: '20:00', until: '09:00', zone: 'account' } })).toStrictEqual([
      {
        problem: 'its window asks at night, from 20:00 to 09:00 the next morning',
        remedy: 'write from "09:00" and until "20:00" if the day was meant',
      },
    ]);
  });

  test('leaves no hour for text messages in the account’s zone', () => {
    expect(doubts({ campaign: '22:00-06:00', sms: day })).toStrictEqual([
      {
        problem:
          'campaign 12 sends 22:00–06:00 Europe/Tallinn, and text messages go out 08:00–21:00 Europe/Tallinn: nobody whose zone is Europe/Tallinn, or not known, is sent a text message',
        remedy: "change the rule's window, the campaign's hours or policy.sms",
      },
    ]);
  });

  test('is an error where it leaves no hour in anybody’s zone', () => {
    expect(
      checkWindows(inputOf({ sms: day, window: { from: '21:00', until: '23:00', zone: 'recipient' } })),
    ).toStrictEqual([
      "the rule sends 21:00–23:00 Europe/Tallinn, and text messages go out 08:00–21:00 Europe/Tallinn: never open together. Change the rule's window, or the campaign's hours",
    ]);
  });

  const plain: [from: string | undefined, until: string | undefined][] = [
    ['09:00', '20:00'],
    ['12:00', '00:00'],
    ['12:00:00', '00:00:00'],
    ['12:00', '24:00'],
    ['12:00', undefined],
    [undefined, '12:00'],
    ['09:00:00', '09:00'],
  ];
  test.each(plain)('is no window from %s until %s', (from, until) => {
    const window: RuleWindow = { from, until, zone: 'recipient' };
    expect(doubts({ campaign: '09:00-20:00', sms: day, window })).toStrictEqual([]);
  });
});

describe('windows that can not work', () => {
  const window = (from: string, until: string, days?: RuleWindow['days']) => ({ from, until, days });
  const noHour = (text: string) => `the rule sends from or until "${text}": must be a time of day like "09:00"`;
  const rows: [name: string, row: Row, message: string][] = [
    [
      'are named when they never meet',
      { campaign: '09:00-18:00', window: window('18:00', '22:00') },
      "campaign 12 sends 09:00–18:00 Europe/Tallinn, and the rule sends 18:00–22:00 Europe/Tallinn: never open together. Change the rule's window, or the campaign's hours",
    ],
    [
      'are named when one goes over midnight',
      { campaign: '22:00-02:00', window: window('02:00', '22:00') },
      "campaign 12 sends 22:00–02:00 Europe/Tallinn, and the rule sends 02:00–22:00 Europe/Tallinn: never open together. Change the rule's window, or the campaign's hours",
    ],
    [
      'are no days',
      { window: { days: [] } },
      'the rule sends on no day: give window.days at least one, or leave it out',
    ],
    ['are hours that are none', { window: window('9:00', '20:00') }, noHour('9:00')],
    ['are hours with something before them', { window: window('at 09:00', '20:00') }, noHour('at 09:00')],
    ['are hours with something after them', { window: window('09:00', '20:00 sharp') }, noHour('20:00 sharp')],
    ['are hours beyond the day', { window: window('09:00', '24:01') }, noHour('24:01')],
    [
      'are in no zone',
      { zone: 'Europe/Talinn' },
      'feedback.timeZone: "Europe/Talinn" is not a time zone like Europe/Tallinn',
    ],
  ];
  for (const [name, row, message] of rows) {
    test(name, () => {
      expect(checkWindows(inputOf(row))).toStrictEqual([message]);
      expect(() => nextSendTime(inputOf(row))).toThrow(
        expect.objectContaining({ message, advice: { kind: 'config' }, outcome: 'never-sent' }),
      );
    });
  }

  test("stop nothing but the journey when it is the recipient's zone", () => {
    const row: Row = {
      campaign: '09:00-20:00',
      window: { from: '09:00', until: '20:00', zone: 'recipient' },
      recipientZone: 'Pacific/Honolulu',
    };
    expect(checkWindows(inputOf(row))).toStrictEqual([]);
    try {
      nextSendTime(inputOf(row));
      expect.unreachable();
    } catch (error) {
      expect(error instanceof CloseloopError && error.advice).toStrictEqual({ kind: 'permanent' });
    }
  });

  test('stop nothing but the journey when it is the hours of text messages', () => {
    expect(() => nextSendTime(inputOf({ sms: day, campaign: '22:00-23:00' }))).toThrow(
      expect.objectContaining({ advice: { kind: 'permanent' } }),
    );
  });

  const fine: [name: string, row: Row][] = [
    ['that share a minute', { campaign: '09:00-18:00', window: window('17:59', '22:00') }],
    ["that share Sunday's night", { campaign: '00:00-03:00', window: window('22:00', '02:00', ['sun']) }],
    ['that share a day', { campaign: '09:00-09:00', window: window('00:00', '00:00', ['sat']) }],
    [
      "that may meet in a recipient's zone",
      { campaign: '09:00-18:00', window: { ...window('18:00', '22:00'), zone: 'recipient' } },
    ],
    ['without a rule', { campaign: '09:00-18:00' }],
  ];
  for (const [name, row] of fine)
    test(`are not those ${name}`, () => expect(checkWindows(inputOf(row))).toStrictEqual([]));
});
