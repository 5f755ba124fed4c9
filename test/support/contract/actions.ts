import assert from 'node:assert/strict';
import { markerOf } from '../../../core/connector/answer.ts';
import type { ActionRequest, ActionResult, Source } from '../../../core/connector/contract.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { type Bench, closeOne, closingOf, needed, readOne, reopen, type Tests } from './bench.ts';
import { forEachLostCall } from './late-writes.ts';
import { type ActionTrial, type ConnectorSample, customer, secrets } from './sample.ts';

const words = `Graded 1: <b>"late" & wrong</b>. ${customer.comment}`;

/** What takes the same at every vendor. */
const shared: readonly ActionTrial[] = [
  { name: 'note', params: words },
  { name: 'tag', params: ['unhappy', 'call back'] },
];

const marker = 'support/14.1.a1.unhappy.0';

/** Each thing that can be done because of an answer: once, unseen by the customer, and never on a record that is gone. */
export function actions(sample: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  const { connector, acts = [], missingId } = sample;
  const names = Object.keys(connector.actions);
  const trials = [...acts, ...shared.filter(({ name }) => acts.every((one) => one.name !== name))];
  const actAll = async (source: Source, requests: readonly ActionRequest[]): Promise<ActionResult[]> =>
    await needed(source.act, 'act').call(source, requests);
  const act = async (source: Source, request: ActionRequest): Promise<ActionResult> =>
    needed((await actAll(source, [request]))[0], 'a result of act');
  const traces = (id: string): unknown => structuredClone(bench().vendor.traces(id));
  const markers = (id: string): number => JSON.stringify(traces(id)).split(marker).length;

  test('it has a trial of each of its actions', () => {
    const known = trials.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
      'name it in `acts` of the sample',
    );
  });

  const tried = trials.filter((trial) => names.includes(trial.name));

  test('it does all of them on several records in one call, each once', async () => {
    const ids = [await closeOne(bench()), await closeOne(bench())];
    const requests: ActionRequest[] = [];
    for (const recordId of ids) {
      const closing = await closingOf(bench(), recordId);
      for (const [n, { name, params }] of tried.entries())
        requests.push({ recordId, name, params, marker: `s/${recordId}.1.a1.bad.${n}`, closing, again: false });
    }
    const before = ids.map(traces);
    for (const result of await actAll(bench().source, requests)) assertDone(result);
    const done = ids.map(traces);
    for (const n of ids.keys()) assert.notDeepEqual(done[n], before[n], 'one record was left out');
    const again = requests.map((request) => ({ ...request, again: true }));
    for (const result of await actAll(reopen(bench()).source, again)) assertDone(result);
    assert.deepEqual(ids.map(traces), done);
  });

  for (const { name, params, amiss } of tried) {
    const request = (recordId: string, more: Partial<ActionRequest> = {}): ActionRequest => {
      return { recordId, name, params, marker, closing: '', again: false, ...more };
    };

    test(`it does "${name}" once, also where it is told that it may have been done`, async () => {
      const id = await closeOne(bench());
      const [before, closing] = [traces(id), await closingOf(bench(), id)];
      assertDone(await act(bench().source, request(id, { closing })));
      const done = traces(id);
      assert.notDeepEqual(done, before, 'nothing of it can be seen in `traces`');
      assertDone(await act(reopen(bench()).source, request(id, { closing, again: true })));
      assert.deepEqual(traces(id), done);
    });

    test(`it does "${name}" once where the vendor did it, and the answer to that was lost`, async () => {
      const whole = await closeOne(bench());
      await act(bench().source, request(whole, { closing: await closingOf(bench(), whole) }));
      let closing = '';
      const attempt = async (source: Source, id: string) => {
        closing = await closingOf(bench(), id);
        return await act(source, request(id, { closing }));
      };
      await forEachLostCall(
        bench(),
        async (id, carryOut) => {
          await carryOut();
          const again = request(id, { closing, again: true });
          assertDone(await act(reopen(bench()).source, again));
          const done = traces(id);
          assert.equal(markers(id), markers(whole), 'it is there twice, or not at all');
          assertDone(await act(reopen(bench()).source, again));
          assert.deepEqual(traces(id), done);
        },
        { attempt },
      );
    });

    test(`it says that the record of "${name}" is gone`, async () => {
      const result = await act(bench().source, request(missingId));
      if (result.ok || result.why !== 'not-found') failWith('another result', result);
    });

    test(`it leaves "${name}" to the queue where the vendor asks to wait`, async () => {
      const id = await closeOne(bench());
      const closing = await closingOf(bench(), id);
      bench().vendor.breakVendor('429', 'words');
      const failure = await act(bench().source, request(id, { closing })).then(
        (result) => (!result.ok && result.why === 'error' ? result.error : assert.fail('done, or parked')),
        (error: unknown) => error,
      );
      assert.ok(failure instanceof CloseloopError && failure.advice.kind !== 'permanent', String(failure));
    });

    test(`it finds nothing wrong with a "${name}" that works${amiss === undefined ? '' : ', and what does not'}`, async () => {
      const at = `answers[0].do[0].${name}`;
      const check = needed(bench().source.checkActions, 'checkActions');
      assert.deepEqual(await check([{ at, name, params: name === 'note' ? '"words"' : params }]), []);
      for (const one of amiss ?? []) {
        const [finding] = await check([{ at, name, params: one }]);
        assert.equal(finding?.at, at, `it finds nothing wrong with ${JSON.stringify(one)}`);
        assert.ok(finding.remedy !== '', 'without a remedy');
      }
    });

    if (name === 'reopen') {
      test('it opens the record, and leaves it alone once it was closed again', async () => {
        const id = await closeOne(bench());
        const closing = await closingOf(bench(), id);
        assertDone(await act(bench().source, request(id, { closing })));
        assert.equal((await readOne(bench(), id)).state.is, 'open');
        await bench().vendor.closeAgain(id, secrets[0]);
        const { source } = reopen(bench());
        assertDone(await act(source, request(id, { closing, again: true })));
        assert.equal((await readOne({ ...bench(), source }, id)).state.is, 'closed');
      });
    }

    if (name === 'note' && sample.lacks?.notes === undefined) {
      test('its note of an action is one that no customer sees, with the words as they are', async () => {
        const id = await closeOne(bench());
        await act(bench().source, request(id));
        const all = needed(bench().vendor.notesOn, 'notesOn').call(bench().vendor, id);
        const [note, ...others] = all.filter(({ text }) => markerOf(text) === marker);
        assert.deepEqual(others, []);
        assert.ok(note !== undefined && !note.isPublic, 'the customer sees it, or it is not there');
        assert.equal(note.text.includes('<b>'), !note.isHtml, 'the words are markup in the note');
      });
    }
  }
}

function assertDone(result: ActionResult): void {
  if (!result.ok || result.done === '') failWith('not done', result);
}

/** Fails with what a result says; its error is the cause. */
export function failWith(what: string, result: ActionResult): never {
  if (!result.ok && result.why === 'error')
    throw new Error(`${what}: ${result.error.message}`, { cause: result.error });
  assert.fail(`${what}: ${JSON.stringify(result)}`);
}
