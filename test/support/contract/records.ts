import assert from 'node:assert/strict';
import type { PresentedRecord, WriteResult } from '../../../core/connector/contract.ts';
import { adviceOf } from '../../../core/errors.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';
import { countryCode } from '../../../core/schedule/countries.ts';
import { isZone } from '../../../core/schedule/wall-clock.ts';
import {
  answer,
  assertNothingPersonal,
  type Bench,
  closeOne,
  closingOf,
  needed,
  readOne,
  reopen,
  stateOf,
  type Tests,
} from './bench.ts';
import { type ConnectorSample, corrected, customer, secrets } from './sample.ts';

/** Reading records, and writing answers on them. */
export function records(
  { connector, missingId, does = [], lacks = {} }: ConnectorSample,
  bench: () => Bench,
  { test }: Tests,
): void {
  test('it gives one result per id, in order', async () => {
    const { source } = bench();
    const [one, two] = [await closeOne(bench()), await closeOne(bench())];
    const results = await source.read([two, missingId, one, two, 'no such id']);
    const found = results.map((result) => (result.ok ? result.record.id : result.why));
    assert.deepEqual(found, [two, 'not-found', one, two, 'not-found']);
  });

  test('it is led nowhere by an id that is none', async () => {
    const { source, vendor } = bench();
    const [one, two] = [await closeOne(bench()), await closeOne(bench())];
    const before = vendor.traces(two);
    const ids = hostileIds(one, two);
    const read = await source.read([one, ...ids, two]);
    assert.deepEqual(
      read.map((result) => (result.ok ? result.record.id : result.why)),
      [one, ...ids.map(() => 'not-found'), two],
    );
    const written = await source.writeBack([...ids.map((id) => answer(id)), answer(one)]);
    assert.deepEqual(written.map(inShort), [...ids.map(() => 'not-found'), []]);
    assert.deepEqual(vendor.traces(two), before);
  });

  test('it makes no call for nothing', async () => {
    const { source, vendor } = bench();
    assert.deepEqual(await source.read([]), []);
    assert.deepEqual(await source.writeBack([]), []);
    assert.equal(vendor.calls(), 0);
  });

  test('it names a closing the same at every look, and another one after reopening', async () => {
    const { source, vendor } = bench();
    const id = await closeOne(bench());
    const first = await closingOf(bench(), id);
    assert.notEqual(first, '');
    assert.equal(await closingOf(bench(), id), first);
    await vendor.reopen(id);
    assert.equal(stateOf((await source.read([id]))[0]).is, 'open');
    await vendor.closeAgain(id, secrets[0]);
    const second = await closingOf(bench(), id);
    assert.notEqual(second, first);
    assert.equal(await closingOf(bench(), id), second);
  });

  test('it names the same closing after a write', async () => {
    const id = await closeOne(bench());
    const before = await closingOf(bench(), id);
    await bench().source.writeBack([answer(id)]);
    assert.equal(await closingOf(bench(), id), before);
  });

  test('it presents the same closing with the address that was corrected since, and with the old one no longer', async () => {
    const id = await closeOne(bench());
    const before = await readOne(bench(), id);
    await bench().vendor.correctEmail(id, corrected);
    const after = await readOne(bench(), id);
    assertCustomerIs(corrected, after);
    assert.equal(after.personId, before.personId);
    assert.deepEqual(after.state, before.state);
  });

  if (does.includes('replace')) {
    test('it presents the same closing with the customer who has replaced another since', async () => {
      const { vendor } = bench();
      const id = await closeOne(bench());
      const before = await readOne(bench(), id);
      await needed(vendor.replaceCustomer, 'replaceCustomer').call(vendor, id, corrected);
      const after = await readOne(bench(), id);
      assertCustomerIs(corrected, after);
      if (before.personId !== undefined) assert.notEqual(after.personId, before.personId);
      assert.deepEqual(after.state, before.state);
    });
  }

  test('it presents JSON, with the customer in it', async () => {
    const [result] = await bench().source.read([await closeOne(bench())]);
    if (!result?.ok) return assert.fail('the record was not read');
    const { shape } = result.record;
    assert.ok(JSON.stringify(shape).includes(customer.email));
    // A key without a value may be there as undefined or not at all; nothing else may get lost on the way.
    assert.deepEqual(JSON.parse(JSON.stringify(shape)), withoutHoles(shape));
  });

  test("it presents the customer's address where its data sheet says (`parts.customer`)", async () => {
    const { customer: paths } = connector.parts;
    if (paths === undefined) return;
    const [result] = await bench().source.read([await closeOne(bench())]);
    if (!result?.ok) return assert.fail('the record was not read');
    const { shape } = result.record;
    const found = await Promise.all(paths.map((path) => compileExpression(path).evaluate(shape)));
    assert.ok(found.flat().includes(customer.email), `${paths.join(', ')}: none is the customer's address`);
  });

  test('it says where the customer is in words that tell a clock: an IANA zone, a country, its region', async () => {
    const [result] = await bench().source.read([await closeOne(bench())]);
    if (!result?.ok) return assert.fail('the record was not read');
    const { timeZone, country, region } = result.record;
    assert.ok(timeZone === undefined || isZone(timeZone), `${timeZone} is no IANA zone`);
    assert.ok(country === undefined || countryCode(country) !== undefined, `${country} is no country`);
    assert.ok(region === undefined || country !== undefined, 'a region tells nothing without its country');
  });

  test('it presents what its data sheet says of its records (`parts`): the opening, before the closing', async () => {
    const { openedAt } = connector.parts;
    if (openedAt === undefined) return;
    const [result] = await bench().source.read([await closeOne(bench())]);
    if (!result?.ok || result.record.state.is !== 'closed') return assert.fail('no closed record was read');
    const { shape, state } = result.record;
    const found = await Promise.all(openedAt.map((path) => compileExpression(path).evaluate(shape)));
    const [opened] = found.filter((value) => typeof value === 'string');
    assert.ok(Date.parse(opened ?? '') <= state.closedAt.getTime(), `${openedAt.join(', ')}: ${opened}`);
  });

  test('it writes each grade on its record, and a missing record fails alone', async () => {
    const { source, vendor } = bench();
    const [one, two] = [await closeOne(bench()), await closeOne(bench())];
    const items = [answer(two, { grade: 2 }), answer(missingId), answer(one, { grade: 9 }), answer('no such id')];
    const results = await source.writeBack(items);
    assert.deepEqual(results.map(inShort), [[], 'not-found', [], 'not-found']);
    assert.deepEqual([vendor.gradeOn(one), vendor.gradeOn(two)], [9, 2]);
    assertNothingPersonal(results);
  });

  test('it leaves the same on the record when it writes the same again', async () => {
    const { source, vendor } = bench();
    const id = await closeOne(bench());
    await source.writeBack([answer(id)]);
    const once = vendor.traces(id);
    assert.deepEqual((await source.writeBack([answer(id)])).map(inShort), [[]]);
    assert.deepEqual(vendor.traces(id), once);
  });

  test('it replaces a grade by a later one, in another call or in the same', async () => {
    const { source, vendor } = bench();
    const id = await closeOne(bench());
    await source.writeBack([answer(id, { grade: 3, marker: 'j1.1' })]);
    assert.equal(vendor.gradeOn(id), 3);
    await source.writeBack([answer(id, { grade: 8, marker: 'j1.2' })]);
    assert.equal(vendor.gradeOn(id), 8);
    const both = [answer(id, { grade: 1, marker: 'j1.3' }), answer(id, { grade: 6, marker: 'j1.4' })];
    assert.deepEqual(
      (await source.writeBack(both)).map(({ ok }) => ok),
      [true, true],
    );
    assert.equal(vendor.gradeOn(id), 6);
  });

  if (lacks.newer === undefined) {
    test('it never writes an older answer over a newer one, whichever comes first', async () => {
      const { source, vendor } = bench();
      const id = await closeOne(bench());
      await source.writeBack([answer(id, { grade: 8, marker: 'j1.2', answeredAt: new Date('2026-11-20T11:00:00Z') })]);
      const held = vendor.traces(id);
      const [older] = await reopen(bench()).source.writeBack([
        answer(id, { grade: 3, comment: 'older', marker: 'j1.1' }),
      ]);
      assert.equal(vendor.gradeOn(id), 8);
      assert.deepEqual(vendor.traces(id), held, 'something of the older answer is on the record');
      assert.ok(older?.ok && older.findings.length === 0, 'nobody has to act');
    });
  }

  if (lacks.comment === undefined) {
    test('it writes grade and comment, and takes them off where the later answer has none', async () => {
      const { source, vendor } = bench();
      const commentOn = needed(vendor.commentOn, 'commentOn, or a reason in `lacks`').bind(vendor);
      const id = await closeOne(bench());
      await source.writeBack([answer(id, { marker: 'j1.1' })]);
      assert.equal(commentOn(id), customer.comment);
      const answeredAt = new Date('2026-11-20T11:00:00Z');
      await source.writeBack([answer(id, { marker: 'j1.2', comment: null, grade: null, answeredAt })]);
      assert.deepEqual([commentOn(id) ?? '', vendor.gradeOn(id)], ['', null]);
    });
  }

  if (lacks.swallow === undefined) {
    test('it tells, with what to do, that the vendor did not keep a grade', async () => {
      const { source, vendor } = bench();
      const id = await closeOne(bench());
      await needed(vendor.swallow, 'swallow, or a reason in `lacks`').call(vendor, id);
      const [result] = await source.writeBack([answer(id)]);
      assert.notDeepEqual(saidOf(result), [], 'the journey ends as written, and nobody knows');
      assertNothingPersonal(saidOf(result));
    });
  }

  if (lacks.dropdown === undefined) {
    test('it tells that a dropdown lacks the grade, and writes what else it can', async () => {
      const { vendor } = bench();
      await needed(vendor.dropdown, 'dropdown, or a reason in `lacks`').call(vendor, [1, 2, 3]);
      const { source } = reopen(bench());
      const [one, two] = [await closeOne(bench()), await closeOne(bench())];
      const [unfit, fit] = await source.writeBack([answer(one, { grade: 7 }), answer(two, { grade: 3 })]);
      assert.notDeepEqual(saidOf(unfit), [], 'the journey ends as written, and nobody knows');
      assertNothingPersonal(saidOf(unfit));
      assert.deepEqual([vendor.gradeOn(one), vendor.gradeOn(two)], [null, 3]);
      assert.deepEqual(fit && inShort(fit), []);
      if (unfit?.ok && vendor.commentOn) assert.equal(vendor.commentOn(one), customer.comment);
    });
  }

  if (lacks.lock === undefined) {
    test('it tells of one record that takes no answers, and writes the others', async () => {
      const { source, vendor } = bench();
      const [one, two] = [await closeOne(bench()), await closeOne(bench())];
      await needed(vendor.lock, 'lock, or a reason in `lacks`').call(vendor, one);
      const [locked, other] = await source.writeBack([answer(one), answer(two)]);
      assert.deepEqual([other && inShort(other), vendor.gradeOn(two)], [[], 7]);
      if (locked?.ok) assert.ok(locked.findings.length > 0 || locked.where !== undefined, 'it is not on the record');
      else if (locked?.why === 'error') assert.equal(adviceOf(locked.error).kind, 'permanent');
      else assert.equal(locked?.why, 'closed');
      assertNothingPersonal(locked);
    });
  }

  test('it writes a grade of 0 as a grade', async () => {
    const { source, vendor } = bench();
    const id = await closeOne(bench());
    await source.writeBack([answer(id, { grade: 0 })]);
    assert.equal(vendor.gradeOn(id), 0);
  });

  test('it keeps a grade between two whole ones as it is, or stops its record alone and names the grade', async () => {
    const { source, vendor } = bench();
    const [one, two] = [await closeOne(bench()), await closeOne(bench())];
    const [fraction, whole] = await source.writeBack([answer(one, { grade: 2.5 }), answer(two, { grade: 4 })]);
    assert.deepEqual([whole && inShort(whole), vendor.gradeOn(two)], [[], 4]);
    const said = saidOf(fraction);
    if (said.length === 0) assert.equal(vendor.gradeOn(one), 2.5);
    else assert.match(said.join(' '), /2\.5/);
    assert.deepEqual(saidOf((await source.writeBack([answer(one, { grade: 2.5 })]))[0]), said);
  });

  if (!does.includes('no-answer')) return;
  test('it writes that no answer came, once, as no grade, and an answer that comes after all in its place', async () => {
    const { source, vendor } = bench();
    assert.equal(source.writesNoAnswer, true);
    const id = await closeOne(bench());
    const untouched = vendor.traces(id);
    const none = answer(id, { status: 'no-answer', grade: null, comment: null, marker: 'j1.0' });
    assert.deepEqual((await source.writeBack([none])).map(inShort), [[]]);
    const once = vendor.traces(id);
    assert.notDeepEqual(once, untouched);
    assert.equal(vendor.gradeOn(id), null);
    await source.writeBack([none]);
    assert.deepEqual(vendor.traces(id), once);
    await source.writeBack([answer(id, { grade: 4, marker: 'j1.1' })]);
    assert.equal(vendor.gradeOn(id), 4);
  });
}

/** What an event may carry for an id: none of them is one, and none leads to a record. */
const hostileIds = (one: string, other: string): string[] => [
  '',
  '../1',
  `${one}/../${other}`,
  `${one}?include=${other}`,
  `${one}#`,
  `${one},${other}`,
  `${one}&ids=${other}`,
  `${one}%2f..%2f${other}`,
  ` ${one}`,
];

/** Why a record does not hold all of its answer; what concerns other records as well fails. */
export function saidOf(result: WriteResult | undefined): string[] {
  if (result?.ok === true) return result.findings;
  if (result?.why !== 'error') return assert.fail(`not written: ${result?.why}`);
  assert.equal(adviceOf(result.error).kind, 'permanent', result.error.message);
  return [result.error.message];
}

function assertCustomerIs(email: string, { shape }: PresentedRecord): void {
  const text = JSON.stringify(shape);
  assert.ok(text.includes(email), 'the address of now is not in it');
  assert.ok(!text.includes(customer.email), 'the address of before is in it');
}

function inShort(result: WriteResult): string[] | string {
  return result.ok ? result.findings : result.why;
}

/** Without keys whose value is undefined. */
function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHoles);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const kept = Object.entries(value).filter(([, held]) => held !== undefined);
  return Object.fromEntries(kept.map(([key, held]) => [key, withoutHoles(held)]));
}
