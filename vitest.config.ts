import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Minutes of kills, outages, clocks that jump, inputs and closings by the thousand, of installing the package, of upgrades and restored
 * copies of Redis, of the page in a browser, of every command that the pages show, of other shells, of benchmarks, and of
 * what one ticket runs: `npm run test:long`, which CI runs as well.
 */
const long = [
  'test/system/{acting,chaos,dashboard,docs,dry-run,fuzz,package,race,redis-outages,send-times,steering}/*.test.ts',
  'test/system/{bench,walk}.test.ts',
  'test/system/core/mapping/expression-limits.test.ts',
  'test/system/worker/{backup,upgrade,acting-under-kills,completion,pipeline/kill}.test.ts',
  'test/system/monitoring/*.test.ts',
  'test/integration/e2e/{shopify-points,call-counts}.test.ts',
];

export default defineConfig({
  // `closeloop` is this repository's TypeScript here, as in tsconfig.json.
  ssr: { resolve: { conditions: ['@closeloop/source', 'module', 'node', 'development|production'] } },
  test: {
    // Against hanging for ever, on machines that are many times slower; no test is about time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most tests wait for sockets, Redis and other processes: four files at once keep two cores busy.
    maxWorkers: 4,
    setupFiles: ['test/support/same-inputs.ts'],
    // Processes that tests start load what an earlier one compiled: half the work of a start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '.closeloop/compiled') },
    projects: [
      { extends: true, test: { name: 'structure', include: ['test/{structure,documentation}.test.ts'] } },
      // They leave nothing behind that another could trip over: their files take turns in a few threads or processes, as
      // starting one for each costs half a second of work.
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], pool: 'threads', isolate: false } },
      // Whatever a test begins ends with it: Redis, loops, servers.
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: long,
          isolate: false,
        },
      },
      // What they start ends with each test; what runs in this process is nothing that the next file could trip over.
      {
        extends: true,
        test: { name: 'system', include: ['test/system/**/*.test.ts'], exclude: long, isolate: false },
      },
      { extends: true, test: { name: 'long', include: long, testTimeout: 300_000, hookTimeout: 300_000 } },
      // On systems that nobody here wrote, fetched and started by the tests: `npm run test:real`, which CI runs as well.
      {
        extends: true,
        test: { name: 'real', include: ['test/real/**/*.test.ts'], testTimeout: 1_200_000, hookTimeout: 600_000 },
      },
    ],
  },
});
