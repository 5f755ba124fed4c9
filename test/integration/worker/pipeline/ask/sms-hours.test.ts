import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import { publicHolidays } from '../../../../../core/schedule/public-holidays.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { type Clock, liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { closedAs, eventOf, hour, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;

/** With the default hours, 08:00–21:00: none of these configurations may ask for others. */
const hours = 'policy: { sms: {} }';

/** Stands still until it is put on; a wait of the job is over when it says so. */
function standingClock(start: string | number) {
  let at = new Date(start).getTime();
  const clock: Clock = { ...liveClock, now: () => new Date(at), until: (then) => Math.max(0, then.getTime() - at) };
  return {
    clock,
    put: (to: string | number) => {
      at = new Date(to).getTime();
    },
    pass: (ms: number) => {
      at += ms;
    },
  };
}

let sources = 0;
const calendar = publicHolidays();

/** A closing at this moment, of a customer with this number. */
async function planned(
  phone: string,
  closedAt: string | number,
  options: Parameters<typeof unitContext>[0] = {},
  where: { timeZone?: string; country?: string } = {},
) {
  const { clock, put, pass } = standingClock(closedAt);
  const source = `night-${++sources}`;
  const rule = '{ name: all, campaign: 12, contact: customer.phone }';
  const { context: opened, vendor, trace } = unitContext({ source, clock, rule, general: hours, ...options });
  const context = { ...opened, holidays: { calendar, country: 'EE' } };
  vendor.close('r', { customer: { phone }, ...where, ...closedAs('once', new Date(closedAt)) });
  await plan(eventOf('r', { at: new Date(closedAt) }), context);
  return {
    put,
    pass,
    clock,
    context,
    trace: async () => await trace('r.1'),
    journey: async () => (await context.store.get('r.1')) ?? expect.fail('no journey'),
    ask: async () => await ask({ journeyId: 'r.1' }, context),
    requests: () => service.standin.requests({ contact: phone }),
  };
}

test('a text message waits for the morning where the recipient is', async () => {
  const one = await planned('+447400111222', '2026-11-21T21:30:00Z');
  expect(await one.journey()).toMatchObject({ state: 'waiting', dueAt: new Date('2026-11-22T08:00:00Z') });
  expect(await one.trace()).toMatch(/zone Europe\/London, from the phone's country \(GB\)/);
  expect(await one.trace()).toMatch(/text messages go out 08:00–21:00 Europe\/London; closed until Sun 22 Nov 08:00/);
});

test('a request whose turn came late waits for the next open minute', async () => {
  const one = await planned('+37255511111', '2026-11-21T15:30:00Z');
  one.put('2026-11-21T19:00:00Z');
  expect(await one.ask()).toStrictEqual({ do: 'wait', delayMs: 11 * hour });
  expect(one.requests()).toStrictEqual([]);
  one.pass(11 * hour);
  await one.ask();
  expect(one.requests()).toHaveLength(1);
});

test('nothing is sent where the hour ends while the request is on its way', async () => {
  const one = await planned('+37255522222', '2026-11-21T15:30:00Z');
  one.put('2026-11-21T18:59:59.999Z');
  // The job fails before anything is sent, or begins anew.
  await one.ask().catch(transient);
  expect(one.requests()).toStrictEqual([]);
  expect(await one.journey()).toMatchObject({ state: 'waiting' });
  one.put('2026-11-22T06:00:00Z');
  await one.ask();
  expect(one.requests()).toHaveLength(1);
});

/** Countries, a number of each, and every clock there: by hand, and not from core's tables. */
const people: { number: (n: string) => string; zones: string[]; where?: { timeZone?: string; country?: string } }[] = [
  { number: (n) => `+3725${n}1`, zones: ['Europe/Tallinn'] },
  { number: (n) => `+447400${n}`, zones: ['Europe/London'] },
  { number: (n) => `+8190${n}12`, zones: ['Asia/Tokyo'] },
  { number: (n) => `+3725${n}2`, zones: ['Pacific/Auckland'], where: { timeZone: 'Pacific/Auckland' } },
  { number: (n) => `+3725${n}3`, zones: ['Asia/Kolkata'], where: { country: 'India' } },
  {
    number: (n) => `+3725${n}4`,
    zones: ['Europe/Madrid', 'Atlantic/Canary'],
    where: { country: 'ES', timeZone: 'no zone' },
  },
  { number: (n) => `+9198${n}12`, zones: ['Asia/Kolkata'] },
  { number: (n) => `+34612${n}`, zones: ['Europe/Madrid', 'Atlantic/Canary'] },
  {
    number: (n) => `+12135${n}`,
    zones: ['New_York', 'Chicago', 'Denver', 'Phoenix', 'Los_Angeles', 'Anchorage', 'Adak']
      .map((city) => `America/${city}`)
      .concat('Pacific/Honolulu'),
  },
];

function wallHour(zone: string, at: Date): number {
  return Number(new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' }).format(at));
}

const hhmm = fc
  .tuple(fc.nat(23), fc.constantFrom('00', '15', '59'))
  .map(([h, m]) => `${String(h).padStart(2, '0')}:${m}`);

const configurations = fc.record({
  person: fc.constantFrom(...people),
  closedAt: fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-12-31') }),
  campaign: fc.record({ sendFrom: hhmm, sendUntil: hhmm, sendDelay: fc.constantFrom(0, 90, 600) }),
  window: fc.option(fc.record({ from: hhmm, until: hhmm, zone: fc.constantFrom('account', 'recipient') }), {
    nil: undefined,
  }),
  delay: fc.option(fc.constantFrom('0s', '3h', '30h'), { nil: undefined }),
  serviceAddsDelay: fc.boolean(),
  /** How late each turn of the job comes, in minutes; after the last it comes in time. */
  late: fc.array(fc.constantFrom(0, 1, 59, 200, 700, 2000), { maxLength: 4 }),
  /** Whether the service is down at each turn. */
  down: fc.array(fc.boolean(), { maxLength: 4 }),
});

function transient(error: unknown): void {
  if (!(error instanceof CloseloopError && error.advice.kind === 'transient')) throw error;
}

/** A rule whose windows never meet waits for a person. */
function heldUp(error: unknown): undefined {
  if (!(error instanceof CloseloopError && error.advice.kind === 'config')) throw error;
}

test('whatever rule, campaign, delay, lateness and outage: no text message goes out at night', async () => {
  let sent = 0;
  let n = 100_000;
  await fc.assert(
    fc.asyncProperty(configurations, async ({ person, closedAt, campaign, window, delay, late, down, ...more }) => {
      const [id, phone] = [n + 1000, person.number(String(n++))];
      const { sendDelay, sendFrom, sendUntil } = campaign;
      const times = { sendFrom: `${sendFrom}:00`, sendUntil: `${sendUntil}:00`, sendDelay };
      service.standin.addCampaign({ account: 'acme', id, name: 'Some', type: 'mixed', ...times });
      const extra = { ...(window && { window }), ...(delay && { delay }) };
      const one = await planned(
        phone,
        closedAt,
        {
          rule: JSON.stringify({ name: 'all', campaign: id, contact: 'customer.phone', ...extra }),
          ...(more.serviceAddsDelay && { operations: { create: { body: { scheduled: null } } } }),
        },
        person.where,
      ).catch(heldUp);
      if (one === undefined) return;
      for (let turn = 0; turn < 12 && (await one.journey()).state === 'waiting'; turn++) {
        if (down[turn])
          service.standin.faults.add({ method: 'POST', path: '^/api/appeals/', status: 503, body: 'down' });
        const result = await one.ask().catch(() => undefined);
        const at = new Date(one.clock.now().getTime() + (more.serviceAddsDelay ? sendDelay * 60_000 : 0));
        if (one.requests().length > 0) {
          sent++;
          for (const zone of person.zones) {
            expect(wallHour(zone, at)).toBeGreaterThanOrEqual(8);
            expect(wallHour(zone, at)).toBeLessThan(21);
          }
          break;
        }
        one.pass((result?.do === 'wait' ? result.delayMs : 60_000) + (late[turn] ?? 0) * 60_000);
      }
    }),
    { numRuns: 60 },
  );
  expect(sent).toBeGreaterThan(10);
});
