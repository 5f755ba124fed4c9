import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { Finding, PreflightContext, SetupStep } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { backfill } from '../../../../worker/cli/backfill.ts';
import { check } from '../../../../worker/cli/check.ts';
import { listErasures, maskContact, retryErasures } from '../../../../worker/cli/contact.ts';
import { listEvents, replayEvents } from '../../../../worker/cli/events.ts';
import { listJourneys, showJourney } from '../../../../worker/cli/journeys.ts';
import { preview } from '../../../../worker/cli/preview.ts';
import { cancelJourney, replayJourneys, resolveJourney } from '../../../../worker/cli/repair.ts';
import { setup } from '../../../../worker/cli/setup.ts';
import { status } from '../../../../worker/cli/status.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { type Loop, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();
const dir = mkdtempSync(join(tmpdir(), 'closeloop-commands-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
let sources = 0;
const fresh = () => `command-${++sources}`;
const daysAgo = (n: number) => new Date(Date.now() - n * 86_400_000);

/** What a command that works beside this loop is given. */
function beside(loop: Loop) {
  const config = join(dir, `${loop.store.source}.yaml`);
  writeFileSync(config, `${loop.text}\nredis: { path: ${redis.socket} }\n`);
  return { config, data: dir, json: true, connectors: [loop.vendor.builtIn] };
}

/** What it prints on standard output, with its exit code. */
async function printed(command: () => Promise<number>): Promise<{ code: number; out: string; rows: unknown[] }> {
  const write = process.stdout.write;
  let out = '';
  process.stdout.write = (text: string | Uint8Array) => {
    out += String(text);
    return true;
  };
  try {
    const code = await command();
    const isJson = /^[[{]/.test(out);
    return {
      code,
      out,
      rows: isJson
        ? out
            .trim()
            .split('\n')
            .map((line): unknown => JSON.parse(line))
        : [],
    };
  } finally {
    process.stdout.write = write;
  }
}

/** What it says on standard error meanwhile. */
async function sayings(command: () => Promise<number>): Promise<{ code: number; said: string[] }> {
  const said: string[] = [];
  const write = process.stderr.write;
  process.stderr.write = (text: string | Uint8Array) => said.push(String(text)) > 0;
  try {
    const { code } = await printed(command);
    return { code, said };
  } finally {
    process.stderr.write = write;
  }
}

const idle = (loop: Loop) => until(async () => (await loop.app.engine.busy()) === 0);

describe('journeys list', () => {
  test('it filters by state, contact, record, reason and time, and shows nothing personal', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    for (const id of ['a', 'b']) await loop.post(loop.vendor.close(id).delivery);
    await loop.post(loop.vendor.close('c', { customer: {} }).delivery);
    await loop.journey('a.1', 'asked');
    await loop.journey('b.1', 'asked');
    await loop.journey('c.1', 'skipped');
    const { source } = loop.store;
    const list = async (filter: object) => {
      const { rows, out } = await printed(() => listJourneys({ ...beside(loop), limit: 50, ...filter }));
      expect(out).not.toMatch(/@example/);
      return rows.map((row) => Object(row).journey).toSorted();
    };
    expect(await list({})).toEqual([`${source}/a.1`, `${source}/b.1`, `${source}/c.1`]);
    expect(await list({ state: 'skipped' })).toEqual([`${source}/c.1`]);
    expect(await list({ contact: 'B@example.com' })).toEqual([`${source}/b.1`]);
    expect(await list({ record: 'a' })).toEqual([`${source}/a.1`]);
    expect(await list({ record: 'a', contact: 'b@example.com' })).toEqual([]);
    expect(await list({ record: 'a', contact: 'a@example.com' })).toEqual([`${source}/a.1`]);
    expect(await list({ error: 'NO USABLE' })).toEqual([`${source}/c.1`]);
    expect(await list({ since: '2099-01-01' })).toEqual([]);
    expect(await list({ limit: 1 })).toHaveLength(1);
    const again = { recordId: 'a', closing: 'again', closedAt: new Date(), eventKey: 'again', receivedAt: new Date() };
    await loop.store.getOrCreate(again, []);
    expect(await list({ record: 'a', limit: 1 })).toEqual([`${source}/a.2`]);
    await expect(list({ source: 'nobody' })).rejects.toThrow(/no source "nobody"/);
    await expect(list({ since: 'soon' })).rejects.toThrow(/--since must be a day/);
    const shown = await printed(() => showJourney({ ...beside(loop), journey: `${source}/a.1` }));
    expect(shown.rows).toMatchObject([{ state: 'asked', contact: 'email' }]);
    expect(shown.out).not.toMatch(/@example/);
    await expect(showJourney({ ...beside(loop), journey: `${source}/zz.1` })).rejects.toThrow(/no journey/);
    await loop.close();
  });
});

describe('journeys replay', () => {
  test('it plans skipped and failed journeys anew once the cause is mended, and leaves asked ones alone', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a', { customer: {} }).delivery);
    await loop.post(loop.vendor.close('b').delivery);
    await loop.journey('a.1', 'skipped');
    await loop.journey('b.1', 'asked');
    const record = loop.vendor.records.get('a') ?? expect.fail('no record');
    loop.vendor.records.set('a', { ...record, customer: { email: 'late@example.com' } });
    const { rows } = await printed(() => replayJourneys({ ...beside(loop), state: 'skipped' }));
    const journeys = [`${loop.store.source}/a.1`];
    expect(rows).toEqual([{ journeys: 1, outcomes: [{ outcome: 'planned anew', count: 1, journeys }] }]);
    await loop.journey('a.1', 'asked');
    const b = `${loop.store.source}/b.1`;
    await expect(replayJourneys({ ...beside(loop), journey: b })).rejects.toThrow(/customer was asked/);
    const both = { ...beside(loop), journey: b, error: 'usable' };
    await expect(replayJourneys(both)).rejects.toThrow(/not both/);
    expect(loop.feedback.standin.requests()).toHaveLength(2);
    await loop.close();
  });

  test('it looks for the request of a journey that may have one before it asks anew', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a').delivery);
    const { requestId: _, ...asked } = await loop.journey('a.1', 'asked');
    const intent = {
      token: 't',
      at: daysAgo(1),
      campaign: 12,
      numAppeals: 0,
      lastAppeal: null,
      lookAfter: daysAgo(1),
    };
    const failed = { ...asked, state: 'failed' as const, intent };
    await loop.store.update('a.1', () => ({ journey: failed, trace: ['made to fail'] }));
    await printed(() => replayJourneys({ ...beside(loop), journey: `${loop.store.source}/a.1` }));
    await idle(loop);
    await until(async () => !['waiting', 'creating'].includes((await loop.store.get('a.1'))?.state ?? ''));
    expect(loop.feedback.standin.requests()).toHaveLength(1);
    await loop.close();
  });

  test('it writes an answer back that could not be written', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    await loop.store.update('a.1', (now) => {
      const answer = { grade: 4, comment: null, seenAt: new Date(), version: 1 };
      const answered = step(now, 'answered', new Date(), { answer });
      return { journey: step(answered, 'failed', new Date(), { why: 'no right' }), trace: [] };
    });
    const { rows } = await printed(() => replayJourneys({ ...beside(loop), error: 'no right' }));
    expect(rows).toMatchObject([{ outcomes: [{ outcome: 'written back again', count: 1 }] }]);
    await loop.journey('a.1', 'written');
    await loop.close();
  });
});

describe('a replay that is interrupted', () => {
  test('it loses no closing whose record could not be read', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.vendor.close('a');
    const at = new Date();
    const claim = { recordId: 'a', closing: 'event:one', closedAt: at, eventKey: 'one', receivedAt: at };
    await loop.store.getOrCreate(claim, []);
    await loop.store.update('a.1', (now) => ({ journey: step(now, 'failed', at, { why: 'unread' }), trace: [] }));
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    await queue.pause();
    // Queued first, then ended: at no time is there neither.
    const seen: (string | undefined)[] = [];
    const watching = (async () => {
      for (;;) {
        const [state, queued] = [(await loop.store.get('a.1'))?.state, await queue.count()];
        seen.push(state === 'cancelled' && queued === 0 ? 'lost' : state);
        if (state === 'cancelled') return;
      }
    })();
    await printed(() => replayJourneys({ ...beside(loop), journey: `${loop.store.source}/a.1` }));
    await watching;
    expect(seen).not.toContain('lost');
    await queue.resume();
    await loop.journey('a.2', 'asked');
    await loop.close();
  });
});

describe('journeys cancel', () => {
  test('it ends a journey before it asks, with the reason, and refuses when the customer was asked', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'waiting');
    const journey = `${loop.store.source}/a.1`;
    await printed(() => cancelJourney({ ...beside(loop), journey, why: 'the customer called' }));
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'cancelled', why: 'the customer called' });
    await expect(cancelJourney({ ...beside(loop), journey: `${loop.store.source}/b.1`, why: '' })).rejects.toThrow(
      /no journey/,
    );
    await loop.close();

    const other = await startLoop(redis, { source: fresh() });
    await other.post(other.vendor.close('a').delivery);
    await other.journey('a.1', 'asked');
    const asked = `${other.store.source}/a.1`;
    await expect(cancelJourney({ ...beside(other), journey: asked, why: 'x' })).rejects.toThrow(/can't be cancelled/);
    await other.close();
  });
});

describe('journeys resolve', () => {
  const nothing = { notAsked: false, written: false };

  /** A journey whose create came to no end that closeloop could find out. */
  async function parked() {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a').delivery);
    const { requestId = '', ...asked } = await loop.journey('a.1', 'asked');
    const journey = { ...asked, state: 'parked' as const, why: 'unclear' };
    await loop.store.update('a.1', () => ({ journey, trace: ['made to park'] }));
    return { loop, requestId, ref: `${loop.store.source}/a.1` };
  }

  test('it takes the request that a person found, and collects its grade', async () => {
    const { loop, requestId, ref } = await parked();
    const other = await startLoop(redis, { source: fresh(), feedback: loop.feedback });
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: '99999999' })).rejects.toThrow(
      /no feedback request/,
    );
    // Of the test's own making: nothing else unlinks a request from its journey.
    const bucket = (await redis.handle.client.keys(`{cl:${loop.store.source}}:requests:*`))[0] ?? '';
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId })).rejects.toThrow(
      /another journey/,
    );
    await redis.handle.client.hdel(bucket, requestId);
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId }));
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 3 });
    await loop.journey('a.1', 'written');
    await other.close();
    await loop.close();
  });

  test('it asks when a person says that the customer was not', async () => {
    const { loop, ref } = await parked();
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref }));
    await loop.journey('a.1', 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(2);
    await expect(resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref })).rejects.toThrow(
      /not parked/,
    );
    await loop.close();
  });

  test('it asks once, though Redis forgets afterwards that it has asked (audit twice)', async () => {
    const loop = await startLoop(redis, { source: fresh(), lookAfter: '1h' });
    const { store, feedback } = loop;
    const { source } = store;
    feedback.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'cut' });
    await loop.post(loop.vendor.close('a').delivery);
    // Asked about in the job that plans, which then has stored the one that looks for the request.
    await until(async () => (await store.trace('a.1')).some(({ text }) => text.includes('outcome unknown')));
    await idle(loop);
    await store.update('a.1', (now) => ({ journey: step(now, 'parked', new Date(), { why: 'unclear' }), trace: [] }));
    const { context, jobs } = loop.app.engine.pipelines.get(source) ?? expect.fail('no pipeline');
    await jobs.ask.queue.pause();
    // That it is looked for in an hour is over.
    await until(async () => (await jobs.ask.queue.getJob('ask-a.1'))?.isDelayed());
    await (await jobs.ask.queue.getJob('ask-a.1'))?.remove();
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: `${source}/a.1` }));
    const before = await loop.journey('a.1', 'waiting');
    const note = await context.contacts.lastAsked('a@example.com');
    await jobs.ask.queue.resume();
    const { requestId = '' } = await loop.journey('a.1', 'asked');
    // A power cut: the last second is lost.
    await store.update('a.1', () => ({ journey: before, trace: [] }));
    const [bucket = ''] = await redis.handle.client.keys(`{cl:${source}}:requests:*`);
    await redis.handle.client.hdel(bucket, requestId);
    await context.contacts.setLastAsked('a@example.com', note);
    await context.queueAsk('a.1', new Date());
    await loop.journey('a.1', 'creating');
    expect(feedback.standin.requests()).toHaveLength(1);
    await loop.close();
  });

  test('it asks when a person says that the customer was not, though other requests to them look like it', async () => {
    const { loop, ref } = await parked();
    const context = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    const contact = { kind: 'email', value: 'a@example.com' } as const;
    for (let i = 0; i < 2; i++) {
      await context.feedback.create({ campaign: 12, contact, scheduled: new Date(), customFields: {} });
    }
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref }));
    await loop.journey('a.1', 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(4);
    await loop.close();
  });

  test('it refuses a request that went to somebody else: their grade would be put on this record', async () => {
    const { loop, ref } = await parked();
    const context = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    const contact = { kind: 'email', value: 'stranger@example.com' } as const;
    const { id } = await context.feedback.create({ campaign: 12, contact, scheduled: new Date(), customFields: {} });
    const resolved = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: id });
    await expect(resolved).rejects.toThrow(/another contact/);
    await loop.close();
  });

  test('it does not say that it is done when the journey was changed meanwhile', async () => {
    const { loop, requestId, ref } = await parked();
    const [bucket = ''] = await redis.handle.client.keys(`{cl:${loop.store.source}}:requests:*`);
    await redis.handle.client.hdel(bucket, requestId);
    await fetch(`${loop.feedback.url}/_control/faults`, {
      method: 'POST',
      body: JSON.stringify({ method: 'GET', path: `/appeals/${requestId}`, delayMs: 600_000 }),
    });
    const resolving = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId });
    const refused = expect(resolving).rejects.toThrow(/Nothing was changed: the journey is cancelled since/);
    await until(() => loop.feedback.standin.faults.list().length === 0);
    await loop.store.update('a.1', (now) => ({ journey: step(now, 'cancelled', new Date()), trace: [] }));
    loop.feedback.standin.faults.clear();
    await refused;
    await loop.close();
  });

  test('it takes no request while another journey of the person may be about to note it as its own', async () => {
    const { loop, requestId, ref } = await parked();
    const { contacts } = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    expect(await contacts.lock('a@example.com', 'another', 60_000)).toBe(true);
    const resolving = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId });
    await expect(resolving).rejects.toThrow(/asking this person right now/);
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'parked' });
    await contacts.release('a@example.com', 'another');
    await loop.close();
  });

  test('it wants exactly one verdict', async () => {
    const { loop, ref } = await parked();
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref })).rejects.toThrow(/exactly one/);
    const both = { notAsked: true, written: true };
    await expect(resolveJourney({ ...beside(loop), ...both, journey: ref })).rejects.toThrow(/exactly one/);
    await loop.close();
  });
});

test('people are shown times on the clock of the account, machines UTC', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  const journey = `${loop.store.source}/a.1`;
  const words = { ...beside(loop), json: false };
  const shown = [
    await printed(() => listJourneys({ ...words, limit: 5 })),
    await printed(() => showJourney({ ...words, journey })),
    await printed(() => preview({ ...words, source: loop.store.source, record: 'a', showRecord: false })),
  ];
  for (const { out } of shown) {
    expect(out).toMatch(/\d\d:\d\d:\d\d\+0[23]:00/);
    expect(out).not.toMatch(/\d\d:\d\d[\d:.]*Z/);
  }
  const { out } = await printed(() => listJourneys({ ...beside(loop), limit: 5 }));
  expect(JSON.parse(out)).toMatchObject({ updatedAt: expect.stringMatching(/Z$/) });
  await loop.close();
});

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
    const lookAgainAt = new Date(Date.now() + 3_600_000);
    loop.vendor.close('a', { state: { is: 'open' } });
    loop.vendor.close('b', { state: { is: 'open', lookAgainAt }, customer: {} });
    const a = await printed(() => preview({ ...about, record: 'a' }));
    const ask = { decision: 'ask', campaign: 12, contact: { value: 'a@example.com' }, values: { Store: 'Tallinn' } };
    expect(a.rows).toMatchObject([{ decision: 'skip', why: 'it is not closed', ifClosed: ask }]);
    const b = await printed(() => preview({ ...about, record: 'b' }));
    const skip = { decision: 'skip', why: expect.stringContaining('no usable contact') };
    expect(b.rows).toMatchObject([{ decision: 'skip', lookAgainAt: lookAgainAt.toISOString(), ifClosed: skip }]);
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

describe('backfill', () => {
  /** Closed on each of the last ten days, three to a page of the poll. */
  function past(vendor: ToyVendor) {
    const closed = Array.from({ length: 10 }, (_, i) => ({ id: `p${i}`, at: daysAgo(10 - i) }));
    for (const { id, at } of closed) vendor.close(id, { state: { is: 'closed', closing: 'one', closedAt: at } });
    const seen: string[] = [];
    vendor.pages = async (from) => {
      const after = 'cursor' in from ? -1 : closed.findIndex(({ at }) => at >= from.since);
      const start = 'cursor' in from ? Number(from.cursor) : after < 0 ? closed.length : after;
      if (start < closed.length) seen.push('cursor' in from ? from.cursor : 'since');
      const page = closed.slice(start, start + 3);
      const events = page.map(({ id, at }) => ({
        kind: 'closed' as const,
        recordId: id,
        at,
        key: `past:${id}`,
        what: 'toy poll',
      }));
      return {
        events,
        cursor: String(start + 3),
        done: start + 3 >= closed.length,
        reached: page.at(-1)?.at ?? new Date(),
      };
    };
    return seen;
  }
  const options = { perHour: 1_000_000, dryRun: false };

  test('it asks about closings between two days, once however often it runs', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: daysAgo(7.5).toISOString(), until: daysAgo(2.5).toISOString() };
    const { rows } = await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    expect(rows).toMatchObject([{ queued: 5 }]);
    for (const id of ['p3', 'p4', 'p5', 'p6', 'p7']) await loop.journey(`${id}.1`, 'asked');
    await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    await idle(loop);
    expect(loop.feedback.standin.requests()).toHaveLength(5);
    expect((await loop.store.trace('p3.1'))[0]?.text).toMatch(/backfill/);
    await loop.close();
  });

  test("it begins a day on the account's clock, whatever the machine's is (audit 32)", async () => {
    const vendor = new ToyVendor();
    const from: unknown[] = [];
    vendor.pages = async (at) => {
      from.push(at);
      return { events: [], cursor: '0', done: true, reached: new Date() };
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: '2026-02-01', until: '2026-02-02T12:00', dryRun: true };
    await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    // The harness has its account in Europe/Tallinn.
    expect(from).toEqual([{ since: new Date('2026-01-31T22:00:00Z') }]);
    await loop.close();
  });

  test('it finds a closing between two days though its record was touched after them', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    // Pages are in the order of the last change: the first two of the range come last.
    const pages = vendor.pages;
    vendor.pages = async (from) => {
      const page = (await pages?.(from)) ?? expect.fail('no pages');
      const touched = ['p3', 'p4'].map((id) => ({
        kind: 'closed' as const,
        recordId: id,
        at: daysAgo(10 - Number(id.slice(1))),
        key: `past:${id}`,
        what: 'toy poll',
      }));
      const events = page.events.filter((event) => 'recordId' in event && !['p3', 'p4'].includes(event.recordId));
      return { ...page, events: page.done ? [...events, ...touched] : events };
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: daysAgo(7.5).toISOString(), until: daysAgo(4.5).toISOString() };
    const dry = await printed(() => backfill({ ...beside(loop), ...options, ...range, dryRun: true }));
    expect(dry.rows).toMatchObject([{ closings: 3, decisions: [{ decision: 'ask', count: 3 }] }]);
    const { rows } = await printed(() => backfill({ ...beside(loop), ...options, ...range }));
    expect(rows).toMatchObject([{ queued: 3 }]);
    for (const id of ['p3', 'p4', 'p5']) await loop.journey(`${id}.1`, 'asked');
    await loop.close();
  });

  test('it queues no more than the limit, also when it goes on with a lower one', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const since = daysAgo(10.5);
    const range = { source: loop.store.source, since: since.toISOString(), perHour: 1, dryRun: false };
    const key = `{cl:${loop.store.source}}:backfill:${since.toISOString()}`;
    await redis.handle.client.hset(key, { cursor: '3', queued: 4, slot: Date.now() });
    const { rows } = await printed(() => backfill({ ...beside(loop), ...range, limit: 2 }));
    expect(rows).toMatchObject([{ queued: 4 }]);
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    expect(await queue.getDelayedCount()).toBe(0);
    await loop.close();
  });

  test('it does not hold up the webhook of a closing that it has queued for later', async () => {
    const vendor = new ToyVendor();
    vendor.pages = async () => ({
      events: ['first', 'fresh'].map((id) => ({
        kind: 'closed' as const,
        recordId: id,
        at: new Date(),
        key: `same:${id}`,
        what: 'toy poll',
      })),
      cursor: 'end',
      done: true,
      reached: new Date(),
    });
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    vendor.close('first');
    const { at } = vendor.close('fresh');
    const range = { source: loop.store.source, since: daysAgo(1).toISOString(), perHour: 1, dryRun: false };
    await printed(() => backfill({ ...beside(loop), ...range, until: new Date(Date.now() + 60_000).toISOString() }));
    await loop.post(vendor.delivery([{ kind: 'closed', id: 'fresh', at, key: 'same:fresh' }]));
    await loop.journey('fresh.1', 'asked');
    await loop.close();
  });

  test('it tells what would become of them, and asks nobody, in a dry run', async () => {
    const vendor = new ToyVendor();
    past(vendor);
    vendor.close('p9', { state: { is: 'closed', closing: 'one', closedAt: daysAgo(1) }, customer: {} });
    vendor.close('p8', { state: { is: 'open' } });
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const range = { source: loop.store.source, since: daysAgo(4.5).toISOString() };
    const { rows } = await printed(() => backfill({ ...beside(loop), ...options, ...range, dryRun: true }));
    const no = { decision: 'skip', count: 1 };
    expect(rows).toEqual([
      {
        closings: 4,
        decisions: [
          { decision: 'ask', rule: 'all', campaign: 12, count: 2, records: ['p6', 'p7'] },
          { ...no, why: 'it is not closed any more', records: ['p8'] },
          { ...no, why: 'no usable contact: customer.email: empty', records: ['p9'] },
        ],
      },
    ]);
    const words = await printed(() => backfill({ ...beside(loop), ...options, ...range, dryRun: true, json: false }));
    expect(words.out.split('\n')[0]).toBe('     2  would ask: rule "all", campaign 12  (p6, p7)');
    expect(await loop.store.queries.counts()).toMatchObject({ received: 0, waiting: 0, asked: 0 });
    await loop.close();
  });

  test('it goes on where it was interrupted, and keeps to so many an hour', async () => {
    // The loop's own poll makes the first call.
    const vendor = new ToyVendor();
    const seen = past(vendor);
    const pages = vendor.pages;
    let calls = 0;
    vendor.pages = async (from) => {
      if (++calls === 4) throw new Error('interrupted');
      return (await pages?.(from)) ?? expect.fail('no pages');
    };
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'poll: { every: 1d }' });
    const range = { source: loop.store.source, since: daysAgo(10.5).toISOString(), perHour: 4, dryRun: false };
    await expect(printed(() => backfill({ ...beside(loop), ...range }))).rejects.toThrow('interrupted');
    // Another range than the interrupted one: it begins anew, as that one has left out what lies between the two.
    const other = { ...range, until: daysAgo(8.5).toISOString() };
    expect((await printed(() => backfill({ ...beside(loop), ...other }))).rows).toMatchObject([{ queued: 2 }]);
    expect(seen.splice(3)).toEqual(['since', '3', '6', '9']);
    const { rows } = await printed(() => backfill({ ...beside(loop), ...range }));
    expect(rows).toMatchObject([{ queued: 10 }]);
    expect(seen).toEqual(['since', '3', '6', '9']);
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    const due = (await queue.getDelayed())
      .map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0))
      .toSorted((a, b) => a - b);
    expect(due.length).toBeGreaterThanOrEqual(9);
    for (let i = 1; i < due.length; i++) expect((due[i] ?? 0) - (due[i - 1] ?? 0)).toBeGreaterThan(890_000);
    await queue.obliterate({ force: true });
    await loop.close();
  });

  test.each([
    [2, 1],
    [0.5, 0],
  ])('it says that journeys of %s days ago were removed here after a day, if they were', async (days, times) => {
    const vendor = new ToyVendor();
    past(vendor);
    const loop = await startLoop(redis, { source: fresh(), vendor, general: 'retention: { journeys: 1d }' });
    const range = { source: loop.store.source, since: daysAgo(days).toISOString(), dryRun: true, perHour: 1 };
    const { said } = await sayings(() => backfill({ ...beside(loop), ...range }));
    expect(said.filter((line) => /retention\.journeys.*asked again/.test(line))).toHaveLength(times);
    await loop.close();
  });

  test('it refuses dates that make no sense, and vendors that can not look back', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const about = { ...beside(loop), ...options, source: loop.store.source };
    await expect(backfill({ ...about, since: '2026-02-01', until: '2026-01-01' })).rejects.toThrow(/before --until/);
    await expect(backfill({ ...about, since: 'May' })).rejects.toThrow(/--since/);
    await expect(backfill({ ...about, since: '1969-12-31' })).rejects.toThrow(/--since must be 1970/);
    for (const since of ['2026-02-31', '2025-02-29T08:00:00Z', '2026-02-01 or so (UTC)'])
      await expect(backfill({ ...about, since })).rejects.toThrow(/--since/);
    await expect(backfill({ ...about, since: '2026-02-01' })).rejects.toThrow(/no poll/);
    await loop.close();
  });
});

describe('check and setup', () => {
  test('two sources of one account are told of together, with the remedy (audit twice)', async () => {
    const source = fresh();
    const loop = await startLoop(redis, { source, others: ['twin'] });
    const { code, rows } = await printed(() => check(beside(loop)));
    const at = `sources.${source}, sources.twin`;
    const remedy = expect.stringMatching(/into one of them/);
    expect(rows).toMatchObject([{ findings: expect.arrayContaining([expect.objectContaining({ at, remedy })]) }]);
    expect(code).toBe(0);
    await loop.close();
  });

  const finding: Finding = { level: 'error', at: 'webhook', problem: 'there is none', remedy: 'make one' };

  test('it tells the connector what it must know, and reports everything found at once', async () => {
    const vendor = new ToyVendor();
    const told: PreflightContext[] = [];
    vendor.check = async (about) => {
      told.push(about);
      return [finding];
    };
    const loop = await startLoop(redis, {
      source: fresh(),
      vendor,
      rule: '{ name: all, campaign: 14, contact: customer.email }',
    });
    const { code, rows } = await printed(() => check(beside(loop)));
    expect(code).toBe(1);
    expect(rows).toMatchObject([{ errors: 2, findings: expect.arrayContaining([expect.objectContaining(finding)]) }]);
    expect(JSON.stringify(rows)).toMatch(/campaign 14 sends text messages, and no contact is a phone number/);
    expect(told[0]).toMatchObject({
      grades: expect.arrayContaining([1, 5]),
      reads: [{ at: 'rules[0].contact[0]', path: ['customer', 'email'] }],
    });
    const words = await printed(() => check({ ...beside(loop), json: false }));
    expect(words.out).toMatch(/error.*webhook[\s\S]*→ make one[\s\S]*2 errors/);
    await loop.close();
  });

  test('it compares the questions of writeBack.answers with the surveys of the service (audit 35)', async () => {
    const vendor = new ToyVendor();
    vendor.surveyQuestions = ['711', '718', '7110'];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { code, rows } = await printed(() => check(beside(loop)));
    expect(code).toBe(1);
    const about = Object(rows[0]).findings.filter(({ at }: Finding) => at.startsWith('writeBack.answers'));
    expect(about).toEqual([
      {
        source: loop.store.source,
        level: 'warning',
        at: 'writeBack.answers.718',
        problem: expect.stringMatching(/question 718 \("Did you find everything\?"\), or its survey, is not active/),
        remedy: expect.any(String),
      },
      {
        source: loop.store.source,
        level: 'error',
        at: 'writeBack.answers.7110',
        problem: 'no survey of the service has a question 7110',
        remedy: expect.stringMatching(/^name one of 711 "How likely.*717 "At what time\?"$/),
      },
    ]);
    await loop.close();
  });

  test('what is the same for every rule is said once, with all of their places (audit 37)', async () => {
    const rule = (name: string, campaign: number) =>
      `{ name: ${name}, campaign: ${campaign}, contact: customer.email }`;
    const loop = await startLoop(redis, {
      source: fresh(),
      rule: `${rule('one', 12)}\n      - ${rule('two', 12)}\n      - ${rule('three', 17)}`,
    });
    const { rows } = await printed(() => check(beside(loop)));
    const warnings = Object(rows[0]).findings.filter(({ problem }: Finding) => /no custom field/.test(problem));
    expect(warnings).toMatchObject([
      {
        at: 'rules[0].campaign, rules[1].campaign, rules[2].campaign',
        problem: expect.stringMatching(/^campaigns 12, 17 have no custom field "closeloop"/),
      },
    ]);
    await loop.close();
  });

  const wrong: [what: string, rule: string, found: RegExp][] = [
    ['a campaign that is not there', '{ name: all, campaign: 999, contact: customer.email }', /no campaign 999/],
    ['a campaign that is not active', '{ name: all, campaign: 19, contact: customer.email }', /not active/],
    [
      'a field that the campaign lacks',
      '{ name: all, campaign: 12, contact: customer.email, fields: { Shop: ticket.store } }',
      /no custom field ..Shop/,
    ],
    [
      'a required field that is not mapped',
      '{ name: all, campaign: 13, contact: customer.email }',
      /requires the custom field ..Store/,
    ],
  ];
  test.each(wrong)('it finds %s', async (_, rule, found) => {
    const loop = await startLoop(redis, { source: fresh(), rule });
    const { code, out } = await printed(() => check(beside(loop)));
    expect([code, out]).toEqual([1, expect.stringMatching(found)]);
    await loop.close();
  });

  test.each([
    ['warns where grades given elsewhere have no campaign of type external to go to', 12, true, 1],
    ['is content with an external campaign', 15, true, 0],
    ['asks for none where no grades are given elsewhere', 12, false, 0],
  ])('it %s', async (_, campaign, bringsExternalGrades, warnings) => {
    const vendor = new ToyVendor();
    vendor.bringsExternalGrades = bringsExternalGrades;
    const rule = `{ name: all, campaign: ${campaign}, contact: customer.email }`;
    const loop = await startLoop(redis, { source: fresh(), vendor, rule });
    const { out } = await printed(() => check(beside(loop)));
    expect(out.match(/no rule names a campaign of type external/g) ?? []).toHaveLength(warnings);
    await loop.close();
  });

  test('it tries records that closed lately against the rules, and warns of those that would not be asked', async () => {
    const vendor = new ToyVendor();
    vendor.close('a', { customer: {} });
    vendor.close('b');
    const at = new Date();
    const event = (recordId: string) => ({ kind: 'closed' as const, recordId, at, key: recordId, what: 'toy poll' });
    vendor.pages = async () => ({ events: ['a', 'b'].map(event), cursor: '1', done: true, reached: at });
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { code, out } = await printed(() => check(beside(loop)));
    expect([code, out]).toEqual([0, expect.stringMatching(/1 of 2 records .* no usable contact/)]);
    await loop.close();
  });

  test('it shows the steps, does them, and says nothing is missing the next time', async () => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    vendor.setup = async (): Promise<SetupStep[]> =>
      done.length > 0
        ? []
        : [
            {
              what: 'create the field "Grade"',
              apply: async () => {
                done.push('field');
                return { note: 'done', secrets: { TOY_SECRET: 's3' } };
              },
            },
          ];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    // Nobody can be asked here.
    await expect(setup({ ...beside(loop), yes: false, json: false })).rejects.toThrow(/--yes/);
    const listed = await printed(() => setup({ ...beside(loop), yes: false }));
    const missing = [{ source: loop.store.source, what: 'create the field "Grade"' }];
    expect([listed.code, listed.rows, done]).toEqual([1, [{ missing, done: [] }], []]);
    const first = await printed(() => setup({ ...beside(loop), yes: true, json: false }));
    expect([first.code, first.out]).toEqual([0, `${loop.store.source}: done\nTOY_SECRET=s3\n`]);
    const second = await printed(() => setup({ ...beside(loop), yes: true }));
    expect([second.rows, done]).toEqual([[{ missing: [], done: [] }], ['field']]);
    await loop.close();
  });

  test.each([
    ['says when nobody knows the grades, as options may be missing then', 999, 1],
    ['says nothing of grades that are known', 12, 0],
  ])('setup %s', async (_, campaign, times) => {
    const rule = `{ name: all, campaign: ${campaign}, contact: customer.email }`;
    const vendor = new ToyVendor();
    vendor.setup = async () => [];
    const loop = await startLoop(redis, { source: fresh(), rule, vendor });
    const { said } = await sayings(() => setup({ ...beside(loop), yes: true }));
    expect(said.filter((line) => /grades.*"closeloop check"/.test(line))).toHaveLength(times);
    await loop.close();
  });
});

describe('setup of several sources', () => {
  const throttled = (retryAfterMs: number) =>
    new CloseloopError('Toy: too many calls (429)', { kind: 'transient', throttled: true, retryAfterMs });
  const step = (what: string, done: string[], failures: Error[] = []): SetupStep => ({
    what,
    apply: async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      done.push(what);
      return {};
    },
  });

  test('it waits, and says so, where a vendor wants it to, when looking and when doing (audit 39)', async () => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    const looks = [throttled(1_200), throttled(20)];
    const steps = [step('create the field', done, [throttled(20)]), step('create the webhook', done)];
    vendor.setup = async () => {
      const failure = looks.shift();
      if (failure) throw failure;
      return steps;
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { code, said } = await sayings(() => setup({ ...beside(loop), yes: true }));
    expect([code, done]).toEqual([0, ['create the field', 'create the webhook']]);
    expect(said.join('\n')).toMatch(/goes on in 2 s \(Toy: too many calls \(429\)\)/);
    await loop.close();
  });

  test.each([
    ['wants a longer wait than anybody sits through', throttled(3_600_000)],
    ['refuses access', new CloseloopError('Toy: the token was revoked', { kind: 'config' })],
  ])('it sets the others up where one vendor %s, and its exit code tells (audit 39)', async (_, error) => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    let looked = 0;
    vendor.setup = async () => {
      if (looked++ === 0) throw error;
      return [step('create the field', done)];
    };
    const [source, other] = [fresh(), fresh()];
    const loop = await startLoop(redis, { source, others: [other], vendor });
    const { code, rows } = await printed(() => setup({ ...beside(loop), yes: true }));
    expect(code).toBe(1);
    expect(rows).toEqual([
      {
        missing: [],
        done: [{ source: other, what: 'create the field' }],
        failed: [{ source, why: error.message }],
      },
    ]);
    await loop.close();
  });
});

test('setup tells of the secrets that it was given also when a later step fails: they are shown once', async () => {
  const vendor = new ToyVendor();
  vendor.setup = async (): Promise<SetupStep[]> => [
    { what: 'create the webhook', apply: async () => ({ secrets: { TOY_SECRET: 's3' } }) },
    { what: 'create the field', apply: async () => Promise.reject(new Error('no right to create fields')) },
  ];
  const loop = await startLoop(redis, { source: fresh(), vendor });
  for (const json of [false, true]) {
    let out = '';
    const { code, said } = await sayings(async () => {
      const ended = await printed(() => setup({ ...beside(loop), yes: true, json }));
      out = ended.out;
      return ended.code;
    });
    expect([code, said.join('\n'), out]).toEqual([
      1,
      expect.stringMatching(/no right to create fields/),
      expect.stringMatching(json ? /"missing":\[\{[^}]*the field"\}\].*TOY_SECRET.*s3/ : /TOY_SECRET.*s3/),
    ]);
  }
  await loop.close();
});

test('contact mask ends with 1 when nobody is known by the contact: it must not be taken for done', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  const mask = async (contact: string) =>
    (await printed(() => maskContact({ ...beside(loop), contact, yes: true }))).code;
  expect([await mask('a@exmaple.com'), await mask('A@example.com')]).toEqual([1, 0]);
  const { rows, out } = await printed(() => status(beside(loop)));
  const erased = [{ journeys: 0 }, { journeys: 1, contacts: 1, requestsMasked: 1, copies: 'none were written' }];
  expect(rows).toMatchObject([{ erasures: 2, erased }]);
  expect(out).not.toMatch(/@ex/);
  await loop.close();
});

test('contact mask tells what was taken off records, and what the service and vendors keep (audit 7)', async () => {
  const vendor = Object.assign(new ToyVendor(), { keeps: ['the notes: nobody can delete them'] });
  const loop = await startLoop(redis, { source: fresh(), vendor });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4, comment: 'kind' });
  await loop.journey('a.1', 'written');
  const masking = await printed(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(vendor.forgotten).toEqual(['a']);
  const kept = [
    expect.stringMatching(/^the service: grades, comments and statistics/),
    `${loop.store.source}: the notes: nobody can delete them`,
    expect.stringMatching(/earlier settings/),
    expect.stringMatching(/retention\.journeys/),
  ];
  expect(masking).toMatchObject({ code: 0, rows: [{ journeys: 1, requestsMasked: 1, kept }] });
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows).toMatchObject([{ erased: [{ kept }] }]);
  await loop.close();
});

test('contact mask keeps what the service refuses: it is shown by list and status, and done by retry (audit 3)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  loop.feedback.standin.faults.add({ method: 'POST', path: '/mask$', times: 1_000, status: 200, body: { ok: true } });
  const options = beside(loop);
  const held = [expect.stringMatching(/contacts are not masked: .*another shape/)];
  expect(await printed(() => maskContact({ ...options, contact: 'a@example.com', yes: true }))).toMatchObject({
    code: 3,
    rows: [{ source: loop.store.source, held }],
  });
  const { rows: shown } = await printed(() => status(options));
  expect(shown).toMatchObject([{ erasures: 0, erasing: [{ held }] }]);
  const listed = await printed(() => listErasures({ ...options, subjects: false }));
  expect(listed).toMatchObject({ code: 0, rows: [{ contacts: 1, masked: 0, held }] });
  expect(listed.out).not.toContain('@');
  expect((await printed(() => listErasures({ ...options, subjects: true }))).out).toContain('a@example.com');
  expect((await printed(() => retryErasures(options))).code).toBe(3);
  loop.feedback.standin.faults.clear();
  expect((await printed(() => retryErasures({ ...options, erasure: 'none' }))).code).toBe(1);
  await printed(() => retryErasures(options));
  await until(async () => (await loop.store.get('a.1'))?.erasedAt);
  expect((await printed(() => retryErasures(options))).code).toBe(0);
  expect((await printed(() => listErasures({ ...options, subjects: false }))).rows).toEqual([]);
  await loop.close();
});

test('contact mask ends with 4 when something could not be read, and says what (audit trace)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { source } = loop.store;
  for (const id of ['a', 'b']) {
    await loop.post(loop.vendor.close(id, { customer: { email: 'a@example.com' } }).delivery);
    await loop.journey(`${id}.1`, 'asked');
  }
  await redis.handle.client.hset(`{cl:${source}}:journey:b.1`, 'data', 'garbage');
  const masking = await sayings(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(masking.code).toBe(4);
  expect(masking.said.join('')).toContain(`may still hold their data: ${source}/b.1.`);
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows).toMatchObject([{ erased: [{ journeys: 1, unreadable: [`${source}/b.1`] }] }]);
  await loop.close();
});

test('contact mask refuses a folder where closeloop never ran: nobody would be forgotten there', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const config = join(dir, 'elsewhere.yaml');
  writeFileSync(config, loop.text);
  const data = join(dir, 'elsewhere');
  const masking = maskContact({ ...beside(loop), config, data, contact: 'a@example.com', yes: true });
  await expect(masking).rejects.toThrow(/There is no data in/);
  await loop.close();
});

test('status shows journeys by state, what waits and what webhooks missed', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  await redis.handle.client.hset(`{cl:${loop.store.source}}:poll`, 'missed', 3, 'doneAt', Date.now());
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows).toMatchObject([{ source: loop.store.source, journeys: { asked: 1 }, paused: [], poll: { missed: 3 } }]);
  await loop.close();
});

test('status shows what waits for a person, and why; what waits to be planned stands in a queue (audit 36) (audit 37)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { source } = loop.store;
  loop.vendor.results.push({ ok: true, findings: ['the field Score has no option 4: add it.'] });
  await loop.post(loop.vendor.close('a').delivery);
  const { requestId } = await loop.journey('a.1', 'asked');
  loop.feedback.standin.answer({ request: Number(requestId), grade: 4 });
  await loop.journey('a.1', 'parked');
  const why = 'the record does not hold all of the answer: the field Score has no option 4: add it.';
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows).toMatchObject([{ journeys: { parked: 1 }, parked: [{ journey: `${source}/a.1`, why }] }]);
  const { out } = await printed(() => status({ ...beside(loop), json: false }));
  expect(stripVTControlCharacters(out)).toContain(`parked      ${source}/a.1: ${why}`);
  expect(out).toContain('queue       no delivery waits');
  // Mended, it is taken up again with all that are parked.
  await printed(() => replayJourneys({ ...beside(loop), source, state: 'parked' }));
  await loop.journey('a.1', 'written');
  await loop.close();
});

test('status counts the deliveries that were refused, by reason, and shows that grades stand still (audit 29)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  for (let i = 0; i < 3; i++) await loop.post('[]', { 'x-toy-secret': 'forged' });
  await loop.post('[]', { 'x-toy-secret': '' });
  await loop.app.close();
  await redis.handle.client.hset('{cl}:paused', 'collect', JSON.stringify({ why: 'no key', at: new Date() }));
  const { rows } = await until(async () => {
    const shown = await printed(() => status(beside(loop)));
    return /mismatch/.test(shown.out) && shown;
  });
  await redis.handle.client.del('{cl}:paused');
  expect(rows).toMatchObject([
    { source: loop.store.source, refused: { mismatch: 4 } },
    { source: 'collect', paused: [{ stage: 'collect', why: 'no key' }] },
  ]);
  await loop.close();
});

test('a grade that was given up is kept, listed without its words, and replayed (audit 16)', async () => {
  const source = fresh();
  const rule = '{ name: all, campaign: 15, contact: ticket.id }';
  const loop = await startLoop(redis, { source, rule, general: 'retry: { for: 1ms }' });
  loop.vendor.close('g');
  const away = () => new CloseloopError('the vendor failed', { kind: 'transient' });
  loop.vendor.failures.read.push(away(), away());
  const given = { kind: 'external-grade', recordId: 'g', grade: 4, comment: 'Secret words', at: new Date() };
  await loop.post(JSON.stringify({ plain: [given] }));
  const options = beside(loop);
  const [row] = await until(async () => {
    const { rows } = await printed(() => listEvents(options));
    return rows.length > 0 && rows;
  });
  expect(row).toMatchObject({ source, kind: 'external-grade', about: 'record g', why: 'the vendor failed' });
  expect(JSON.stringify(row)).not.toContain('Secret');
  await expect(replayEvents({ ...options, event: 'nothing' })).rejects.toThrow('events list');
  expect(await printed(() => replayEvents(options))).toMatchObject({ code: 0, rows: [{ replayed: 1 }] });
  await until(() => loop.feedback.standin.requests({ campaign: 15 })[0]?.grade === 4);
  expect((await printed(() => listEvents(options))).rows).toEqual([]);
  await loop.close();
});
