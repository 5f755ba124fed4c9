import { defineConfig } from 'vitest/config';

/** No process, no socket: values in, values out. */
const unit = [
  'test/readme.test.ts',
  'test/chaos/{plan,random}.test.ts',
  'test/conformance/{graphql,openapi}.test.ts',
  'test/connectors/guide.test.ts',
  'test/connectors/hubspot/{memory,record,signature}.test.ts',
  'test/connectors/webhook/{forget,public-address,settings,signature}.test.ts',
  'test/connectors/woocommerce/{events,order,record,settings,signature}.test.ts',
  'test/connectors/zendesk/{answer,closing,events,jobs,record,settings,signature,targets}.test.ts',
  'test/core/{address,contact*,duration,errors,json-body,retry,send-*,signature,standard-webhook,token}.test.ts',
  'test/core/connector/pages.test.ts',
  'test/core/feedback/{answer-failure,network-failure,request-form,settings}.test.ts',
  'test/core/mapping/{expression,expression-paths,expression-plain,field-value,mapping}.test.ts',
  'test/standins/feedback/send-window.test.ts',
  'test/standins/kit/command-line.test.ts',
  'test/standins/shopify/webhooks.test.ts',
  'test/worker/{batch,clock,log,rules,secret-variables}.test.ts',
  'test/worker/commands/instant.test.ts',
  'test/worker/config/{config,schema}.test.ts',
  'test/worker/intake/waiting.test.ts',
  'test/worker/journey/transitions.test.ts',
  'test/worker/redis/{own-key,seal}.test.ts',
  'test/worker/stages/{forgotten-request,look-for-request,shown-values,why-not-now}.test.ts',
];

/** Sockets, and nothing that lives on: no Redis, no loop. */
const sockets = ['test/{connectors,core,standins}/**/*.test.ts', 'examples/**/*.test.ts'];

/** Minutes of kills, outages, clocks that jump and inputs by the thousand: `npm run test:long`, which CI runs as well. */
const long = [
  'test/chaos/{chaos,clock,failpoints,poison}.test.ts',
  'test/fuzz/*.test.ts',
  'test/redis-outages/*.test.ts',
  'test/e2e/shopify-points.test.ts',
];

export default defineConfig({
  test: {
    // Against hanging for ever, on machines that are many times slower; no test is about time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Most tests wait for sockets, Redis and other processes: on two cores, three files at once take half the time of one.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'structure', include: ['test/structure.test.ts'] } },
      // They leave nothing behind that another could trip over: their files take turns in a few threads or processes, as
      // starting one for each costs half a second of work.
      { extends: true, test: { name: 'unit', include: unit, pool: 'threads', isolate: false } },
      { extends: true, test: { name: 'sockets', include: sockets, exclude: unit, isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: ['test/structure.test.ts', ...unit, ...sockets, ...long],
        },
      },
      { extends: true, test: { name: 'long', include: long } },
    ],
  },
});
