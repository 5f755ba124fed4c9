import assert from 'node:assert/strict';
import {
  answer,
  assertNothingPersonal,
  type Bench,
  closeOne,
  closingOf,
  eventsOf,
  needed,
  type TestRunner,
} from './bench.ts';
import { customer, secrets } from './sample.ts';

/** `echo`: what the vendor delivers about our own writes. */
export function echoes(bench: () => Bench, { test }: TestRunner): void {
  test('it takes the deliveries that our own write sets off for no new closing', async () => {
    const { vendor, source } = bench();
    const delivered = needed(vendor.delivered, 'delivered').bind(vendor);
    const { recordId, delivery } = await vendor.closeRecord(secrets[0]);
    const keys = eventsOf(source, delivery).map(({ key }) => key);
    const closing = await closingOf(bench(), recordId);
    await delivered(secrets[0]);
    await source.writeBack([answer(recordId)]);
    for (const echo of await delivered(secrets[0])) {
      assert.deepEqual(source.verify(echo), { ok: true });
      for (const event of eventsOf(source, echo)) {
        // A vendor that only ever says "this record changed" may repeat a closing; it can't make another.
        if (event.kind === 'closed') assert.ok(keys.includes(event.key) || event.closing === closing);
      }
    }
    assert.equal(await closingOf(bench(), recordId), closing);
  });
}

/** `erase`: a person is to be forgotten. */
export function erasures(bench: () => Bench, { test }: TestRunner): void {
  test('it finds whom to forget in a delivery that says so', async () => {
    const { vendor, source } = bench();
    const recordId = await closeOne(bench());
    const [read] = await source.read([recordId], 'plan');
    if (!read?.ok) return assert.fail('the record was not read');
    const delivery = await needed(vendor.erase, 'erase').call(vendor, recordId, secrets[0]);
    assert.deepEqual(source.verify(delivery), { ok: true });
    const [event, ...others] = eventsOf(source, delivery).filter(({ kind }) => kind === 'erase');
    assert.ok(event?.kind === 'erase' && others.length === 0);
    const { personIds = [], recordIds = [], contacts = [], everybody } = event;
    const found = [
      read.record.personId !== undefined && personIds.includes(read.record.personId),
      recordIds.includes(recordId),
      contacts.includes(customer.email),
      everybody === true,
    ];
    assert.ok(found.includes(true), 'nothing in the event finds the customer of the record');
    assertNothingPersonal([event.what, event.key]);
  });
}
