import { expect, test } from 'vitest';
import { VendorError } from '../../../../core/connector/classify.ts';
import { answer } from '../../../support/contract/bench.ts';
import { delivered, recorded, replayed } from './recorded.ts';

const [arrived = '', underWay = '', cancelled = ''] = recorded.ids;

test('a delivery of the plugin is taken with its signature, for five minutes, and not with any other', () => {
  const source = replayed('read');
  for (const told of recorded.told) {
    const delivery = delivered(told);
    expect(source.verify(delivery)).toEqual({ ok: true });
    const late = new Date(delivery.receivedAt.getTime() + 301_000);
    expect(source.verify({ ...delivery, receivedAt: late })).toEqual({ ok: false, why: 'stale' });
    expect(source.verify({ ...delivery, raw: Buffer.from(`${told.body} `) })).toEqual({ ok: false, why: 'mismatch' });
    const headers = { ...delivery.headers, 'x-vendure-timestamp': undefined };
    expect(source.verify({ ...delivery, headers })).toMatchObject({ ok: false, why: 'unsigned' });
  }
});

test('of the states that an order goes through, the one that closes it is an event', async () => {
  const source = replayed('read');
  const found = await Promise.all(recorded.told.map((told) => source.events(delivered(told))));
  expect(found.flatMap((events) => (events.ok ? events.events : []))).toMatchObject([
    { kind: 'closed', certain: true, recordId: arrived, what: 'state Delivered, was Shipped' },
  ]);
});

test('orders are read in one call, each with its state and its customer', async () => {
  const results = await replayed('read').read([arrived, underWay, cancelled, '999']);
  expect(results.map((result) => result.ok && result.record.state.is)).toEqual(['closed', 'open', 'out', false]);
  expect(results[0]).toMatchObject({
    record: {
      state: { closing: expect.stringMatching(/^\d+$/) },
      shape: {
        order: { code: expect.stringMatching(/^[A-Z0-9]{16}$/), total: 10, currency: 'USD' },
        items: [{ name: 'Thing', sku: 'T1', quantity: 1 }],
        customer: { email: 'hanna.customer@example.com', phone: '+491729925904', fields: { language: 'de' } },
        shipping: { city: 'Bonn', country: 'DE' },
      },
      country: 'DE',
    },
  });
});

test('the customer has the language and the zone of the custom fields that the settings name', async () => {
  const more = { username: 'superadmin', password: 'secret', languageField: 'language', timeZoneField: 'timeZone' };
  const [read] = await replayed('read', more).read([arrived, underWay, cancelled, '999']);
  expect(read).toMatchObject({ record: { locale: 'de', timeZone: 'Europe/Berlin' } });
});

test('the poll finds a closing by the time that the plugin has noted, by the same closing as a reading', async () => {
  const { events, done } = await poll(replayed('poll'));
  expect(done).toBe(true);
  expect(events.map((event) => 'recordId' in event && event.recordId)).toEqual([arrived]);
  const [read] = await replayed('read').read([arrived, underWay, cancelled, '999']);
  const state = read?.ok ? read.record.state : undefined;
  expect(events[0]).toMatchObject({ closing: state?.is === 'closed' && state.closing, key: expect.any(String) });
});

test('answers are written in one document, and each note by a call', async () => {
  const items = [answer(arrived), answer(underWay, { grade: 2.5, marker: 'j8.1' })];
  expect(await replayed('write').writeBack(items)).toEqual([
    { ok: true, findings: [] },
    { ok: true, findings: [] },
  ]);
});

test('an answer that is there already is not written again, and its note is found', async () => {
  expect(await replayed('notes').writeBack([answer(arrived)])).toEqual([{ ok: true, findings: [] }]);
});

const misfits = { writeBack: { grade: 'gradeInt', status: 'feedbackChoice', comment: 'feedbackComment' } };
const refused = (what: string) => `Vendure: ${what}: look at its type, bounds and choices`;
const choice = refused('"feedbackChoice" takes no such text');

test('of two orders, each keeps what its fields take, and what they refuse is told', async () => {
  const more = { username: 'superadmin', password: 'secret', ...misfits };
  const items = [answer(arrived, { grade: 11 }), answer(underWay, { grade: 4, comment: 'fine' })];
  expect(await replayed('refusedRow', more).writeBack(items)).toEqual([
    { ok: true, findings: [refused('"gradeInt" takes no 11'), choice] },
    { ok: true, findings: [choice] },
  ]);
});

test('a value of a wrong type, for which Vendure refuses the whole document, is told', async () => {
  const more = { username: 'superadmin', password: 'secret', ...misfits };
  expect(await replayed('refusedDocument', more).writeBack([answer(arrived, { grade: 2.5 })])).toEqual([
    { ok: true, findings: [refused('"gradeInt" takes no 2.5'), choice] },
  ]);
});

test('all of an answer is taken off', async () => {
  expect(await replayed('forget').forget?.([arrived])).toEqual([]);
});

test('check finds nothing wrong', async () => {
  const source = replayed('check');
  expect(await source.check?.({ grades: [1, 2, 3], reads: [], answersWithinMs: 1 })).toMatchObject([
    { level: 'warning', at: 'http.publicUrl' },
  ]);
});

const key = { apiKey: 'a-key' };
test.each([
  ['a wrong password', () => replayed('badLogin'), 'the login is refused'],
  ['a key without the right', () => replayed('forbidden', key), 'or lacks a right (FORBIDDEN)'],
  ['another address', () => replayed('wrongAddress', key), 'there is no Admin API at this address (404)'],
])('%s stops the source until a person acts', async (_, open, said) => {
  const error = await open()
    .read([arrived])
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(VendorError);
  expect(error).toMatchObject({ advice: { kind: 'config' }, message: expect.stringContaining(said) });
});

async function poll(source: ReturnType<typeof replayed>) {
  return (await source.poll?.({ since: recorded.since })) ?? expect.fail('no poll');
}
