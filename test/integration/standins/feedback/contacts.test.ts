import { describe, expect, test } from 'vitest';
import { created, type Service, service } from '../../../support/standins/feedback/service.ts';

/* Sections 2 and 4.3 of the specification: contacts. A row for each rule. */

const phone = '+37255551234';
const email = 'ann@example.com';
const notFound = { status: 404, body: { detail: 'Not found.' } };

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
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 1, type: 'identifier' in stored ? 'external' : 'mixed' });
    await created(s, { campaign: 1, ...stored });
    const { status, body } = await s.ask(`GET /contacts/${asked}`);
    expect({ status, body }).toEqual(contact === undefined ? notFound : { status: 200, body: { ...empty, contact } });
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

  test('has the contact looked up no more, but by a request that is not masked', async () => {
    const s = await answered();
    await mask(s);
    for (const path of [email, `${email}/access-log`, '***']) {
      expect(await s.ask(`GET /contacts/${path}`)).toMatchObject(notFound);
    }
    expect((await s.ask(`GET /contacts/${phone}`)).body).toMatchObject({ num_appeals: 1 });
  });

  test('is 404 for a contact that never had a request', async () => {
    expect(await mask(await answered(), 'nobody@example.com')).toMatchObject(notFound);
  });
});
