import { describe, expect, test } from 'vitest';
import { ratingReader } from '../../../../connectors/zendesk/events.ts';
import { csatSettings } from '../../../../connectors/zendesk/settings.ts';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import { testPorts } from '../../../support/connectors/zendesk/ports.ts';
import * as live from '../../../support/connectors/zendesk/preflight.ts';
import { openAccount } from '../../../support/connectors/zendesk/preflight.ts';

const read = (event: unknown, more: object = {}) => ratingReader(csatSettings.parse(more))({ event });

describe('a rating', () => {
  const rows: [what: string, event: unknown, expected: object][] = [
    ['good, with words', { satisfaction_score: { score: 'GOOD', comment: 'Kind' } }, { grade: 5, comment: 'Kind' }],
    ['bad', { satisfaction_score: { score: 'BAD', comment: null } }, { grade: 1, comment: null }],
    ['in small letters, with words of blanks', { current: 'good', comment: ' ' }, { grade: 5, comment: null }],
    ['with its comment in its name', { current: 'GOOD_WITH_COMMENT', comment: 'x' }, { grade: 5, comment: 'x' }],
    ['a number of the newer CSAT', { current: { score: 4, comment: 'ok' } }, { grade: 4, comment: 'ok' }],
    ['a number in a text', { satisfaction_score: '3' }, { grade: 3, comment: null }],
    ['offered', { satisfaction_score: { score: 'OFFERED' } }, { ok: true, grade: undefined }],
    ['taken back', { current: 'UNOFFERED' }, { ok: true, grade: undefined }],
  ];
  test.each(rows)('it is read: %s', async (_what, event, expected) =>
    expect(await read(event)).toMatchObject(expected),
  );

  test('it is graded as configured, from where it stands', async () => {
    const more = { good: 10, bad: 0, score: 'event.rated', comment: 'event.words' };
    expect(await read({ rated: 'bad', words: 'Slow' }, more)).toEqual({ ok: true, grade: 0, comment: 'Slow' });
  });

  test.each([[{}], [null], [{ current: 'SOLVED' }], [{ satisfaction_score: {} }]])(
    'it is refused, without quoting, where no score is found: %j',
    async (event) => {
      expect(await read(event)).toEqual({ ok: false, why: expect.stringMatching(/csat\.score/) });
    },
  );
});

const delivery = (score: unknown) => {
  const event = { satisfaction_score: { score, comment: 'Kind' } };
  const body = {
    type: 'zen:event-type:ticket.csat_received',
    id: 'e-1',
    subject: 'zen:ticket:41960',
    time: '2026-11-21T10:15:29.482913657Z',
    event,
  };
  return { method: 'POST', url: '', headers: {}, raw: Buffer.from(JSON.stringify(body)), receivedAt: new Date() };
};

test('the event of one is a grade of the ticket, where it is wanted', async () => {
  const reader = (more: object, score: unknown) => {
    const credentials = { subdomain: 'acme', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'] };
    return zendesk.open({ ...credentials, ...more }, testPorts().ports).events(delivery(score));
  };
  const csat = {};
  expect(await reader({ csat }, 'GOOD')).toEqual({
    ok: true,
    ignored: [],
    events: [
      {
        kind: 'external-grade',
        recordId: '41960',
        at: new Date('2026-11-21T10:15:29.482Z'),
        key: 'e-1',
        what: "a rating in Zendesk's own CSAT",
        grade: 5,
        comment: 'Kind',
      },
    ],
  });
  expect(await reader({ csat }, 'OFFERED')).toMatchObject({ ok: true, events: [] });
  expect(await reader({ csat }, undefined)).toMatchObject({ ok: false });
  expect(await reader({}, 'GOOD')).toMatchObject({ ok: true, events: [] });
});

test('setup subscribes to it, check misses it, and both leave Zendesk to ask', async () => {
  const desk = await openAccount();
  const open = (csat?: object) => desk.open(csat && { csat });
  desk.standin.changeSettings({ admin: { customerSatisfaction: true } });
  for (const step of (await open({}).setup?.(live.about)) ?? []) await step.apply();
  expect(desk.standin.webhooks[0]?.subscriptions).toContain('zen:event-type:ticket.csat_received');
  const problems = async (csat?: object) => (await open(csat).check?.(live.about))?.map(({ at }) => at);
  expect(await problems({})).toEqual(['webhookSecrets']);
  expect(await problems()).toContain('account');
  desk.standin.removeWebhooks();
  desk.standin.setWebhook({ url: live.hookUrl, secrets: [live.secret] });
  expect(await problems({})).toEqual(['webhook']);
  await desk.close();
});
