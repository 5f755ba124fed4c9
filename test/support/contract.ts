import { type Bench, createBench, type TestRunner } from './contract/bench.ts';
import { calls } from './contract/calls.ts';
import { deliveries } from './contract/deliveries.ts';
import { echoes, erasures, forgettings } from './contract/echoes.ts';
import { lateWrites } from './contract/late-writes.ts';
import { leaks } from './contract/leaks.ts';
import { checks, setups } from './contract/preflight.ts';
import { records } from './contract/records.ts';
import type { ConnectorSample } from './contract/sample.ts';
import { sweeps } from './contract/sweeps.ts';

export type { TestRunner } from './contract/bench.ts';
export { type Breakage, type ConnectorSample, customer, type Part, secrets, type Vendor } from './contract/sample.ts';

/**
 * The contract of a connector (core/connector/contract.ts), as tests of one connector. `closeloop/testing` for authors elsewhere.
 * @param runner The words of your own test runner: vitest, node:test or another with the same four.
 */
export function connectorContract(sample: ConnectorSample, runner: TestRunner): void {
  const { describe, beforeEach, afterEach } = runner;
  const { name } = sample.connector;
  const does = sample.does ?? [];
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
    describe(`its settings and deliveries`, () => deliveries(sample, bench, runner));
    describe(`its records`, () => records(sample, bench, runner));
    describe(`its calls`, () => calls(sample, bench, runner));
    describe(`its late writes`, () => lateWrites(sample, bench, runner));
    describe(`its words`, () => leaks(sample, bench, runner));
    if (does.includes('poll')) describe(`its sweeps`, () => sweeps(bench, runner));
    if (does.includes('check')) describe(`its check`, () => checks(sample, bench, runner));
    if (does.includes('setup')) describe(`its setup`, () => setups(sample, bench, runner));
    if (does.includes('echo')) describe(`its echoes`, () => echoes(bench, runner));
    if (does.includes('erase')) describe(`its erasures`, () => erasures(bench, runner));
    if (does.includes('forget')) describe(`its forgetting`, () => forgettings(sample, bench, runner));
  });
}
