import { describe, expect, test } from 'vitest';
import type { FeedbackStandinOptions } from '../../../../standins/feedback/standin.ts';
import { created, noon, type Service, service } from '../../../support/standins/feedback/service.ts';

/* Sections 2 and 4.3 of the specification: contacts. A row for each rule. */

const phone = '+37255551234';
const email = 'ann@example.com';
const notFound = { status: 404, body: { detail: 'Not found.' } };

async function campaigns(options: FeedbackStandinOptions = {}): Promise<Service> {
  const s = await service(options);
  s.standin.addCampaign({ account: 'a', id: 1, type: 'mixed', metric: 'csat', name: 'Support' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'mixed', metric: 'nps' });
  const scale = { gradeList: [1, 2, 3], scale: 'Smileys' };
  s.standin.addCampaign({ account: 'a', id: 3, type: 'external', metric: 'avg', ...scale });
  s.standin.addCampaign({ account: 'b', id: 4 });
  return s;
}

const empty = {
  ...{ contact: phone, num_appeals: 1, num_feedback: 0, avg_grade: [], index_csat: null, index_nps: null },
  ...{ last_appeal: '2026-03-10T12:00:00.000000+02:00', last_grade: null, last_comment: null, last_survey: null },
  ...{ blacklist: null, graylist: null },
};

describe('a contact', () => {
  test.each<[stored: object, asked: string, contact: string | undefined]>([
    [{ phone }, '+37255551234', phone],
    [{ phone }, '%2B37255551234', phone],
    [{ phone }, '0037255551234', phone],
    [{ phone: '0037255551234' }, phone, phone],
    [{ phone }, '%2B372%205555-1234', phone],
    [{ phone }, '37255551234', undefined],
    [{ email: 'Ann@Example.com' }, 'ann@example.COM', email],
    [{ email: 'ann+shop@example.com' }, 'ann+shop@example.com', 'ann+shop@example.com'],
    [{ email: 'ann+shop@example.com' }, 'ann%2Bshop%40example.com', 'ann+shop@example.com'],
    [{ email }, 'ann@example.co', undefined],
    [{ identifier: 'Case A/1' }, 'case%20a%2F1', 'case a/1'],
    [{ identifier: '0012345' }, '0012345', '0012345'],
    [{ identifier: '0012345' }, '+12345', undefined],
    [{ identifier: '003726123456' }, '+3726123456', '+3726123456'],
    [{ identifier: '+3726123456' }, '00372 612 3456', '+3726123456'],
    [{ identifier: '+372 612 3456' }, '+372%20612%203456', '+3726123456'],
    [{ identifier: '+372 612 3456' }, '+3726123456', undefined],
    [{ email, phone }, phone, phone],
    [{ email, phone }, email, email],
  ])('of %j is asked for as %s: %s', async (stored, asked, contact) => {
    const s = await campaigns();
    await created(s, { campaign: 'identifier' in stored ? 3 : 1, ...stored });
    const { status, body } = await s.ask(`GET /contacts/${asked}`);
    expect({ status, body }).toEqual(contact === undefined ? notFound : { status: 200, body: { ...empty, contact } });
  });

  test("is not found by another account's requests", async () => {
    const { ask } = await campaigns();
    await ask('POST /appeals/', { campaign: 4, email }, { authorization: 'Token other' });
    expect(await ask(`GET /contacts/${email}`)).toMatchObject(notFound);
  });

  test('has counts, an average for each scale, indexes and last dates', async () => {
    const s = await campaigns();
    const answered = async (campaign: number, grade: number, more: object = {}): Promise<void> => {
      const request = await created(s, { campaign, phone });
      s.standin.moveClock({ advanceMs: 3_600_000 });
      s.standin.answer({ request, grade, ...more });
    };
    await answered(1, 5, { comment: 'Tere' });
    await answered(1, 2, { survey: true });
    await answered(2, 10);
    await answered(2, 7);
    await s.ask(`POST /appeals/${await created(s, { campaign: 3, identifier: phone })}/grade`, { grade: 3 });
    await created(s, { campaign: 1, phone, scheduled: '2026-04-01T10:00' });
    expect((await s.ask(`GET /contacts/${phone}`)).body).toEqual({
      ...{ ...empty, num_appeals: 6, num_feedback: 5, index_csat: 50, index_nps: 50 },
      avg_grade: [
        { scale: '1-5', avg: 3.5 },
        { scale: '0-10', avg: 8.5 },
        { scale: 'Smileys', avg: 3 },
      ],
      last_appeal: '2026-04-01T10:00:00.000000+03:00',
      last_grade: '2026-03-10T16:00:00.000000+02:00',
      last_comment: '2026-03-10T13:00:00.000000+02:00',
      last_survey: '2026-03-10T14:00:00.000000+02:00',
    });
  });
});

describe('masking', () => {
  async function answered(): Promise<Service> {
    const s = await service();
    const customFields = [
      { name: 'Store' },
      { name: 'Receiver', personal: true },
      { name: 'Secret', personal: true, showInReport: false },
    ];
    s.standin.addCampaign({ account: 'a', id: 1, type: 'mixed', customFields });
    for (const [address, grade] of Object.entries({ [email]: 5, 'ANN@example.com': 2, 'bob@example.com': 1 })) {
      const custom_fields = { Store: 'Tartu', Receiver: address, Secret: address };
      const request = await created(s, { campaign: 1, email: address, phone, custom_fields });
      s.standin.answer({ request, grade, comment: 'Tere', ip: '192.0.2.1' });
    }
    return s;
  }
  const mask = ({ ask }: Service, contact = email) => ask(`POST /contacts/${contact}/mask`);

  test("takes phone, email, IP address, personal fields and phones of SMS messages of all the contact's requests", async () => {
    const s = await answered();
    expect((await mask(s, 'Ann@example.com')).body).toEqual({ contact: email, masked: { appeals: 2 } });
    const customFields = { Store: 'Tartu', Receiver: '***', Secret: '***' };
    const shown = { phone: '***', email: '***', identifier: null };
    const [first, second, third] = s.standin.requests();
    expect(first).toMatchObject({ ...shown, ip: '***', smsPhones: ['***'], customFields, masked: true });
    expect([second, third]).toMatchObject([{ masked: true }, { email: 'bob@example.com', phone, masked: false }]);
    expect((await s.ask('GET /appeals/')).body.results[1]).toMatchObject({ ...shown, custom_fields: customFields });
  });

  test('keeps grades, comments and statistics', async () => {
    const s = await answered();
    const campaign = (await s.ask('GET /appeals/campaigns/1')).body;
    await mask(s);
    expect((await s.ask('GET /appeals/campaigns/1')).body).toEqual(campaign);
    expect(s.standin.requests().map(({ grade, comment }) => [grade, comment])).toEqual(
      [5, 2, 1].map((grade) => [grade, 'Tere']),
    );
    const [store, receiver] = (await s.ask('GET /appeals/custom-fields?campaign=1')).body;
    expect(store.values).toEqual([{ value: 'Tartu', count: 3, average_grade: 2.67 }]);
    expect(receiver.values).toEqual([
      { value: '***', count: 2, average_grade: 3.5 },
      { value: 'bob@example.com', count: 1, average_grade: 1 },
    ]);
  });

  test('has the contact looked up no more, but by a request that is not masked', async () => {
    const s = await answered();
    await mask(s);
    for (const path of [email, `${email}/access-log`, '***']) {
      expect(await s.ask(`GET /contacts/${path}`)).toMatchObject(notFound);
    }
    expect((await s.ask(`GET /contacts/${phone}`)).body).toMatchObject({ num_appeals: 1 });
  });

  test('gives an empty object where every request was masked, under any of its contacts', async () => {
    const s = await answered();
    await mask(s, phone);
    for (const contact of [phone, '0037255551234', 'ANN@example.com', 'bob@example.com']) {
      expect(await mask(s, contact)).toMatchObject({ status: 200, body: { masked: {} } });
      expect((await mask(s, contact)).body.masked).toEqual({});
    }
  });

  test('is 404 for a contact that never had a request', async () => {
    expect(await mask(await answered(), 'nobody@example.com')).toMatchObject(notFound);
  });
});

test('an access log has the newest first, of people only, and is 404 where the contact has no request', async () => {
  const s = await campaigns();
  for (const [user, minute] of Object.entries({ first: 0, last: 2, second: 1 })) {
    const at = new Date(noon.getTime() + minute * 60_000);
    s.standin.addAccess({ account: 'a', contact: '0037255551234', user, at });
  }
  const log = () => s.ask(`GET /contacts/${phone}/access-log`);
  expect(await log()).toMatchObject(notFound);
  await created(s, { campaign: 1, phone });
  await s.ask(`GET /contacts/${phone}`);
  expect((await log()).body.results.map(({ user }: { user: string }) => user)).toEqual(['last', 'second', 'first']);
  const date_accessed = '2026-03-10T12:02:00.000000+02:00';
  expect((await log()).body.results[0]).toEqual({ user: 'last', action: 'app-contact-detail', date_accessed });
});
