import assert from 'node:assert/strict';
import type { ActionResult, Source, WriteResult } from '../../../core/connector/contract.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { answer, type Bench, closeOne, openPorts, type Tests } from './bench.ts';
import { type ConnectorSample, secrets } from './sample.ts';

/* A call that is given up may be carried out long after: whichever of a write's calls that is, the next write makes up for it. */

/** More calls than a write of one answer makes. */
const mostCalls = 20;

export function lateWrites({ does = [], keeps = [] }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it puts the newest answer back over an older one that was carried out late, and tells that it may have been', async () => {
    await forEachLostCall(bench(), async (id, carryOut) => {
      const { source, vendor } = bench();
      const newest = answer(id, { grade: 8, marker: 'j1.2', answeredAt: new Date('2026-11-20T11:00:00Z') });
      await source.writeBack([newest]);
      await carryOut();
      await source.writeBack([newest]);
      assert.equal(vendor.gradeOn(id), 8);
    });
  });

  if (!does.includes('forget')) return;
  test('it takes off an answer that was carried out after its person was forgotten', async () => {
    const traces = (id: string): unknown => {
      const all = bench().vendor.traces(id);
      if (typeof all !== 'object' || all === null) return all;
      return Object.fromEntries(Object.entries(all).filter(([name]) => !keeps.includes(name)));
    };
    await forEachLostCall(
      bench(),
      async (id, carryOut, before) => {
        const { source } = bench();
        await source.forget?.([id]);
        await carryOut();
        await source.forget?.([id]);
        assert.deepEqual(traces(id), before);
      },
      { traces },
    );
  });
}

interface LosingCalls {
  /** What is done. Default: an answer is written. */
  attempt?: (source: Source, id: string) => Promise<Attempted>;
  traces?: (id: string) => unknown;
}
type Attempted = WriteResult | ActionResult | undefined;

/**
 * Loses the answer to each call of a write in turn, on a record of its own.
 * @param then `carryOut`: the vendor gets the call only now
 */
export async function forEachLostCall(
  bench: Bench,
  then: (id: string, carryOut: () => Promise<void>, before: unknown) => Promise<void>,
  { attempt = writeOld, traces = () => undefined }: LosingCalls = {},
): Promise<void> {
  let lost = 0;
  for (; lost < mostCalls; lost++) {
    const id = await closeOne(bench);
    const before = traces(id);
    const { source, held } = losing(bench, lost);
    const failure = failureIn(
      await attempt(source, id).catch((error: unknown) => ({ ok: false as const, why: 'error' as const, error })),
    );
    const [call] = held;
    if (call === undefined) break;
    assert.equal(failure?.outcome, 'unknown', `call ${lost} was lost`);
    const carryOut = async (): Promise<void> => {
      await call();
      await bench.vendor.idle?.();
    };
    await then(id, carryOut, before);
  }
  assert.ok(lost > 0, 'a write made no call');
}

/** A source that was just opened, one of whose calls is not answered: what it would have sent is in `held`. */
function losing({ sample, vendor, asked }: Bench, lost: number): { source: Source; held: (() => Promise<void>)[] } {
  const held: (() => Promise<void>)[] = [];
  const { ports } = openPorts(vendor.ports, asked.budget);
  let calls = 0;
  const fetch: typeof ports.fetch = async (input, init) => {
    if (calls++ !== lost) return await ports.fetch(input, init);
    const { signal: _, ...sent } = { ...init };
    held.push(async () => void (await globalThis.fetch(input, sent)));
    throw Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    });
  };
  return { source: sample.connector.open(vendor.settings(secrets), { ...ports, fetch }), held };
}

async function writeOld(source: Source, id: string): Promise<Attempted> {
  return (await source.writeBack([answer(id, { grade: 3, marker: 'j1.1' })]))[0];
}

function failureIn(result: Attempted | { ok: false; why: 'error'; error: unknown }): CloseloopError | undefined {
  if (result?.ok !== false || result.why !== 'error') return undefined;
  return result.error instanceof CloseloopError
    ? result.error
    : assert.fail(`no CloseloopError: ${String(result.error)}`);
}
