import { setTimeout as sleep } from 'node:timers/promises';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import type { JourneyState } from '../../../worker/journey/states.ts';
import { type StandinAccount, standinAccounts } from '../../support/standin-accounts.ts';
import type { Measure, Row } from '../harness.ts';
import { journeysIn, startProduct, startRedis } from '../product.ts';

const sizes = { full: 1_000, short: 40 };

/** A vendor's stand-in, which counts calls, and the most calls for 1,000 closings. */
interface Desk {
  vendor: string;
  open: keyof typeof standinAccounts;
  writeBack(places: StandinAccount['writeBack']): object;
  atMost: number;
  /** The most calls where the closings wait: planning reads the records once more. */
  atMostWaiting: number;
  /** Default: with notes. */
  notes?: false;
  /** The share of customers who answer. Default: all. */
  answers?: number;
  /** Calls of a day's polling, which take place whatever is closed. */
  polls?: number;
}

const zendesk: Desk = {
  ...{ vendor: 'Zendesk', open: 'zendesk', atMost: 45, atMostWaiting: 55 },
  writeBack: ({ grade }) => ({ grade, note: true, tags: true }),
};
const hubspot: Desk = {
  ...{ vendor: 'HubSpot', open: 'hubspot', atMost: 60, atMostWaiting: 95 },
  writeBack: ({ grade }) => ({ grade, note: true }),
};
/** Freshdesk reads no tickets by their ids, and writes on one ticket at a time. */
const freshdesk: Desk = {
  ...{
    vendor: 'Freshdesk',
    open: 'freshdesk',
    atMost: 740,
    atMostWaiting: 800,
    answers: 0.3,
    polls: 144,
    notes: false,
  },
  writeBack: (places) => ({ ...places, note: false }),
};
const freshdeskWithNotes: Desk = {
  ...{ vendor: 'Freshdesk', open: 'freshdesk', answers: 0.3, polls: 144 },
  // Each answer takes one more read and one more note.
  ...{ atMost: freshdesk.atMost + 600, atMostWaiting: freshdesk.atMostWaiting + 600 },
  writeBack: (places) => ({ ...places, note: true }),
};

/** Long enough for a thousand closings to wait together. */
const delay = '20s';

/**
 * The whole loop, from closings that come together to their answers on the records.
 * @param waits their customers are asked later, and each is decided about again then
 */
async function loopOf(desk: Desk, closings: number, { waits }: { waits: boolean }): Promise<Row> {
  const [service, redis, account] = await Promise.all([
    startFeedbackStandin({ seed: true }),
    startRedis(),
    standinAccounts[desk.open]('bench'),
  ]);
  const ids: (string | number)[] = [];
  for (let n = 0; n < closings; n++)
    ids.push(await account.add({ name: `Customer ${n}`, email: `customer-${n}@example.com` }));
  const { contact, agent } = account;
  const rule = { name: 'all', campaign: 12, contact, fields: { Agent: agent }, ...(waits && { delay }) };
  const source = { ...account.settings, rules: [rule], writeBack: desk.writeBack(account.writeBack) };
  const settings = `    ${JSON.stringify(source)}`;
  const product = await startProduct({ url: service.url, redis, settings, collectEvery: '2s' });
  const until = async (state: JourneyState, count = closings) => {
    while ((await journeysIn(redis, state)) < count) await sleep(50);
  };
  account.listen(product.hooks);
  await account.close(ids);
  await until('asked');
  const answered = Math.round(closings * (desk.answers ?? 1));
  for (const { id } of service.standin.requests().slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
  await until('written', answered);
  const counted = await journeysIn(redis, 'written');
  const share = desk.answers === undefined ? '' : `${desk.answers * 1_000} `;
  const calls = (account.standin.totalCalls() * 1_000) / closings + (desk.polls ?? 0);
  await product.stop();
  await Promise.all([account.stop(), service.close(), redis.stop()]);
  return {
    measure: `calls to ${desk.vendor} for 1,000 closings together${waits ? ' that wait' : ''}, reads and ${share}write-backs ${desk.notes === false ? 'without' : 'with'} notes${desk.polls === undefined ? '' : `, and ${desk.polls} polls`}`,
    unit: '',
    closeloop: [calls],
    counted,
    target: { of: 'value', is: 'at most', figure: waits ? desk.atMostWaiting : desk.atMost },
  };
}

export const calls: Measure = {
  name: 'calls',
  async run(size) {
    const desks = size === 'full' ? [zendesk, hubspot, freshdesk, freshdeskWithNotes] : [zendesk];
    const rows: Row[] = [];
    for (const desk of desks) for (const waits of [false, true]) rows.push(await loopOf(desk, sizes[size], { waits }));
    return rows;
  },
};
