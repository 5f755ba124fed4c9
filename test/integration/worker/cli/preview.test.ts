import { describe, expect, test } from 'vitest';
import { listJourneys } from '../../../../worker/cli/journeys.ts';
import { preview } from '../../../../worker/cli/preview.ts';
import { startLoop } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { daysAgo, printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

describe('preview', () => {
  test('a record may be written as people write it, and what is none is told with how it is written (audit 37)', async () => {
    const vendor = new ToyVendor();
    vendor.recordNames = { like: 'p or q', parse: (written) => /^job:([pq])$/.exec(written)?.[1] };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    await loop.asked('p');
    const { source } = loop.store;
    const about = { ...beside(loop), source, showRecord: false };
    const { rows } = await printed(() => preview({ ...about, record: 'job:p' }));
    expect(rows).toMatchObject([{ journey: `${source}/p.1`, exists: true }]);
    await expect(preview({ ...about, record: 'job:7' })).rejects.toThrow(
      `"job:7" is no record of source ${source}: write p or q.`,
    );
    await expect(preview({ ...beside(loop), showRecord: false, record: 'nope/1' })).rejects.toThrow(
      `There is no source "nope"; there are: ${source}.`,
    );
    const listed = await printed(() => listJourneys({ ...beside(loop), limit: 5, record: 'job:p' }));
    expect(listed.rows).toMatchObject([{ journey: `${source}/p.1` }]);
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
  });

  test('it names the caps that a request keeps to', async () => {
    const general = 'policy: { cap: { hour: 5 }, campaigns: { 12: { cap: { day: 9 } } } }';
    const loop = await startLoop(redis, { source: fresh(), general });
    const about = { ...beside(loop), source: loop.store.source, showRecord: false };
    await loop.asked('a');
    loop.vendor.close('b');
    const { out } = await printed(() => preview({ ...about, record: 'b', json: false }));
    expect(out).toMatch(/cap of 9 a day of campaign 12: [01] on its day so far/);
    expect(out).toMatch(/cap of 5 an hour of policy: [01] in its hour so far; its place is found when it is due/);
  });

  test('the record says of which source it is; where there are several it has to', async () => {
    const [source, other] = [fresh(), fresh()];
    const loop = await startLoop(redis, { source, others: [other] });
    loop.vendor.close('a');
    const about = { ...beside(loop), showRecord: false };
    const { rows } = await printed(() => preview({ ...about, record: `${other}/a` }));
    expect(rows).toMatchObject([{ decision: 'ask', journey: `${other}/a.1` }]);
    await expect(preview({ ...about, record: 'a' })).rejects.toThrow(
      `Which source is it of? Write <source>/a; there are: ${source}, ${other}.`,
    );
    await expect(preview(about)).rejects.toThrow(/^Name a record .* or a time \(--since yesterday\)\.$/);
    await expect(preview({ ...about, record: 'a', since: 'yesterday' })).rejects.toThrow(/not both/);
  });

  const nos: [why: RegExp, record: object | undefined, code: number][] = [
    [/does not exist/, undefined, 1],
    [/merged/, { state: { is: 'out', why: 'merged into another' } }, 0],
    [/no usable contact/, { customer: {} }, 0],
  ];
  test.each(nos)(
    'it says why nobody would be asked, %s, and ends so where there is no record',
    async (why, record, ends) => {
      const loop = await startLoop(redis, { source: fresh() });
      if (record) loop.vendor.close('a', record);
      const about = { ...beside(loop), source: loop.store.source, record: 'a', showRecord: false };
      const { code, rows } = await printed(() => preview(about));
      expect([code, rows]).toMatchObject([ends, [{ decision: 'skip', why: expect.stringMatching(why) }]]);
    },
  );

  test('it would not ask about a closing whose customer was asked already', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.asked('a');
    const { source } = loop.store;
    const about = { ...beside(loop), source, record: 'a', showRecord: false };
    const { rows } = await printed(() => preview(about));
    const why = `its customer was asked already: journey ${source}/a.1 is asked`;
    expect(rows).toMatchObject([{ decision: 'skip', why, exists: true, state: 'asked', campaign: 12 }]);
    expect((await printed(() => preview({ ...about, json: false }))).out).toContain(`would not ask: ${why}`);
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
  });

  test('it says so when the person was asked lately', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, throttle: 30d }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    await loop.asked('a', { customer: { email: 'often@example.com' } });
    loop.vendor.close('b', { customer: { email: 'often@example.com' } });
    const { rows } = await printed(() =>
      preview({ ...beside(loop), source: loop.store.source, record: 'b', showRecord: false }),
    );
    expect(rows).toMatchObject([
      { decision: 'skip', why: expect.stringMatching(/asked at .*\(journey \S+\/a\.1; throttle/) },
    ]);
    expect(rows[0]).not.toHaveProperty('dueAt');
    const about = { ...beside(loop), source: loop.store.source, record: 'b', showRecord: false, json: false };
    expect((await printed(() => preview(about))).out).not.toMatch(/^send |to be asked at/m);
  });
});

describe('preview --since', () => {
  /** A vendor that lists these closings, a few to a page, in the order in which they were changed. */
  function listing(closed: readonly { id: string; at: Date }[], vendor = new ToyVendor()) {
    const event = ({ id, at }: { id: string; at: Date }) =>
      ({ kind: 'closed', recordId: id, at, key: `past:${id}`, what: 'toy poll' }) as const;
    vendor.pages = async (from) => {
      const start = 'cursor' in from ? Number(from.cursor) : 0;
      const page = closed.slice(start, start + 3);
      const done = start + 3 >= closed.length;
      return { events: page.map(event), cursor: String(start + 3), done, reached: page.at(-1)?.at ?? new Date() };
    };
    return vendor;
  }
  const closedAt = (vendor: ToyVendor, id: string, at: Date, more: object = {}) =>
    vendor.close(id, { state: { is: 'closed', closing: 'one', closedAt: at }, ...more });

  test('it shows of each closing of the period whether, when and whom it would ask, or why not, and sums up', async () => {
    const closed = Array.from({ length: 8 }, (_, i) => ({ id: `p${i}`, at: daysAgo(10 - i) }));
    const vendor = listing(closed);
    for (const { id, at } of closed) closedAt(vendor, id, at);
    closedAt(vendor, 'p3', daysAgo(7), { store: 'Soon' });
    closedAt(vendor, 'p4', daysAgo(6), { customer: {} });
    vendor.close('p5', { state: { is: 'open' } });
    // Closed again since, which is another closing.
    closedAt(vendor, 'p6', daysAgo(1));
    const general = `policy: { never: ['ticket.store = "Soon"'] }`;
    const loop = await startLoop(redis, { source: fresh(), vendor, general });
    const { source } = loop.store;
    const range = { source, since: daysAgo(8.5).toISOString(), until: daysAgo(2.5).toISOString(), showRecord: false };
    const { rows, code } = await printed(() => preview({ ...beside(loop), ...range }));
    const ask = {
      decision: 'ask',
      dueAt: expect.any(String),
      contact: 'email p…@example.com',
      campaign: 12,
      rule: 'all',
    };
    const no = (reason: string) => ({ decision: 'skip', reason, why: expect.any(String) });
    expect(rows).toEqual([
      { record: `${source}/p2`, ...ask },
      { record: `${source}/p3`, ...no('never') },
      { record: `${source}/p4`, ...no('no-contact'), rule: 'all' },
      { record: `${source}/p5`, ...no('reopened') },
      { record: `${source}/p7`, ...ask },
      {
        closings: 5,
        outcomes: [
          { source, what: 'would be asked', rule: 'all', campaign: 12, count: 2 },
          { source, what: 'excluded (never)', reason: 'never', count: 1 },
          { source, what: 'open again when they were read', reason: 'reopened', count: 1 },
          { source, what: 'without a usable contact', reason: 'no-contact', rule: 'all', count: 1 },
        ],
        forReview: { count: 0, first: [] },
      },
    ]);
    expect(code).toBe(0);
    const words = await printed(() => preview({ ...beside(loop), ...range, limit: 2, json: false }));
    const lines = [
      /^record +asked +when +whom +campaign +because$/m,
      /\/p2 +yes +\S+[+-]\d\d:\d\d +email p…@example\.com +12 +rule "all"$/m,
      /\/p3 +no +`ticket\.store = "Soon"` is true \(never\)$/m,
      /^2 closings: 1 would be asked, 1 excluded \(never\)$/m,
    ];
    for (const line of lines) expect(words.out).toMatch(line);
    expect(words.out).not.toContain('p4');
    expect(loop.feedback.standin.requests()).toEqual([]);
    expect(await loop.store.lists.counts()).toMatchObject({ received: 0, waiting: 0, asked: 0 });
  });

  test('it begins a day on the clock of the account, and says which sources can not list their closings', async () => {
    const from: unknown[] = [];
    const vendor = new ToyVendor();
    vendor.pages = async (at) => {
      from.push(at);
      return { events: [], cursor: '0', done: true, reached: new Date() };
    };
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    from.length = 0;
    const about = { ...beside(loop), showRecord: false };
    const { code } = await printed(() => preview({ ...about, since: '2026-02-01' }));
    // The account of the harness is in Europe/Tallinn.
    expect([code, from]).toEqual([0, [{ since: new Date('2026-01-31T22:00:00Z') }]]);
    await loop.close();
    const silent = await startLoop(redis, { source: fresh() });
    const { said } = await sayings(() =>
      preview({ ...beside(silent), showRecord: false, since: 'today' }).catch((error: Error) => {
        process.stderr.write(error.message);
        return 2;
      }),
    );
    expect(said.join('')).toMatch(
      /can't list its closings: "closeloop preview \S+\/<record>" shows one\.\n.*No source here/,
    );
    await silent.close();
  });

  test.each<[what: string, agoMs: number, until: number, isTold: boolean]>([
    ['a minute behind is told of', 60_000, 0, true],
    ['of this moment is not', 0, 0, false],
    ['behind is not where it holds all that is asked for', 60_000, 0.5, false],
  ])('a list that is %s', async (_, agoMs, until, isTold) => {
    const vendor = new ToyVendor();
    vendor.pages = async () => ({ events: [], cursor: '0', done: true, reached: new Date(Date.now() - agoMs) });
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const range = { since: daysAgo(1).toISOString(), until: daysAgo(until).toISOString() };
    const { said } = await sayings(() => preview({ ...beside(loop), ...range, showRecord: false }));
    expect(/closings since \S+\+0\d:00 are not listed yet/.test(said.join(''))).toBe(isTold);
  });

  test.each<[what: string, rule: string, customer: { email?: string }, code: number]>([
    ['no rule takes', 'when: ticket.store = "Riga"', {}, 3],
    ['has a contact', 'when: "true"', {}, 3],
    ['is drawn', 'sample: 0', { email: 'a@example.com' }, 0],
    ['is left out', 'when: "true"', { email: 'a@example.com' }, 0],
  ])('its exit code tells whether any closing would be asked about: none %s', async (_, more, customer, expected) => {
    const vendor = listing(['a', 'b'].map((id) => ({ id, at: daysAgo(1) })));
    for (const id of ['a', 'b']) closedAt(vendor, id, daysAgo(1), { customer });
    const rule = `{ name: all, campaign: 12, contact: customer.email, ${more} }`;
    const loop = await startLoop(redis, { source: fresh(), vendor, rule, general: 'poll: { every: 1d }' });
    const about = { ...beside(loop), since: daysAgo(2).toISOString(), showRecord: false, json: false };
    const { code, said } = await sayings(() => preview(about));
    const found = /Nobody would be asked by command-\d+: .*"closeloop why command-\d+\/b" shows every condition/;
    expect([code, found.test(said.join(''))]).toEqual([expected, expected === 3]);
  });

  test('of a closing that has a journey and would be asked about now it says in which state that is', async () => {
    const vendor = listing([{ id: 'a', at: new Date() }]);
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: fresh(), vendor, rule, general: 'poll: { every: 1d }' });
    await loop.post(vendor.close('a').delivery);
    await loop.journey('a.1', 'waiting');
    const about = { ...beside(loop), since: daysAgo(2).toISOString(), showRecord: false, json: false };
    expect((await printed(() => preview(about))).out).toMatch(/ yes .* rule "all"; it has a journey: waiting$/m);
  });

  test('where every record is open again, or everybody was asked already, nothing is wrong', async () => {
    const vendor = listing([{ id: 'a', at: new Date() }]);
    vendor.close('a', { state: { is: 'open' } });
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const about = { ...beside(loop), since: daysAgo(2).toISOString(), showRecord: false };
    expect((await printed(() => preview(about))).code).toBe(0);
    await loop.asked('a');
    const { code, rows } = await printed(() => preview(about));
    expect([code, rows[0]]).toEqual([
      0,
      expect.objectContaining({ decision: 'skip', reason: 'asked-already', state: 'asked' }),
    ]);
  });
});
