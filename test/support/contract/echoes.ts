import assert from 'node:assert/strict';
import type { Source } from '../../../core/connector/contract.ts';
import {
  answer,
  assertNothingPersonal,
  type Bench,
  closeDelivered,
  closeOne,
  closingOf,
  eventsOf,
  needed,
  type Tests,
} from './bench.ts';
import { type ConnectorSample, corrected, customer, secrets } from './sample.ts';

/** `echo`: what the vendor delivers about changes that close nothing, our own writes first of all. */
export function echoes(bench: () => Bench, { test }: Tests): void {
  const happenings: [what: string, happen: (bench: Bench, recordId: string) => Promise<unknown>][] = [
    ['our own write', ({ source }, recordId) => source.writeBack([answer(recordId)])],
    ["the correction of a customer's address", ({ vendor }, recordId) => vendor.correctEmail(recordId, corrected)],
  ];
  for (const [what, happen] of happenings) {
    test(`it takes the deliveries that ${what} sets off for no new closing`, () => opensNoClosing(bench(), happen));
  }
}

async function opensNoClosing(
  bench: Bench,
  happen: (bench: Bench, recordId: string) => Promise<unknown>,
): Promise<void> {
  const { vendor, source } = bench;
  const delivered = needed(vendor.delivered, 'delivered').bind(vendor);
  const { recordId, delivery } = await closeDelivered(bench);
  const keys = (await eventsOf(source, delivery)).map(({ key }) => key);
  const closing = await closingOf(bench, recordId);
  await delivered(secrets[0]);
  await happen(bench, recordId);
  for (const echo of await delivered(secrets[0])) {
    assert.deepEqual(source.verify(echo), { ok: true });
    for (const event of await eventsOf(source, echo)) {
      // A vendor that only ever says "this record changed" may repeat a closing; it can't make another.
      if (event.kind === 'closed') assert.ok(keys.includes(event.key) || event.closing === closing);
    }
  }
  assert.equal(await closingOf(bench, recordId), closing);
}

/** `erase`: a person is to be forgotten. */
export function erasures(bench: () => Bench, { test }: Tests): void {
  test('it finds whom to forget in a delivery that says so', async () => {
    const { vendor, source } = bench();
    const recordId = await closeOne(bench());
    const [read] = await source.read([recordId]);
    if (!read?.ok) return assert.fail('the record was not read');
    const delivery = await needed(vendor.erase, 'erase').call(vendor, recordId, secrets[0]);
    assert.deepEqual(source.verify(delivery), { ok: true });
    const [event, ...others] = (await eventsOf(source, delivery)).filter(({ kind }) => kind === 'erase');
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

/** `forget`: what was written is taken off again. */
export function forgettings(
  { missingId, does = [], keeps = [] }: ConnectorSample,
  bench: () => Bench,
  { test }: Tests,
): void {
  const traces = (id: string): unknown => {
    const all = bench().vendor.traces(id);
    if (typeof all !== 'object' || all === null) return all;
    return Object.fromEntries(Object.entries(all).filter(([name]) => !keeps.includes(name)));
  };

  test('it leaves no trace of an answer on records whose people are forgotten, and every trace on others', async () => {
    const { source } = bench();
    const [one, other] = [await closeOne(bench()), await closeOne(bench())];
    const before = traces(one);
    await source.writeBack([answer(one), answer(other, { marker: 'j8.1' })]);
    const kept = traces(other);
    assert.notDeepEqual(traces(one), before);
    const left = await forget(source, [one, missingId, 'no such id', one]);
    assertNothingPersonal(left);
    if (keeps.length > 0) assert.notDeepEqual(left, [], 'what is kept has to be told');
    assert.deepEqual(traces(one), before);
    assert.deepEqual(traces(other), kept);
    await forget(source, [one]);
    assert.deepEqual(traces(one), before);
    assert.deepEqual(await forget(source, []), []);
  });

  test('it takes a grade between two whole ones off again', async () => {
    const { source } = bench();
    const id = await closeOne(bench());
    const before = traces(id);
    await source.writeBack([answer(id, { grade: 2.5 })]);
    await forget(source, [id]);
    assert.deepEqual(traces(id), before);
  });

  test('it can put an answer on a record whose people were forgotten', async () => {
    const { vendor, source } = bench();
    const id = await closeOne(bench());
    await source.writeBack([answer(id)]);
    await forget(source, [id]);
    await source.writeBack([answer(id, { grade: 2, marker: 'j9.1' })]);
    assert.equal(vendor.gradeOn(id), 2);
  });

  if (!does.includes('no-answer')) return;
  test('it takes off that no answer came', async () => {
    const { source } = bench();
    const id = await closeOne(bench());
    const before = traces(id);
    await source.writeBack([answer(id, { status: 'no-answer', grade: null, comment: null, marker: 'j1.0' })]);
    await forget(source, [id]);
    assert.deepEqual(traces(id), before);
  });
}

async function forget(source: Source, ids: readonly string[]): Promise<string[]> {
  return (
    (await source.forget?.(ids)) ?? assert.fail('the sample says that the connector does this, but it has no forget')
  );
}
