import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { run } from '../../worker/cli/app.ts';
import { loadConfig } from '../../worker/config/config.ts';
import type { ContactMemory } from '../../worker/journey/contacts.ts';
import { liveClock } from '../../worker/pipeline/clock.ts';
import { connect } from '../../worker/redis/connection.ts';
import { barrierKeys } from './barrier.ts';
import { ToyVendor } from './toy-connector.ts';

// A process of the loop with a toy vendor whose records are in a file. Prints lines of JSON: {started: url}, and
// {wrote: record} for each grade it put on a record. Lives until it is killed; also with the test that started it.
const Started = z.object({
  role: z.enum(['intake', 'worker', 'all']),
  /** Path of Redis' socket. */
  redis: z.string(),
  /** A file with the configuration. */
  config: z.string(),
  /** A file with the vendor's records: JSON, a list of these. */
  records: z.string(),
  /** Jobs of a step of a source at once; nobody is asked before so many are to ask in all processes, and the test says so. */
  barrier: z.object({ jobsAtOnce: z.number() }).optional(),
});
const Records = z.array(
  z.object({
    id: z.string(),
    closedAt: z.coerce.date(),
    customer: z.object({ email: z.string(), phone: z.string() }).optional(),
  }),
);

/**
 * Keeps every job where it is about to lock its person, until the test opens the barrier: the process counts in Redis how many it has
 * there (barrier.ts).
 */
function holdBeforeAsking(contacts: ContactMemory): void {
  const lock = contacts.lock.bind(contacts);
  contacts.lock = async (...args) => {
    if ((await handle.client.exists(barrierKeys.open)) === 0) {
      await handle.client.hincrby(barrierKeys.held, String(process.pid), 1);
      while ((await handle.client.exists(barrierKeys.open)) === 0) await sleep(10);
    }
    return await lock(...args);
  };
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const options = Started.parse(JSON.parse(process.argv[2] ?? '{}'));
const vendor = new ToyVendor();
for (const { id, closedAt, customer } of Records.parse(JSON.parse(readFileSync(options.records, 'utf8')))) {
  const state = { is: 'closed', closing: closedAt.toISOString(), closedAt } as const;
  vendor.close(id, { state, ...(customer && { customer }) });
}
vendor.beforeWriteBack = async (items) => {
  for (const { recordId } of items) say({ wrote: recordId });
  await sleep(1);
};
const config = loadConfig(readFileSync(options.config, 'utf8'), { env: {}, connectors: [vendor.connector] });
const nothing = () => undefined;
const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const handle = connect({ path: options.redis }, nothing);
const runtime = { config, handle, redis: handle.client, close: () => handle.close() };
const { barrier } = options;
const app = await run(runtime, { role: options.role, clock: liveClock, log, batchWindowMs: 10, ...barrier });
if (barrier) for (const { context } of app.engine.pipelines.values()) holdBeforeAsking(context.contacts);
say({ started: app.url ?? '' });
// For the processes after this one, which may be killed.
flushCompileCache();
process.stdin.resume().once('end', () => process.exit(0));
