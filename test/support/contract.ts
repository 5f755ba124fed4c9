import { actions } from './contract/actions.ts';
import { type Bench, createBench, type TestRunner, type Tests } from './contract/bench.ts';
import { calls } from './contract/calls.ts';
import { deliveries, noDeliveries, settings } from './contract/deliveries.ts';
import { echoes, erasures, forgettings } from './contract/echoes.ts';
import { lateWrites } from './contract/late-writes.ts';
import { leaks } from './contract/leaks.ts';
import { notes } from './contract/notes.ts';
import { checks, setups } from './contract/preflight.ts';
import { records } from './contract/records.ts';
import type { ConnectorSample } from './contract/sample.ts';
import { sweeps } from './contract/sweeps.ts';

export type { TestRunner } from './contract/bench.ts';
export {
  type ActionTrial,
  type Breakage,
  type ConnectorSample,
  customer,
  type HeldNote,
  type Part,
  secrets,
  type Trial,
  type Vendor,
} from './contract/sample.ts';

/** Longer than any of them takes on a busy machine. */
const longestTestMs = 600_000;

/**
 * The contract of a connector (core/connector/contract.ts), as tests of one connector. `closeloop/testing` for authors elsewhere.
 * @param runner The words of your own test runner: vitest, node:test or another with the same four.
 */
export function connectorContract(sample: ConnectorSample, runner: TestRunner): void {
  const { describe, beforeEach, afterEach } = runner;
  // Some runners give up after five seconds.
  const tests: Tests = { test: (name, body) => runner.test(name, body, longestTestMs) };
  const { name } = sample.connector;
  const { does = [], lacks = {}, polled } = sample;
  describe(`the connector ${name}`, () => {
    let open: Bench | undefined;
    beforeEach(async () => {
      open = await createBench(sample);
    });
    afterEach(async () => {
      await open?.vendor.close();
    });
    const bench = (): Bench => {
      if (open === undefined) throw new Error('a test outside the suite');
      return open;
    };
    describe(`its settings`, () => settings(sample, bench, tests));
    describe(`its deliveries`, () => (polled ? noDeliveries : deliveries)(sample, bench, tests));
    describe(`its records`, () => records(sample, bench, tests));
    describe(`its calls`, () => calls(sample, bench, tests));
    if (lacks.notes === undefined) describe(`its notes`, () => notes(bench, tests));
    if (Object.keys(sample.connector.actions).length > 0) describe(`its actions`, () => actions(sample, bench, tests));
    describe(`its late writes`, () => lateWrites(sample, bench, tests));
    describe(`its words`, () => leaks(sample, bench, tests));
    if (does.includes('poll')) describe(`its sweeps`, () => sweeps(sample, bench, tests));
    if (does.includes('check')) describe(`its check`, () => checks(sample, bench, tests));
    if (does.includes('setup')) describe(`its setup`, () => setups(sample, bench, tests));
    if (does.includes('echo')) describe(`its echoes`, () => echoes(bench, tests));
    if (does.includes('erase')) describe(`its erasures`, () => erasures(bench, tests));
    if (does.includes('forget')) describe(`its forgetting`, () => forgettings(sample, bench, tests));
  });
}
