import { describe, expect, test } from 'vitest';
import { at, create } from '../../../support/standins/feedback/campaigns.ts';
import { created, service } from '../../../support/standins/feedback/service.ts';

describe('when a feedback request goes out', () => {
  const rows: [says: string, campaign: object, scheduled: string | undefined, shown: string, dueAt: string][] = [
    ['at once without delay and window', {}, undefined, '2026-03-10T12:00:00.000000+02:00', '2026-03-10T10:00:00Z'],
    [
      "after the campaign's delay",
      { sendDelay: 90 },
      undefined,
      '2026-03-10T13:30:00.000000+02:00',
      '2026-03-10T11:30:00Z',
    ],
    [
      'at the explicit date, without the delay',
      { sendDelay: 90 },
      '2026-03-10T14:00:00+02:00',
      '2026-03-10T14:00:00.000000+02:00',
      '2026-03-10T12:00:00Z',
    ],
    [
      "an explicit date without offset is in the account's zone",
      {},
      '2026-07-01T09:30:00',
      '2026-07-01T09:30:00.000000+03:00',
      '2026-07-01T06:30:00Z',
    ],
    [
      'a date that has passed means at once',
      {},
      '2026-03-01T00:00:00Z',
      '2026-03-01T02:00:00.000000+02:00',
      '2026-03-10T10:00:00Z',
    ],
    [
      'in the window it does not wait',
      { sendFrom: '09:00:00', sendUntil: '20:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T10:00:00Z',
    ],
    [
      'before the window it waits for today',
      { sendFrom: '14:00:00', sendUntil: '20:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T12:00:00Z',
    ],
    [
      'after the window it waits for tomorrow',
      { sendFrom: '09:00:00', sendUntil: '12:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'the delay may lead out of the window',
      { sendFrom: '09:00:00', sendUntil: '20:00:00', sendDelay: 600 },
      undefined,
      '2026-03-10T22:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'an explicit date is moved into the window too',
      { sendFrom: '09:00:00', sendUntil: '20:00:00' },
      '2026-03-10T22:00:00Z',
      '2026-03-11T00:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'a window over midnight is closed at noon',
      { sendFrom: '22:00:00', sendUntil: '02:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T20:00:00Z',
    ],
    [
      'a window over midnight is open after midnight',
      { sendFrom: '22:00:00', sendUntil: '02:00:00' },
      '2026-03-11T01:00:00',
      '2026-03-11T01:00:00.000000+02:00',
      '2026-03-10T23:00:00Z',
    ],
  ];
  test.for(rows)('%s', async ([, campaign, scheduled, shown, dueAt]) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, ...campaign });
    const { body } = await create(s, {
      campaign: 12,
      email: 'a@b.ee',
      ...(scheduled === undefined ? {} : { scheduled }),
    });
    expect(Object(body).scheduled).toBe(shown);
    const [request] = s.standin.requests();
    expect(request?.dueAt).toBe(at(dueAt));

    s.standin.moveClock({ now: new Date(Date.parse(dueAt) - 1) });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Scheduled', sentAt: null });
    s.standin.moveClock({ now: dueAt });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Sent', sentAt: at(dueAt) });
    const record = await s.call('GET', `/appeals/${request?.id}`);
    expect(record.body).toMatchObject({ status: 'Sent', scheduled: shown });
  });

  test('a changed window holds for what has not gone out', async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, sendFrom: '14:00:00', sendUntil: '15:00:00' });
    await created(s, { campaign: 12, email: 'a@b.ee' });
    s.standin.changeCampaign({ id: 12, sendFrom: '12:00:00' });
    expect(s.standin.requests()[0]?.status).toBe('Sent');
  });

  test.for(['blacklist', 'graylist'] as const)('a contact on the %s is accepted and never sent', async (list) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, sendDelay: 5 });
    s.standin.addCampaign({ account: 'a', id: 13, sendDelay: 5 });
    if (list === 'blacklist') s.standin.blacklist({ account: 'a', contact: 'A@b.ee' });
    else s.standin.graylist({ campaign: 12, contact: 'A@b.ee' });
    const stopped = await created(s, { campaign: 12, email: 'a@B.ee' });
    const other = await created(s, { campaign: 13, email: 'a@b.ee' });
    expect((await s.call('GET', `/appeals/${stopped}`)).body).toMatchObject({ status: 'Scheduled' });
    s.standin.moveClock({ advanceMs: 3_600_000 });
    expect((await s.call('GET', `/appeals/${stopped}`)).body).toMatchObject({ status: 'Not sent' });
    const expected = list === 'blacklist' ? 'Not sent' : 'Sent';
    expect((await s.call('GET', `/appeals/${other}`)).body).toMatchObject({ status: expected });
  });
});
