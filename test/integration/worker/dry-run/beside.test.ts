import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { showDryRun } from '../../../../worker/cli/dry-run.ts';
import { listJourneys, showJourney } from '../../../../worker/cli/journeys.ts';
import { start } from '../../../../worker/cli/start.ts';
import { status } from '../../../../worker/cli/status.ts';
import { why } from '../../../../worker/cli/why.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

/** The same source twice, on one Redis: in earnest, and dry. */
async function both({ rule, general = '' }: { rule: string; general?: string }) {
  const source = fresh();
  const feedback = await startFeedbackStandin({ seed: true });
  const vendor = Object.assign(new ToyVendor(), { account: source });
  const options = { source, rule, general, vendor, feedback };
  const earnest = await startLoop(redis, options);
  const dry = await startLoop(redis, { ...options, dryRun: true });
  return { source, vendor, feedback, earnest, dry };
}

test('a dry run beside the loop in earnest has throttles, caps and journeys of its own', async () => {
  const rule =
    '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store }, throttle: 30d, cap: { day: 1 } }';
  const { source, vendor, feedback, earnest, dry } = await both({ rule });
  const { delivery } = vendor.close('a');
  await dry.post(delivery);
  expect(await dry.journey('a.1', 'withheld')).toMatchObject({ campaign: 12, contact: { value: 'a@example.com' } });
  expect(feedback.standin.requests()).toEqual([]);
  await earnest.post(delivery);
  await earnest.journey('a.1', 'asked');
  expect(feedback.standin.requests()).toHaveLength(1);
  // To the dry run this is the person's second closing.
  vendor.close('b', { customer: { email: 'a@example.com' } });
  await dry.post(vendor.delivery([{ kind: 'closed', id: 'b', at: new Date() }]));
  await until(async () => (await dry.store.get('b.1')) !== undefined && (await dry.app.engine.busy()) === 0);
  const counts = async (loop: typeof dry) => await loop.store.lists.counts();
  expect(await counts(earnest)).toMatchObject({ asked: 1, withheld: 0 });
  expect(await counts(dry)).toMatchObject({ asked: 0, withheld: 1 });

  const options = beside(earnest);
  const { rows } = await printed(() => listJourneys({ ...options, source, state: 'withheld', limit: 9, dryRun: true }));
  expect(rows).toMatchObject([{ journey: `dry-run.${source}/a.1`, state: 'withheld' }]);
  const shown = await printed(() => showJourney({ ...options, journey: `${source}/a.1`, dryRun: true }));
  expect(shown.rows).toMatchObject([{ state: 'withheld' }]);
  const about = { ...options, about: 'a@example.com', stored: true };
  const dryAnswer = await printed(() => why({ ...about, dryRun: true }));
  expect(dryAnswer.rows).toMatchObject([
    {
      closings: expect.arrayContaining([expect.objectContaining({ journey: `dry-run.${source}/a.1`, isAsked: false })]),
    },
  ]);
  for (const named of ['a', `${source}/a`, `${source}/a.1`, `dry-run.${source}/a`]) {
    const found = await printed(() => why({ ...options, about: named, stored: true, dryRun: true }));
    expect([named, found.rows]).toMatchObject([named, [{ closings: [{ journey: `dry-run.${source}/a.1` }] }]]);
  }
  const answer = await printed(() => why(about));
  expect(answer.rows).toMatchObject([{ closings: [{ journey: `${source}/a.1`, isAsked: true }] }]);
  const dryStatus = await printed(() => status({ ...options, dryRun: true }));
  expect(dryStatus.rows).toMatchObject([
    { dryRun: true },
    { source: `dry-run.${source}`, journeys: { withheld: 1 }, lastWeek: { asked: 0, responseRate: null } },
    {},
  ]);
  const inWords = await printed(() => status({ ...options, json: false, dryRun: true }));
  expect(inWords.out).toMatch(/ {2}dry run {5}would have asked 1 /);
  expect((await printed(() => status(options))).out).not.toContain('dry-run');
});

test('an erasure that is delivered to a dry run is done by a process in earnest, at the service and in what the dry run stored', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
  const source = fresh();
  const feedback = await startFeedbackStandin({ seed: true });
  const vendor = Object.assign(new ToyVendor(), { account: source });
  const options = { source, rule, vendor, feedback };
  const dry = await startLoop(redis, { ...options, dryRun: true });
  await dry.post(vendor.close('a').delivery);
  await dry.journey('a.1', 'withheld');
  const erase = { kind: 'erase', at: new Date(), contacts: ['a@example.com'], recordIds: ['a'] };
  await dry.post(JSON.stringify({ plain: [erase] }));
  const masked = () => feedback.standin.calls()['contacts.mask'] ?? 0;
  expect(masked()).toBe(0);
  await dry.close();
  expect((await dry.store.get('a.1'))?.erasedAt).toBeUndefined();
  const earnest = await startLoop(redis, options);
  await until(async () => (await dry.store.get('a.1'))?.erasedAt);
  expect(masked()).toBeGreaterThan(0);
  expect(await dry.store.get('a.1')).not.toHaveProperty('contact');
  await earnest.close();
});

test('dry-run sums up what would have been, and names what a person should look at', async () => {
  const rules = [
    '{ name: broken, campaign: 12, contact: customer.email, when: \'ticket.store = "Narva" ? $error("no such store") : false\' }',
    '{ name: rest, campaign: 12, contact: customer.email, throttle: 30d, when: \'ticket.store = "Tallinn"\' }',
  ].join('\n      - ');
  const source = fresh();
  const loop = await startLoop(redis, { source, rule: rules, dryRun: true });
  for (const id of ['a', 'b', 'c']) {
    await loop.post(loop.vendor.close(id).delivery);
    await loop.journey(`${id}.1`, 'withheld');
  }
  await loop.post(loop.vendor.close('d', { customer: { email: 'a@example.com' } }).delivery);
  await loop.post(loop.vendor.close('e', { store: 'Tartu' }).delivery);
  await loop.post(loop.vendor.close('f', { store: 'Narva' }).delivery);
  for (const id of ['d', 'e', 'f']) await loop.journey(`${id}.1`, 'skipped');
  const options = beside(loop);
  const { rows, code } = await printed(() => showDryRun(options));
  expect(code).toBe(0);
  expect(rows).toMatchObject([
    {
      closings: 6,
      outcomes: [
        { source, what: 'would be asked', rule: 'rest', campaign: 12, count: 3 },
        { source, what: 'taken by no rule', reason: 'no-rule', count: 1 },
        { source, what: 'throttled', reason: 'throttled', count: 1 },
      ],
      forReview: {
        count: 1,
        first: [{ record: 'f', why: expect.stringMatching(/no such store|could not be evaluated/) }],
      },
      held: [],
      erasures: 0,
    },
  ]);
  const { out } = await printed(() => showDryRun({ ...options, source, json: false }));
  expect(stripVTControlCharacters(out)).toMatch(
    /^6 closings: 3 would be asked, 1 taken by no rule, 1 throttled, 1 that you should look at\n/,
  );
  expect(out).toContain(`dry-run.${source}/f.1`);
  const later = await printed(() => showDryRun({ ...options, since: '2100-01-01' }));
  expect(later.rows).toMatchObject([{ closings: 0, outcomes: [] }]);
});

test('start --dry-run says what it is as it begins, and what has come of it as it ends', async () => {
  const loop = await startLoop(redis, { source: fresh(), dryRun: true });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'withheld');
  await loop.close();
  const options = { ...beside(loop), role: 'worker' as const, once: true, dryRun: true };
  const { code, out } = await printed(() => start(options));
  expect(code).toBe(0);
  expect(out).toMatch(/nothing is sent or written, neither at the service nor at a vendor.*DRY RUN/);
  expect(out).toMatch(/1 closing: 1 would be asked.*DRY RUN/);
});
