import { defineConfig } from 'vitest/config';

/** run.ts narrows the tests to those beside the file it is at. */
const beside = process.env.MUTATION_TESTS;

/** The tests that have to find the mutants: those of the mutated files themselves, none that needs Redis or a process. */
export default defineConfig({
  test: {
    include: beside ? [beside] : ['test/*/core/**/*.test.ts', 'test/unit/worker/journey/transitions.test.ts'],
    exclude: [
      'test/integration/worker/journey/*.test.ts',
      // It walks through many zones for some seconds, once for each mutant that lives.
      'test/unit/core/schedule/send-time-oracle.test.ts',
    ],
    testTimeout: 20_000,
    setupFiles: ['test/support/same-inputs.ts'],
  },
});
