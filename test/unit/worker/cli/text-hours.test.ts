import { expect, test } from 'vitest';
import { type ByHand, refuseOutsideHours } from '../../../../worker/cli/requests.ts';

const campaign: ByHand['campaign'] = {
  id: 14,
  type: 'sms',
  send_from: '00:00:00',
  send_until: '00:00:00',
  send_delay: null,
};
const account = { timeZone: 'Europe/Tallinn', sms: { from: '08:00', until: '21:00' } };
const estonian = '+37255512345';
const american = '+12025550123';

/** What is said of a request that is made at noon in Tallinn, for this time. */
function said(
  scheduled: string | undefined,
  to = estonian,
  more: Partial<ByHand['campaign']> = {},
  now = '2026-12-01T10:00:00Z',
) {
  const at = scheduled === undefined ? undefined : new Date(scheduled);
  const contact = { kind: to.startsWith('+') ? ('phone' as const) : ('email' as const), value: to };
  try {
    refuseOutsideHours({ campaign: { ...campaign, ...more }, contact, scheduled: at, now: new Date(now) }, account);
    return 'goes out';
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test('a text message by hand keeps to its hours, and the refusal says when it may go', () => {
  expect(said('2026-12-02T01:00:00Z')).toBe(
    'The text message would leave at 2026-12-02T03:00:00+02:00, outside 08:00–21:00 everywhere in EE (policy.sms): ' +
      'add --scheduled 2026-12-02T08:00:00+02:00, the first time within these hours, or --anyway.',
  );
  expect(said('2026-12-02T06:00:00Z')).toBe('goes out');
});

test.each([
  ['at once, by day', undefined, estonian, {}, 'goes out'],
  ['after the campaign’s delay, at night', undefined, estonian, { send_delay: 720 }, /leave at 2026-12-02T00:00/],
  ['to where it is night', undefined, american, {}, /everywhere in US .* --scheduled 2026-12-01T20:00:00\+02:00/],
  [
    'for a past time by day, while it is night',
    '2026-12-01T18:00:00Z',
    american,
    {},
    /leave at 2026-12-02T06:00:00\+02:00.* --scheduled 2026-12-02T20:00:00\+02:00/,
    '2026-12-02T04:00:00Z',
  ],
  ['for a past time at night, while it is day', '2026-11-30T01:00:00Z', estonian, {}, 'goes out'],
  ['to where it is day all over', '2026-12-01T18:00:00Z', american, {}, 'goes out'],
  [
    'at night, held back by the campaign until day',
    '2026-12-02T01:00:00Z',
    estonian,
    { send_from: '09:00:00', send_until: '20:00:00' },
    'goes out',
  ],
  ['at night to a number of no country', '2026-12-02T01:00:00Z', '+88212345678', {}, /in Europe\/Tallinn/],
  ['by e-mail at night', '2026-12-02T01:00:00Z', 'a@example.com', { type: 'mixed' }, 'goes out'],
  ['of a campaign that sends nothing', '2026-12-02T01:00:00Z', estonian, { type: 'external' }, 'goes out'],
] as const)('a request %s', (_, scheduled, to, more, expected, now?: string) => {
  expect(said(scheduled, to, more, now)).toMatch(expected);
});
