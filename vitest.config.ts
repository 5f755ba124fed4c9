import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Against hanging for ever, on machines that are many times slower; no test is about time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Most tests wait for sockets, Redis and other processes: on two cores, three files at once take half the time of one.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'structure', include: ['test/structure.test.ts'] } },
      {
        extends: true,
        test: { name: 'all', include: ['{test,examples}/**/*.test.ts'], exclude: ['test/structure.test.ts'] },
      },
    ],
  },
});
