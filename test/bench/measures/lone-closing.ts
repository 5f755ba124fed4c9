import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { startProduct, startRedis } from '../product.ts';

const rounds = { full: 20, short: 2 };
/** Until the process has nothing left to do. */
const restMs = 400;

/** From the delivery of one closing to the request's creation, with nothing else going on. */
async function lone(ticket: number, hooks: string, fakes: Fakes): Promise<number> {
  await sleep(restMs);
  await fakes.reset();
  const created = fakes.created(1);
  const { from } = await sendAll(hooks, deliveriesOf([ticket]), 1);
  return (await created).lastCreateAt - from;
}

/** The same calls, one after the other: what the network and the others take of it. */
async function roundTrips(ticket: number, hooks: string, fakes: Fakes): Promise<number> {
  await sleep(restMs);
  await fakes.reset();
  const { from, to } = await sendAll(hooks, deliveriesOf([ticket]), 1);
  const begun = performance.now();
  const { url } = fakes;
  const get = async (path: string) => await (await request(`${url}${path}`)).body.text();
  await get(`/api/v2/tickets/show_many.json?ids=${ticket}`);
  await get(`/api/v2/tickets/show_many.json?ids=${ticket}`);
  await get(`/api/contacts/customer-${ticket}%40example.com`);
  const body = JSON.stringify({ campaign: 12, email: 'customer@example.com', custom_fields: {} });
  await (await request(`${url}/api/appeals/`, { method: 'POST', body })).body.text();
  return to - from + performance.now() - begun;
}

export const loneClosing: Measure = {
  name: 'lone-closing',
  async run(size) {
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const product = await startProduct({ url: fakes.url, redis });
    const tickets = freshTickets();
    const next = () => tickets(1)[0] ?? 0;
    const told = next();
    await lone(told, product.hooks, fakes);
    const [ours = [], theirs = []] = await inTurns(rounds[size], [
      () => lone(next(), product.hooks, fakes),
      // Told again of a closing that it knows: no request comes of it.
      () => roundTrips(told, product.hooks, fakes),
    ]);
    const { creates } = await fakes.created(1);
    await product.stop();
    await Promise.all([fakes.close(), redis.stop()]);
    return [
      {
        measure: 'a lone closing, delivery to request created',
        unit: 'ms',
        closeloop: ours,
        counted: creates,
        baseline: { name: 'its HTTP round trips', rounds: theirs },
        target: { of: 'excess', is: 'at most', figure: 150 },
      },
    ];
  },
};
