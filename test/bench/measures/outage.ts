import { setTimeout as sleep } from 'node:timers/promises';
import { startFakes } from '../fakes.ts';
import type { Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { startProduct, startRedis } from '../product.ts';

const inFlight = 200;
/** `downMs`: from the last delivery. */
const sizes = { full: { closings: 100_000, downMs: 300_000 }, short: { closings: 60, downMs: 4_000 } };
const dayMs = 86_400_000;
/** Between two probes, at last. */
const steadyMs = 60_000;

/**
 * A help desk that does not answer while closings wait for it: how often it is called, and what the log says of it, until it is
 * back and all have been asked. The outage lasts some minutes; the rest of a day is reckoned, a probe each minute.
 */
export const outage: Measure = {
  name: 'outage',
  async run(size) {
    const { closings, downMs } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const product = await startProduct({ url: fakes.url, redis });
    const lines = product.logLines();
    await fakes.setDesk('down');
    const { from } = await sendAll(product.hooks, deliveriesOf(freshTickets()(closings)), inFlight);
    await sleep(downMs);
    const told = product.logLines() - lines;
    const { vendor } = await fakes.setDesk('up');
    const lastedMs = performance.timeOrigin + performance.now() - from;
    const { creates } = await fakes.created(closings);
    await product.stop();
    await Promise.all([fakes.close(), redis.stop()]);
    const row = (what: string, figure: number, most: number) => ({
      measure: `${what} of a day's outage with ${closings} closings waiting`,
      unit: '',
      closeloop: [figure],
      counted: creates,
      target: { of: 'value' as const, is: 'at most' as const, figure: most },
    });
    return [row('calls', vendor + (dayMs - lastedMs) / steadyMs, 2_000), row('log lines', told, 1_000)];
  },
};
