import { describe, expect, test } from 'vitest';
import { type Facts, isOpen, wantedOf } from '../../system/chaos/oracle.ts';
import { accountZone, campaigns, farZone, tester, versionOf, windowFrom } from '../../system/chaos/policy.ts';

const facts: Facts = {
  ticket: { subject: 'slow', store: 'Tartu', flag: '', isClosed: true },
  person: { email: 'carl@example.com', language: 'en', zone: accountZone },
};
const settings = { window: { from: '12:00', until: '19:00' }, capPerHour: 3 };

describe('the oracle', () => {
  test.each([0, 1, 2, 3])('version %i asks otherwise than the version before it', (n) => {
    const texts = [n, n + 1].map((one) =>
      (['slow', 'trial'] as const).map((subject) =>
        JSON.stringify(wantedOf({ ...facts, ticket: { ...facts.ticket, subject } }, versionOf(one), 'desk', settings)),
      ),
    );
    expect(texts[0]).not.toEqual(texts[1]);
  });

  test('it asks the tester in test mode, and the customer otherwise', () => {
    const trial: Facts = { ...facts, ticket: { ...facts.ticket, subject: 'trial' } };
    expect([0, 1].map((n) => wantedOf(trial, versionOf(n), 'desk', settings))).toMatchObject([
      { do: 'ask', campaign: campaigns.desk.main, contact: tester },
      { do: 'ask', campaign: campaigns.desk.main, contact: 'carl@example.com' },
    ]);
  });

  test('it asks nobody where the vendor shows no customer', () => {
    expect(wantedOf({ ...facts, person: undefined }, versionOf(0), 'crm', settings)).toMatchObject({ do: 'skip' });
  });

  test.each([
    ['inside', '09:00', '17:00', '2026-11-26T10:00Z', true],
    ['before', '12:30', '17:00', '2026-11-26T10:00Z', false],
    ['at the end', '09:00', '12:00', '2026-11-26T10:00Z', false],
    ['over midnight', '20:00', '05:00', '2026-11-26T22:30Z', true],
    ['outside one over midnight', '20:00', '05:00', '2026-11-26T10:00Z', false],
  ])('a window is open %s by the wall clock', (_, from, until, at, expected) => {
    expect(isOpen({ from, until }, accountZone, Date.parse(at))).toBe(expected);
  });

  test.each(['2026-01-15', '2026-03-29', '2026-07-15'])(
    'on %s, while it is open in the account at any hour at which a run may begin, it is closed in the far zone',
    (day) => {
      for (let hour = 0; hour < 24; hour++) {
        const begun = Date.parse(`${day}T00:00Z`) + hour * 3_600_000;
        const at = begun + 3_600_000;
        const window = windowFrom(begun);
        expect([isOpen(window, accountZone, at), isOpen(window, farZone, at)], `${hour} h`).toEqual([true, false]);
      }
    },
  );
});
