import { describe, expect, test } from 'vitest';
import { created, envelope, noon, type Service, service } from '../../../support/standins/feedback/service.ts';

async function campaigns(options: Parameters<typeof service>[0] = {}): Promise<Service> {
  const s = await service(options);
  s.standin.addCampaign({ account: 'a', id: 1, type: 'mixed', metric: 'csat', name: 'Support' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'mixed', metric: 'nps' });
  s.standin.addCampaign({
    account: 'a',
    id: 3,
    type: 'external',
    metric: 'avg',
    gradeList: [1, 2, 3],
    scale: 'Smileys',
  });
  s.standin.addCampaign({ account: 'b', id: 4 });
  return s;
}

const empty = {
  contact: '+37255551234',
  num_appeals: 1,
  num_feedback: 0,
  avg_grade: [],
  index_csat: null,
  index_nps: null,
  last_appeal: '2026-03-10T12:00:00.000000+02:00',
  last_grade: null,
  last_comment: null,
  last_survey: null,
  blacklist: null,
  graylist: null,
};

describe('GET /contacts/:contact', () => {
  const matching: [stored: object, asked: string, contact: string | undefined][] = [
    [{ campaign: 1, phone: '+37255551234' }, '+37255551234', '+37255551234'],
    [{ campaign: 1, phone: '+37255551234' }, '%2B37255551234', '+37255551234'],
    [{ campaign: 1, phone: '+37255551234' }, '0037255551234', '+37255551234'],
    [{ campaign: 1, phone: '0037255551234' }, '+37255551234', '+37255551234'],
    [{ campaign: 1, phone: '+37255551234' }, '%2B372%205555-1234', '+37255551234'],
    [{ campaign: 1, phone: '+37255551234' }, '37255551234', undefined],
    [{ campaign: 1, email: 'Ann@Example.com' }, 'ann@example.COM', 'ann@example.com'],
    [{ campaign: 1, email: 'ann+shop@example.com' }, 'ann+shop@example.com', 'ann+shop@example.com'],
    [{ campaign: 1, email: 'ann+shop@example.com' }, 'ann%2Bshop%40example.com', 'ann+shop@example.com'],
    [{ campaign: 1, email: 'ann@example.com' }, 'ann@example.co', undefined],
    [{ campaign: 3, identifier: 'Case A/1' }, 'case%20a%2F1', 'case a/1'],
    [{ campaign: 3, identifier: '0012345' }, '0012345', '0012345'],
    [{ campaign: 3, identifier: '0012345' }, '+12345', undefined],
    [{ campaign: 3, identifier: '003726123456' }, '+3726123456', '+3726123456'],
    [{ campaign: 3, identifier: '+3726123456' }, '00372 612 3456', '+3726123456'],
    [{ campaign: 3, identifier: '+372 612 3456' }, '+372%20612%203456', '+3726123456'],
    [{ campaign: 3, identifier: '+372 612 3456' }, '+3726123456', undefined],
    [{ campaign: 1, email: 'ann@example.com', phone: '+37255551234' }, '+37255551234', '+37255551234'],
    [{ campaign: 1, email: 'ann@example.com', phone: '+37255551234' }, 'ann@example.com', 'ann@example.com'],
  ];
  test.for(matching)('a request for %j asked for as %s: %s (audit 1)', async ([stored, asked, contact]) => {
    const s = await campaigns();
    await created(s, stored);
    const answer = await s.call('GET', `/contacts/${asked}`);
    if (contact === undefined) expect([answer.status, answer.body]).toEqual([404, { detail: 'Not found.' }]);
    else expect([answer.status, answer.body]).toEqual([200, { ...empty, contact }]);
  });

  test("another account's requests don't match", async () => {
    const s = await campaigns();
    await s.call('POST', '/appeals/', { campaign: 4, email: 'a@b.ee' }, { authorization: 'Token other' });
    expect((await s.call('GET', '/contacts/a@b.ee')).status).toBe(404);
  });

  test('counts, averages per scale, indexes and last dates', async () => {
    const s = await campaigns();
    const hour = 3_600_000;
    const answered = async (campaign: number, grade: number, more: object = {}): Promise<void> => {
      const request = await created(s, { campaign, phone: '+37255551234' });
      s.standin.moveClock({ advanceMs: hour });
      s.standin.answer({ request, grade, ...more });
    };
    await answered(1, 5, { comment: 'Tere' });
    await answered(1, 2, { survey: true });
    await answered(2, 10);
    await answered(2, 7);
    await created(s, { campaign: 3, identifier: '+37255551234' });
    const external = s.standin.requests().at(-1)?.id;
    await s.call('POST', `/appeals/${external}/grade`, { grade: 3 });
    await created(s, { campaign: 1, phone: '+37255551234', scheduled: '2026-04-01T10:00' });
    expect((await s.call('GET', '/contacts/+37255551234')).body).toEqual({
      ...empty,
      num_appeals: 6,
      num_feedback: 5,
      avg_grade: [
        { scale: '1-5', avg: 3.5 },
        { scale: '0-10', avg: 8.5 },
        { scale: 'Smileys', avg: 3 },
      ],
      index_csat: 50,
      index_nps: 50,
      last_appeal: '2026-04-01T10:00:00.000000+03:00',
      last_grade: '2026-03-10T16:00:00.000000+02:00',
      last_comment: '2026-03-10T13:00:00.000000+02:00',
      last_survey: '2026-03-10T14:00:00.000000+02:00',
    });
  });

  test('may count what has gone out only', async () => {
    const s = await campaigns({ contactCounts: 'sent' });
    await created(s, { campaign: 1, phone: '+37255551234', scheduled: '2026-04-01T10:00' });
    expect((await s.call('GET', '/contacts/+37255551234')).body).toEqual({
      ...empty,
      num_appeals: 0,
      last_appeal: null,
    });
    s.standin.moveClock({ now: '2026-04-01T07:00:00Z' });
    expect((await s.call('GET', '/contacts/+37255551234')).body).toMatchObject({
      num_appeals: 1,
      last_appeal: '2026-04-01T10:00:00.000000+03:00',
    });
  });

  test('blacklist and graylist', async () => {
    const s = await campaigns();
    await created(s, { campaign: 1, phone: '+37255551234' });
    s.standin.blacklist({ account: 'a', contact: '0037255551234' });
    s.standin.moveClock({ advanceMs: 1000 });
    s.standin.graylist({ campaign: 1, contact: '+37255551234' });
    s.standin.graylist({ campaign: 2, contact: '+37255551234' });
    const date_added = '2026-03-10T12:00:01.000000+02:00';
    expect((await s.call('GET', '/contacts/+37255551234')).body).toEqual({
      ...empty,
      blacklist: { entry: '+37255551234', date_added: '2026-03-10T12:00:00.000000+02:00' },
      graylist: {
        entry: '+37255551234',
        campaigns: [
          { id: 1, name: 'Support', date_added },
          { id: 2, name: 'Campaign', date_added },
        ],
      },
    });
  });
});

describe('POST /contacts/:contact/mask', () => {
  async function masked(): Promise<Service> {
    const s = await service();
    s.standin.addCampaign({
      account: 'a',
      id: 1,
      type: 'mixed',
      customFields: [
        { name: 'Store' },
        { name: 'Receiver', personal: true },
        { name: 'Secret', personal: true, showInReport: false },
      ],
    });
    for (const [email, grade] of [
      ['ann@example.com', 5],
      ['ANN@example.com', 2],
      ['bob@example.com', 1],
    ] as const) {
      const custom_fields = { Store: 'Tartu', Receiver: email, Secret: email };
      const request = await created(s, { campaign: 1, email, phone: '+37255551234', custom_fields });
      s.standin.answer({ request, grade, comment: 'Tere', ip: '192.0.2.1' });
    }
    return s;
  }

  test('masks phone, email, identifier, IP address, personal fields and SMS phones of every request of the contact', async () => {
    const s = await masked();
    const answer = await s.call('POST', '/contacts/Ann@example.com/mask');
    expect([answer.status, answer.body]).toEqual([200, { contact: 'ann@example.com', masked: { appeals: 2 } }]);
    const [first, , third] = s.standin.requests();
    expect(first).toMatchObject({
      phone: '***',
      email: '***',
      identifier: null,
      ip: '***',
      smsPhones: ['***'],
      customFields: { Store: 'Tartu', Receiver: '***', Secret: '***' },
      masked: true,
    });
    expect(third).toMatchObject({ email: 'bob@example.com', phone: '+37255551234', masked: false });
    const list = envelope.parse((await s.call('GET', '/appeals/')).body).results;
    expect(list[1]).toMatchObject({
      phone: '***',
      email: '***',
      custom_fields: { Store: 'Tartu', Receiver: '***', Secret: '***' },
    });
  });

  test('keeps grades, comments and statistics', async () => {
    const s = await masked();
    const campaign = (await s.call('GET', '/appeals/campaigns/1')).body;
    await s.call('POST', '/contacts/ann@example.com/mask');
    expect((await s.call('GET', '/appeals/campaigns/1')).body).toEqual(campaign);
    expect(s.standin.requests().map(({ grade, comment }) => [grade, comment])).toEqual([
      [5, 'Tere'],
      [2, 'Tere'],
      [1, 'Tere'],
    ]);
    expect((await s.call('GET', '/appeals/custom-fields?campaign=1')).body).toMatchObject([
      { name: 'Store', values: [{ value: 'Tartu', count: 3, average_grade: 2.67 }] },
      {
        name: 'Receiver',
        values: [
          { value: '***', count: 2, average_grade: 3.5 },
          { value: 'bob@example.com', count: 1, average_grade: 1 },
        ],
      },
    ]);
  });

  test('the contact can no longer be looked up, by none of its contacts', async () => {
    const s = await masked();
    await s.call('POST', '/contacts/ann@example.com/mask');
    for (const path of ['/contacts/ann@example.com', '/contacts/ann@example.com/access-log', '/contacts/***']) {
      const answer = await s.call('GET', path);
      expect([path, answer.status, answer.body]).toEqual([path, 404, { detail: 'Not found.' }]);
    }
    // The number is also on the other customer's request, which isn't masked.
    expect((await s.call('GET', '/contacts/+37255551234')).body).toMatchObject({ num_appeals: 1 });
  });

  test('a second call finds every request masked and gives an empty object, under any of its contacts', async () => {
    const s = await masked();
    await s.call('POST', '/contacts/+37255551234/mask');
    for (const contact of ['+37255551234', '0037255551234', 'ANN@example.com', 'bob@example.com']) {
      const answer = await s.call('POST', `/contacts/${contact}/mask`);
      expect([answer.status, Object(answer.body).masked]).toEqual([200, {}]);
    }
  });

  test('is 404 for a contact that never had a request', async () => {
    expect((await (await masked()).call('POST', '/contacts/nobody@example.com/mask')).status).toBe(404);
  });

  test('masks what has come since, and only that', async () => {
    const s = await masked();
    await s.call('POST', '/contacts/ann@example.com/mask');
    await created(s, { campaign: 1, email: 'ann@example.com' });
    expect((await s.call('GET', '/contacts/ann@example.com')).body).toMatchObject({ num_appeals: 1 });
    expect((await s.call('POST', '/contacts/ann@example.com/mask')).body).toMatchObject({ masked: { appeals: 1 } });
  });

  test('what has not gone out yet is never sent', async () => {
    const s = await masked();
    const id = await created(s, { campaign: 1, email: 'eve@example.com', scheduled: '2026-04-01T10:00' });
    await s.call('POST', '/contacts/eve@example.com/mask');
    s.standin.moveClock({ now: '2026-05-01T00:00:00Z' });
    expect(s.standin.requests().find((request) => request.id === id)).toMatchObject({
      status: 'Not sent',
      sentAt: null,
    });
  });
});

describe('GET /contacts/:contact/access-log', () => {
  test('lists access newest first, in pages; API calls leave no trace', async () => {
    const s = await campaigns();
    await created(s, { campaign: 1, phone: '+37255551234' });
    expect((await s.call('GET', '/contacts/+37255551234/access-log')).body).toEqual({
      count: 0,
      next: null,
      previous: null,
      results: [],
    });
    for (let minute = 0; minute < 1001; minute += 1) {
      s.standin.addAccess({
        account: 'a',
        contact: '0037255551234',
        user: `u${minute}`,
        at: new Date(noon.getTime() + minute * 60_000),
      });
    }
    await s.call('GET', '/contacts/+37255551234');
    const first = envelope.parse((await s.call('GET', '/contacts/+37255551234/access-log')).body);
    expect([first.count, first.next]).toEqual([1001, `${s.url}/api/contacts/+37255551234/access-log?page=2`]);
    expect(first.results[0]).toEqual({
      user: 'u1000',
      action: 'app-contact-detail',
      date_accessed: '2026-03-11T04:40:00.000000+02:00',
    });
    const second = envelope.parse((await s.call('GET', '/contacts/+37255551234/access-log?page=2')).body);
    expect(second.results).toEqual([
      { user: 'u0', action: 'app-contact-detail', date_accessed: '2026-03-10T12:00:00.000000+02:00' },
    ]);
  });

  test('is 404 without a request for the contact', async () => {
    const s = await campaigns();
    s.standin.addAccess({ account: 'a', contact: 'x', user: 'u' });
    expect((await s.call('GET', '/contacts/x/access-log')).status).toBe(404);
  });
});
