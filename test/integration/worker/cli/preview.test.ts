import { describe, expect, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { listJourneys } from '../../../../worker/cli/journeys.ts';
import { preview } from '../../../../worker/cli/preview.ts';
import { startLoop } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

describe('preview', () => {
  test('a record may be written as people write it, and what is none is told with how it is written (audit 37)', async () => {
    const vendor = new ToyVendor();
    vendor.recordNames = { like: 'p or q', parse: (written) => /^job:([pq])$/.exec(written)?.[1] };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    await loop.post(vendor.close('p').delivery);
    await loop.journey('p.1', 'asked');
    const { source } = loop.store;
    const about = { ...beside(loop), source, showRecord: false };
    const { rows } = await printed(() => preview({ ...about, record: 'job:p' }));
    expect(rows).toMatchObject([{ journey: `${source}/p.1`, exists: true }]);
    await expect(preview({ ...about, record: 'job:7' })).rejects.toThrow(
      `"job:7" is no record of source ${source}: write p or q.`,
    );
    const listed = await printed(() => listJourneys({ ...beside(loop), limit: 5, record: 'job:p' }));
    expect(listed.rows).toMatchObject([{ journey: `${source}/p.1` }]);
    await loop.close();
  });

  test('it shows decision, contact, values with their source and the time, and sends and stores nothing', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.vendor.close('a');
    const about = { ...beside(loop), source: loop.store.source, record: 'a', showRecord: false };
    const { rows } = await printed(() => preview(about));
    expect(rows).toMatchObject([
      {
        decision: 'ask',
        journey: `${loop.store.source}/a.1`,
        exists: false,
        campaign: 12,
        contact: { kind: 'email', value: 'a@example.com' },
        values: { Store: 'Tallinn' },
        sources: { Store: 'ticket.store' },
        dueAt: expect.any(String),
      },
    ]);
    const words = await printed(() => preview({ ...about, json: false, showRecord: true }));
    expect(words.out).toMatch(/would ask[\s\S]*Store = "Tallinn" {2}← ticket\.store[\s\S]*"customer"/);
    expect(loop.feedback.standin.requests()).toEqual([]);
    expect(await loop.store.get('a.1')).toBeUndefined();
    await loop.close();
  });

  test('without a record it shows what each condition gave over the latest closings, and what would become of them', async () => {
    const vendor = new ToyVendor();
    const at = new Date();
    const ids = ['a', 'b', 'c', 'd'];
    for (const [i, id] of ids.entries()) vendor.close(id, { store: ['Tallinn', 'Tallinn', 'Tartu', 'Soon'][i] ?? '' });
    const event = (recordId: string) => ({ kind: 'closed' as const, recordId, at, key: recordId, what: 'toy poll' });
    vendor.pages = async () => ({ events: ids.map(event), cursor: '1', done: true, reached: at });
    const loop = await startLoop(redis, {
      source: fresh(),
      vendor,
      general: `policy: { never: ['ticket.store = "Soon"', { ownDomains: [b.ee] }] }`,
      rule: `{ name: one, when: 'ticket.store = "Tallinn"', campaign: 12, contact: customer.email }
      - { name: all, campaign: 12, contact: customer.email }`,
    });
    const { source } = loop.store;
    const about = { ...beside(loop), source, showRecord: false };
    const { rows } = await printed(() => preview(about));
    const counts = { of: 'rule', errors: 0 };
    const never = { of: 'never', errors: 0 };
    expect(rows).toEqual([
      {
        source,
        closings: 4,
        conditions: [
          { ...never, condition: 'ticket.store = "Soon"', matches: 1, decides: 1 },
          { ...never, condition: 'ownDomains: b.ee', matches: 0, decides: 0 },
          { ...counts, rule: 'one', condition: 'ticket.store = "Tallinn"', matches: 2, decides: 2 },
          { ...counts, rule: 'all', condition: 'always', matches: 4, decides: 1 },
        ],
        decisions: [
          { decision: 'ask', rule: 'one', campaign: 12, count: 2 },
          { decision: 'ask', rule: 'all', campaign: 12, count: 1 },
          { decision: 'skip', reason: 'never', count: 1 },
        ],
      },
    ]);
    const { out } = await printed(() => preview({ ...about, json: false }));
    expect(out).toMatch(/what conditions gave over the last 4 closings/);
    expect(out).toMatch(/rule "one" +ticket\.store = "Tallinn" +2 +2\n/);
    expect(out).toMatch(/ 2 {2}would be asked about \(rule "one", campaign 12\)/);
    expect(out).toMatch(/Throttles, caps .* are not in these figures/);
    const checked = await printed(() => check(beside(loop)));
    expect(checked.rows).toMatchObject([
      { tried: [{ source, closings: 4, conditions: [{ matches: 1 }, {}, {}, {}] }] },
    ]);
    expect(loop.feedback.standin.requests()).toEqual([]);
    await loop.close();
  });

  test('it says so where the vendor can list no closings, and names the caps that a request keeps to', async () => {
    const general = 'policy: { cap: { hour: 5 }, campaigns: { 12: { cap: { day: 9 } } } }';
    const loop = await startLoop(redis, { source: fresh(), general });
    const about = { ...beside(loop), source: loop.store.source, showRecord: false };
    await expect(preview(about)).rejects.toThrow(/can't list its latest closings: name one with --record/);
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    loop.vendor.close('b');
    const { out } = await printed(() => preview({ ...about, record: 'b', json: false }));
    expect(out).toMatch(/cap of 9 a day of campaign 12: [01] on its day so far/);
    expect(out).toMatch(/cap of 5 an hour of policy: [01] in its hour so far; its place is found when it is due/);
    await loop.close();
  });

  const nos: [why: RegExp, record: object | undefined][] = [
    [/does not exist/, undefined],
    [/not closed/, { state: { is: 'open' } }],
    [/merged/, { state: { is: 'out', why: 'merged into another' } }],
    [/no usable contact/, { customer: {} }],
  ];
  test.each(nos)('it says why nobody would be asked: %s', async (why, record) => {
    const loop = await startLoop(redis, { source: fresh() });
    if (record) loop.vendor.close('a', record);
    const { rows } = await printed(() =>
      preview({ ...beside(loop), source: loop.store.source, record: 'a', showRecord: false }),
    );
    expect(rows).toMatchObject([{ decision: 'skip', why: expect.stringMatching(why) }]);
    await loop.close();
  });

  test('it ends with 1 where there is no such record, and with 0 where there is one that is not asked about', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.vendor.close('b', { customer: {} });
    const about = { ...beside(loop), source: loop.store.source, showRecord: false };
    expect((await printed(() => preview({ ...about, record: 'a' }))).code).toBe(1);
    expect((await printed(() => preview({ ...about, record: 'b' }))).code).toBe(0);
    await loop.close();
  });

  test('it would not ask about a closing whose customer was asked already', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    const { source } = loop.store;
    const about = { ...beside(loop), source, record: 'a', showRecord: false };
    const { rows } = await printed(() => preview(about));
    const why = `its customer was asked already: journey ${source}/a.1 is asked`;
    expect(rows).toMatchObject([{ decision: 'skip', why, exists: true, state: 'asked', campaign: 12 }]);
    expect((await printed(() => preview({ ...about, json: false }))).out).toContain(`would not ask: ${why}`);
    await loop.close();
  });

  test('it tells of an open record what would be if it closed now, and of one that will count as closed when', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const about = { ...beside(loop), source: loop.store.source, showRecord: false };
    const readAgainAt = new Date(Date.now() + 3_600_000);
    loop.vendor.close('a', { state: { is: 'open' } });
    loop.vendor.close('b', { state: { is: 'open', readAgainAt }, customer: {} });
    const a = await printed(() => preview({ ...about, record: 'a' }));
    const ask = { decision: 'ask', campaign: 12, contact: { value: 'a@example.com' }, values: { Store: 'Tallinn' } };
    expect(a.rows).toMatchObject([{ decision: 'skip', why: 'it is not closed', ifClosed: ask }]);
    const b = await printed(() => preview({ ...about, record: 'b' }));
    const skip = { decision: 'skip', why: expect.stringContaining('no usable contact') };
    expect(b.rows).toMatchObject([{ decision: 'skip', readAgainAt: readAgainAt.toISOString(), ifClosed: skip }]);
    const words = await printed(() => preview({ ...about, record: 'a', json: false }));
    expect(words.out).toMatch(
      /would not ask: it is not closed[\s\S]*if it were closed: would ask[\s\S]*Store = "Tallinn"/,
    );
    expect(loop.feedback.standin.requests()).toEqual([]);
    await loop.close();
  });

  test('it says so when the person was asked lately', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, throttle: 30d }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    await loop.post(loop.vendor.close('a', { customer: { email: 'often@example.com' } }).delivery);
    await loop.journey('a.1', 'asked');
    loop.vendor.close('b', { customer: { email: 'often@example.com' } });
    const { rows } = await printed(() =>
      preview({ ...beside(loop), source: loop.store.source, record: 'b', showRecord: false }),
    );
    expect(rows).toMatchObject([{ decision: 'skip', why: expect.stringMatching(/asked .* ago \(throttle/) }]);
    await loop.close();
  });
});
