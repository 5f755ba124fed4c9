import assert from 'node:assert/strict';
import { type ConnectorSample, connectorContract, type TestRunner } from '../contract.ts';

/** Runs the suite by a runner of our own; the names of the tests that failed, of those that `only` names. */
export async function failuresOf(sample: ConnectorSample, only = /./): Promise<string[]> {
  const tests: { name: string; body: () => void | Promise<void> }[] = [];
  const hooks = { before: noHook, after: noHook };
  const runner: TestRunner = {
    describe: (_name, body) => body(),
    test: (name, body) => tests.push({ name, body }),
    beforeEach: (body) => Object.assign(hooks, { before: body }),
    afterEach: (body) => Object.assign(hooks, { after: body }),
  };
  connectorContract(sample, runner);
  const chosen = tests.filter(({ name }) => only.test(name));
  assert.ok(chosen.length > 0, `no test is called ${only}`);
  const failed: string[] = [];
  for (const { name, body } of chosen) {
    await hooks.before();
    await Promise.resolve()
      .then(body)
      .catch(() => failed.push(name));
    await hooks.after();
  }
  return failed;
}

const noHook = (): void | Promise<void> => undefined;
