import { defineConfig } from 'vitest/config';

/** The tests that have to find the mutants: those of the mutated files themselves, none that needs Redis or a process. */
export default defineConfig({
  test: {
    include: ['test/core/**/*.test.ts', 'test/worker/journey/transitions.test.ts'],
    // It walks through every zone for a quarter of a minute, once for each mutant that lives.
    exclude: ['test/core/send-time-zones.test.ts'],
    testTimeout: 20_000,
  },
});
