import fc from 'fast-check';
import { expect } from 'vitest';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import type { Journey } from '../../worker/journey/journey.ts';
import { refOf } from '../../worker/journey/refs.ts';
import { ask } from '../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../worker/pipeline/clock.ts';
import { plan } from '../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../worker/pipeline/source-pipeline.ts';
import { nameIn, nameInEarnest } from '../../worker/redis/keys.ts';
import { closedAs, eventOf, open, type useManual } from './manual.ts';
import { type ToyRecord, ToyVendor } from './toy-connector.ts';

/** A Monday, 06:00 in Tallinn. */
const beginning = Date.parse('2026-11-23T04:00:00Z');
const minute = 60_000;
const second = 1_000;
const sources = ['desk', 'shop', 'calls'];
const stores = ['Tallinn', 'Tallinn', 'Tartu', 'Tartu', 'elsewhere', 'elsewhere', 'none', 'broken'];

const maybe = (...texts: string[]) => fc.constantFrom('', ...texts);
const rule = (name: string, when: string) =>
  fc
    .record({
      campaign: fc.constantFrom(12, 300, 301),
      delay: maybe('delay: 0s', 'delay: 30m', 'delay: 5h'),
      window: maybe(
        'window: { from: "10:00", until: "16:00" }',
        'window: { from: "18:00", until: "09:00", zone: recipient }',
        'window: { days: [tue, wed] }',
      ),
      throttle: maybe('throttle: 3h', 'throttle: { period: 2d, otherwise: defer }', 'throttle: 10d'),
      cap: maybe('cap: { hour: 2 }', 'cap: { day: 4 }', 'cap: { hour: 3, day: 5 }'),
      sample: maybe('sample: 60%'),
      again: maybe('again: each closing'),
      maxAge: maybe('maxAge: 8h', 'maxAge: false'),
    })
    .map(({ campaign, ...others }) => {
      const parts = [`name: ${name}`, `campaign: ${campaign}`, 'contact: [customer.phone, customer.email]'];
      return `{ ${[...parts, ...when.split('|').filter(Boolean), ...Object.values(others).filter(Boolean)].join(', ')} }`;
    });

/** A day at a company: rules and a policy, and what happens to its records. */
export const days = fc.record({
  rules: fc.tuple(
    rule('tallinn', 'when: \'ticket.store = "Tallinn"\''),
    rule('broken', 'when: \'ticket.store = "broken" ? $error("no such store") : ticket.store = "Tartu"\''),
    rule('rest', 'when: \'ticket.store != "none"\''),
  ),
  policy: fc
    .tuple(
      maybe('throttle: 1d', 'throttle: { period: 6h, otherwise: defer }', 'throttle: { period: 1d, prefer: latest }'),
      maybe('cap: { hour: 5 }', 'cap: { day: 12 }'),
      maybe('never: [{ when: \'customer.email = "person3@example.com"\', reason: is a colleague }]'),
      maybe('groups: { both: { campaigns: [300, 301], throttle: 2d, cap: { day: 6 } } }'),
      maybe('maxAge: 12h'),
      maybe('test: { email: me@acme.com, phone: "+37255500001", identifier: me }'),
    )
    .map((parts) => `policy: { ${parts.filter(Boolean).join(', ')} }`),
  happenings: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 20 * 60 }),
      what: fc.constantFrom(
        'close',
        'close',
        'close',
        'close',
        'close',
        'close',
        'reopen',
        'reopen',
        'delete',
        'repeat',
      ),
      /** How long ago it closed, in minutes. */
      ago: fc.constantFrom(1, 1, 1, 60, 600),
      source: fc.constantFrom(...sources),
      record: fc.integer({ min: 0, max: 11 }),
      person: fc.integer({ min: 0, max: 7 }),
      store: fc.constantFrom(...stores),
    }),
    { minLength: 15, maxLength: 45 },
  ),
});
/** What became of a closing. */
export type Fate = Pick<
  Journey,
  'state' | 'why' | 'reason' | 'rule' | 'campaign' | 'contact' | 'values' | 'askedAt'
> & {
  test: Journey['test'];
};

/**
 * Lives through the day, on an empty Redis and beside a fresh service, in earnest or dry: every closing is planned when it is told of, and
 * asked about when it is due, until none is left. @returns the fates by the journeys' names, and the calls that the service took
 */
export async function live(
  service: ReturnType<typeof useManual>,
  { rules, policy, happenings }: { rules: string[]; policy: string; happenings: Happening[] },
  { dryRun }: { dryRun: boolean },
): Promise<{ fates: Record<string, Fate>; calls: Record<string, number>; vendor: ToyVendor }> {
  await service.redis.handle.client.flushall();
  const feedback = await startFeedbackStandin({ seed: true });
  const { standin } = feedback;
  for (const [id, name] of [
    [300, 'Hours'],
    [301, 'Text'],
  ] as const) {
    const type = id === 300 ? 'email' : 'mixed';
    standin.addCampaign({ account: 'acme', id, name, type, sendFrom: '09:00:00', sendUntil: '19:00:00' });
  }
  let now = beginning;
  const clock = {
    ...liveClock,
    now: () => new Date(now),
    until: (at: Date) => Math.max(0, at.getTime() - now),
  };
  const vendor = new ToyVendor();
  const [source = '', ...others] = sources;
  const { engine } = service.unitContext({
    ...{ source, others, vendor, clock, feedback, dryRun, general: policy, rule: rules.join(', ') },
  });
  const contextOf = (name: string) =>
    engine.pipelines.get(nameIn(name, { dryRun }))?.context ?? expect.fail(`no ${name}`);
  const goTo = (at: number) => {
    now = Math.max(now, at);
    standin.moveClock({ now: new Date(now) });
  };
  const contexts = sources.map(contextOf);
  for (const happening of happenings.toSorted((a, b) => a.at - b.at)) {
    const at = beginning + happening.at * minute;
    await askUntil(at, contexts, goTo);
    goTo(at);
    await happen(happening, new Date(now), vendor, contextOf(happening.source));
  }
  await askUntil(Number.POSITIVE_INFINITY, contexts, goTo);
  const fates: Record<string, Fate> = {};
  for (const { name, store } of contexts) {
    for await (const journey of store.queries.all()) fates[refOf(nameInEarnest(name), journey.id)] = fateOf(journey);
  }
  const calls = standin.calls();
  await feedback.close();
  return { fates, calls, vendor };
}

/** The calls that wrote, at the service and at the vendor, each once. */
export function writing({ calls, vendor }: Pick<Awaited<ReturnType<typeof live>>, 'calls' | 'vendor'>): string[] {
  const atService = Object.keys(calls).filter((call) => !/\.(list|get|accessLog)$/.test(call));
  const atVendor = vendor.calls.map(({ what }) => what).filter((what) => what !== 'read');
  return [...atService, ...atVendor];
}

interface Happening {
  at: number;
  what: string;
  ago: number;
  source: string;
  record: number;
  person: number;
  store: string;
}

async function happen(
  { what, ago, source, record, person, store }: Happening,
  now: Date,
  vendor: ToyVendor,
  context: SourceContext,
): Promise<void> {
  const id = `${source}-${record}`;
  const told = { at: now, receivedAt: now };
  if (what === 'reopen') {
    const known = vendor.records.get(id);
    if (known) vendor.records.set(id, { ...known, ...open });
    return void (await plan(eventOf(id, { ...told, kind: 'changed' }), context));
  }
  if (what === 'delete') {
    vendor.records.delete(id);
    return void (await plan(eventOf(id, { ...told, kind: 'changed' }), context));
  }
  if (what === 'close') {
    const closedAt = new Date(now.getTime() - ago * minute);
    vendor.close(id, { ...personOf(person), store, ...closedAs(`closing ${closedAt.toISOString()}`, closedAt) });
  }
  await plan(eventOf(id, told), context);
}

/** Some are reached by e-mail, some by phone too, some not at all; two share a phone. */
function personOf(person: number): Pick<ToyRecord, 'customer' | 'personId' | 'timeZone'> {
  const phone = { phone: `+372555120${Math.min(person, 5)}0` };
  const email = { email: `person${person}@example.com` };
  const customer = person === 7 ? {} : { ...(person % 2 === 1 && phone), ...email };
  return { customer, personId: `p${person}`, timeZone: person % 3 === 0 ? 'Europe/Tallinn' : 'America/New_York' };
}

/** Asks about each when it is due, earliest first. One that waits for another is tried again after the others, and each second. */
async function askUntil(until: number, contexts: readonly SourceContext[], goTo: (at: number) => void): Promise<void> {
  let before = '';
  for (let turns = 0; turns < 2_000; turns++) {
    const waiting = await waitingIn(contexts);
    const [first] = waiting;
    if (first === undefined || first.at > until) return;
    const now = JSON.stringify(waiting.map(({ journey, at }) => [journey.id, at]));
    goTo(first.at);
    if (now === before) goTo(first.context.clock.now().getTime() + second);
    before = now;
    for (const { journey, context, at } of waiting) {
      if (at <= context.clock.now().getTime()) await ask({ journeyId: journey.id }, context);
    }
  }
  expect.fail('a journey waits for ever');
}

async function waitingIn(contexts: readonly SourceContext[]) {
  const found = await Promise.all(
    contexts.map(async (context) => {
      const { store } = context;
      const journeys = await store.those(await store.lists.idsIn('waiting', { limit: 100 }));
      return journeys.map((journey) => ({ journey, context, at: journey.dueAt?.getTime() ?? 0 }));
    }),
  );
  return found.flat().sort((one, other) => one.at - other.at);
}

/** As it reads in both: a dry run's `withheld` stands for `asked`, and what it names has the name that it has in earnest. */
function fateOf({ state, why, reason, rule, campaign, contact, values, askedAt, test }: Journey): Fate {
  return {
    ...{ reason, rule, campaign, contact, values, askedAt, test },
    state: state === 'withheld' ? 'asked' : state,
    why: why?.replaceAll('dry-run.', ''),
  };
}
