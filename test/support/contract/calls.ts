import assert from 'node:assert/strict';
import type { Source } from '../../../core/connector/contract.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { answer, assertNothingPersonal, type Bench, closeOne, openPorts, reopen, type Tests } from './bench.ts';
import { quietPorts } from './quiet-ports.ts';
import { type Breakage, type ConnectorSample, customer, secrets } from './sample.ts';

/** Shorter than any connector's own deadline, so that nobody has to wait for that. */
const deadlineMs = 150;

/** How many calls it makes, out of which budget, and what it makes of the vendor's bad days. */
export function calls({ connector, callsFor100 }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  // Snapshots are read without a call.
  const calling = callsFor100.read === 0 ? (['write'] as const) : (['read', 'write'] as const);
  for (const what of ['read', 'writeBack'] as const) {
    test(`it needs at most ${callsFor100[what]} calls for 100 records, each out of the budget (${what})`, async () => {
      const { source, vendor, asked } = bench();
      const ids: string[] = [];
      for (let i = 0; i < 100; i++) ids.push(await closeOne(bench()));
      const before = vendor.calls();
      const results =
        what === 'writeBack' ? await source.writeBack(ids.map((id) => answer(id))) : await source.read(ids);
      assert.equal(results.filter(({ ok }) => ok).length, 100);
      const made = vendor.calls() - before;
      assert.ok(made <= callsFor100[what] && (made > 0 || callsFor100[what] === 0), `${made} calls`);
      assert.ok(asked.takes.length >= made, `${asked.takes.length} of ${made} calls were taken out of the budget`);
      assert.equal(asked.fetches, made, 'a call goes round the fetch that was given');
    });
  }

  test('it makes no call that the budget refuses', async () => {
    const { vendor } = bench();
    const id = await closeOne(bench());
    const before = vendor.calls();
    const refusal = new CloseloopError('the budget is used up', { kind: 'transient', throttled: true });
    const { budget } = quietPorts({ budget: { take: () => Promise.reject(refusal) } });
    const { ports } = openPorts(vendor.ports, budget);
    const starved = connector.open(vendor.settings(secrets), ports);
    for (const doing of calling) {
      const { advice } = await failureOf(starved, doing, id);
      assert.ok(advice.kind === 'transient' && advice.throttled === true);
    }
    assert.equal(vendor.calls(), before);
  });

  for (const doing of calling) {
    test(`it turns a 429 to a ${doing} into a wait, and pauses the budget`, async () => {
      for (const { advice, outcome } of await errorsOf(bench(), '429', doing)) {
        assert.ok(advice.kind === 'transient' && advice.throttled === true);
        assert.equal(outcome, 'refused');
      }
      const { pauses } = bench().asked;
      assert.ok(pauses.length >= 2 && pauses.every((ms) => ms > 0), `pauses: ${pauses.join(', ') || 'none'}`);
    });

    test(`it stops the source when the credentials of a ${doing} are refused`, async () => {
      for (const { advice } of await errorsOf(bench(), '401', doing)) assert.equal(advice.kind, 'config');
    });

    const unknown: [how: Breakage, what: string][] = [
      ['500', 'after a 500'],
      ['html', 'that was answered by a page'],
      ['silent', 'that nobody answers, by a deadline of its own,'],
    ];
    for (const [how, what] of unknown) {
      test(`it may repeat a ${doing} ${what} and does not know its outcome`, async () => {
        for (const { advice, outcome } of await errorsOf(bench(), how, doing)) {
          assert.ok(advice.kind === 'transient' && advice.throttled !== true);
          assert.equal(outcome, 'unknown');
        }
      });
    }
  }
}

/** What the vendor's misbehaviour becomes: of a source that has worked before, and of one just opened. */
async function errorsOf(bench: Bench, how: Breakage, doing: 'read' | 'write'): Promise<CloseloopError[]> {
  const { vendor, source: used, asked } = bench;
  const id = await closeOne(bench);
  await used.read([id]);
  await used.writeBack([answer(id, { grade: 1, marker: 'j0.1' })]);
  vendor.breakVendor(how, `${customer.email} ${customer.comment}`);
  asked.pauses.length = 0;
  // The used one keeps its fetch; its deadline is shortened where it looks.
  const other = how === 'silent' ? { deadlineMs } : {};
  asked.deadlineMs = other.deadlineMs;
  const fresh = reopen(bench, other);
  const errors: CloseloopError[] = [];
  for (const source of [used, fresh.source]) {
    errors.push(await failureOf(source, doing, id));
  }
  for (const { message, advice } of errors) assertNothingPersonal({ message, advice });
  assertNothingPersonal([...asked.logged, ...fresh.asked.logged]);
  return errors;
}

/** What a call of the vendor's that fails becomes: thrown, or the result of the answer (`writeInTurn`). */
async function failureOf(source: Source, doing: 'read' | 'write', id: string): Promise<CloseloopError> {
  const work = async () => {
    if (doing === 'read') return await source.read([id]);
    const [result] = await source.writeBack([answer(id)]);
    return result?.ok === false && result.why === 'error' ? result.error : result;
  };
  const failure: unknown = await work().catch((error: unknown) => error);
  return failure instanceof CloseloopError ? failure : assert.fail(`no CloseloopError: ${String(failure)}`);
}
