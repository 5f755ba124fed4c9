import { describe, expect, test } from 'vitest';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { unitContext } = service;
const phone = '+37255512345';
const sentTo = () => sentToBy(service.standin);
const notMasking = (contact: RegExp, answer: { status: number; body: string | Record<string, unknown> }) =>
  service.standin.faults.add({ method: 'POST', path: `${contact.source}.*/mask$`, times: 1_000, ...answer });

describe('who is masked', () => {
  const external = '{ name: all, campaign: 15, contact: customer.phone }';
  const landlines: [asked: string, erased: string][] = [
    ['+372 612 3456', '+372 612 3456'],
    ['00372 612 3456', '+3726123456'],
    ['+3726123456', '00372 612-3456'],
    ['612 3456', '612 3456'],
    ['+999 1234 5678', '0099912345678'],
    ['Case A/1', 'case a/1'],
  ];
  test.each(landlines)(
    'it masks who was asked as %j by an external campaign and is erased as %j (audit 1)',
    async (contact, written) => {
      const unit = unitContext({ rule: external });
      await asked(unit, 'a', { phone: contact });
      await erase(eraseOf({ contacts: [written] }), unit.context);
      expect(sentTo()).toEqual(['***']);
      expect(await isErased(unit.context, 'a.1')).toBe(true);
    },
  );

  test('it masks a request that somebody else made, with the number as it is written (audit 1)', async () => {
    const { context } = unitContext();
    const contact = { kind: 'identifier', value: '+372 612 3456' } as const;
    await context.feedback.create({ campaign: 15, contact, customFields: {} });
    await erase(eraseOf({ contacts: ['+3726123456'] }), context);
    expect(sentTo()).toEqual(['***']);
  });

  test("it masks who is found by an e-mail in a record's snapshot, and was asked by phone there and elsewhere (audit 1)", async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }' });
    const snapshot = { state: 'closed', shape: { customer: { phone, mail: email } } };
    await asked(unit, 'a', { phone });
    await unit.context.snapshots.save('a', ago(500), snapshot);
    await asked(unit, 'b', { phone, email: 'second@example.com' }, { personId: 'person-seven' });
    await asked(unit, 'c', { email: 'second@example.com' });
    await asked(unit, 'd', { email: 'third@example.com' }, { personId: 'person-seven' });
    await asked(unit, 'z', { email: 'other@example.com' });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(sentTo().filter((to) => to !== '***')).toEqual(['second@example.com', 'other@example.com']);
    for (const id of ['a.1', 'b.1', 'd.1']) expect(await isErased(unit.context, id)).toBe(true);
  });

  test('it masks whom the rules would ask by a snapshot that never led to a journey (audit 1)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }' });
    await unit.context.snapshots.save('t', ago(500), { state: 'closed', shape: { customer: { phone, email } } });
    await asked(unit, 'a', { phone });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(sentTo()).toEqual(['***']);
    expect(await unit.context.snapshots.of(['t'])).toEqual([undefined]);
  });

  const foreign: [what: string, answer: { status: number; body: string | Record<string, unknown> }][] = [
    ['a page of a proxy', { status: 404, body: '<html>Not Found</html>' }],
    ['other JSON', { status: 404, body: { detail: 'No route.' } }],
    ['more than those words', { status: 404, body: { detail: 'Not found.', path: ['/api'] } }],
    ['another shape', { status: 200, body: { ok: true } }],
  ];
  test.each(foreign)(
    'it takes %s for no answer about a person: nothing is done, and nothing forgotten of it (audit 2)',
    async (_, answer) => {
      const unit = unitContext();
      await asked(unit, 'a', { email });
      notMasking(/erika/, answer);
      await erase(eraseOf({ contacts: [email] }), unit.context);
      expect(await unit.context.erasures.all()).toEqual([]);
      expect(await isErased(unit.context, 'a.1')).toBe(false);
      expect(sentTo()).toEqual([email]);
    },
  );

  test("it takes the service's own words for nobody (audit 2)", async () => {
    const { context } = unitContext();
    await erase(eraseOf({ contacts: [email] }), context);
    expect(await context.erasures.all()).toMatchObject([{ journeys: 0, requestsMasked: 0 }]);
  });
});
