import { describe, expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { sweep } from '../../../../worker/pipeline/sweep.ts';
import { knownSourcesKey } from '../../../../worker/redis/keys.ts';
import { isAbsent, knownSources } from '../../../../worker/sources/known-sources.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { anyone, asking, eventOf, hour, type UnitContext, useManual } from '../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;
const day = 24 * hour;

/** An engine that has `source` in its configuration, and one that never heard of it. */
async function twoProcesses() {
  const knowing = unitContext({ source: 'calm' });
  await knowing.engine.noteSources();
  const other = unitContext({ source: 'other' });
  await other.engine.noteSources();
  return { knowing, other };
}
/** No process has it in its configuration any more. */
async function takeAway(name: string) {
  const key = knownSourcesKey;
  const entry = JSON.parse((await redis.handle.client.hget(key, name)) ?? '{}');
  const configuredAt = new Date(Date.now() - hour);
  await redis.handle.client.hset(key, name, JSON.stringify({ ...entry, configuredAt }));
}
const collectIn = async ({ engine }: UnitContext) => await engine.collecting.stage.run({ campaign: 12 });

test('a pass of a process that does not know the source takes its answer, and leaves its write-back to one that does (audit 12)', async () => {
  const { knowing, other } = await twoProcesses();
  await asking(knowing, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 4, comment: 'well' });
  await collectIn(other);
  expect(await knowing.store.get('a.1')).toMatchObject({ state: 'answered', answer: { grade: 4, comment: 'well' } });
  expect(await knowing.pipeline.jobs.writeBack.queue.getJobs()).toMatchObject([{ data: { journeyId: 'a.1' } }]);
  expect(other.vendor.written).toEqual([]);
});

test('a request of a source that this process does not know is nobody else’s (audit 14)', async () => {
  const { knowing, other } = await twoProcesses();
  const { requestId = '' } = await asking(knowing, 'a');
  expect(await other.context.areOwned([requestId])).toEqual([true]);
});

describe('erasures that wait in a source which is in no configuration any more', () => {
  /** The source with an erasure of each of these, in this order, and a loop that doesn't have it. */
  async function waitingFor(...names: string[]) {
    const knowing = unitContext({ source: 'calm' });
    await knowing.engine.noteSources();
    const { queue } = knowing.pipeline.jobs.erase;
    for (const name of names) {
      knowing.vendor.close(name, { customer: { email: `${name}@example.com` } });
      await plan(eventOf(name), knowing.context);
      await ask({ journeyId: `${name}.1` }, knowing.context);
      const event = { kind: 'erase', at: new Date(), key: name, what: 'asked for', receivedAt: new Date() } as const;
      const nobodyElse = { personIds: [], recordIds: [], everybody: false };
      const data = { ...event, ...nobodyElse, contacts: [`${name}@example.com`] };
      await knowing.pipeline.jobs.erase.add([{ id: name, data }]);
    }
    const start = async () => {
      const loop = await startLoop(redis, { source: 'other', feedback: service.feedback });
      await takeAway('calm');
      return loop;
    };
    return { knowing, queue, start };
  }
  const isErased = async ({ store }: UnitContext, name: string) =>
    (await store.get(`${name}.1`))?.erasedAt !== undefined;

  test('each is done all the same (audit trace)', async () => {
    const { knowing, queue, start } = await waitingFor('a', 'b');
    await start();
    for (const name of ['a', 'b']) await until(() => isErased(knowing, name));
    await until(async () => (await queue.getJobs()).length === 0);
  });

  test('one that can not be read, and one that the service refuses, hold up no other', async () => {
    const { knowing, queue, start } = await waitingFor('newer', 'broken', 'refused', 'fine');
    const { client } = redis.handle;
    const keyOf = (id: string) => `{cl:calm}:erase:${id}`;
    await client.hset(keyOf('newer'), 'data', '{"kind":"of a later version"}');
    await client.hset(keyOf('broken'), 'data', '{"kind":');
    service.standin.faults.add({ path: '/contacts/refused', status: 422, body: { detail: 'No.' }, times: 1_000 });
    await start();
    await until(() => isErased(knowing, 'fine'));
    const held = await until(async () => {
      const open = (await knowing.context.erasures.open()).flatMap((one) => one.held);
      return open.length > 0 && open;
    });
    expect(held).toEqual([expect.stringMatching(/answered 422/)]);
    expect(await isErased(knowing, 'refused')).toBe(false);
    service.standin.faults.clear();
    await until(() => isErased(knowing, 'refused'));
    await until(async () => (await queue.getDelayed()).some(({ id }) => id === 'newer'));
  });

  test('one that takes its time holds up no round of the sweep', async () => {
    const { knowing, start } = await waitingFor('slow');
    service.standin.faults.add({ path: '/contacts/slow', delayMs: 600_000, times: 1_000 });
    const loop = await start();
    await until(() => service.standin.faults.list()[0]?.times !== 1_000);
    const { context } = loop.app.engine.pipelines.get('other') ?? expect.fail('no pipeline');
    for (let n = 0; n < 3; n++) {
      await context.store.getOrCreate(
        { recordId: `old${n}`, closing: 'c', closedAt: new Date(), eventKey: `${n}`, receivedAt: new Date() },
        [],
      );
      const at = new Date(Date.now() - 500 * day);
      await context.store.update(`old${n}.1`, (now) => ({ journey: step(now, 'skipped', at), trace: [] }));
      await until(async () => (await context.store.get(`old${n}.1`)) === undefined);
    }
    expect(await isErased(knowing, 'slow')).toBe(false);
    service.standin.faults.clear();
    await until(() => isErased(knowing, 'slow'));
  });
});

test('an erasure reaches the journeys of a source that is in no configuration any more (audit 14)', async () => {
  const { knowing, other } = await twoProcesses();
  await asking(knowing, 'a');
  await takeAway('calm');
  const event = { kind: 'erase', at: new Date(), key: 'e', what: 'asked for', receivedAt: new Date() } as const;
  const nobody = { personIds: [], recordIds: [], everybody: false, writtenAnswers: [] };
  const job = { ...event, ...nobody, contacts: [anyone.customer.email] };
  expect(await erase(job, other.context)).toEqual({ do: 'done' });
  const after = await knowing.store.get('a.1');
  expect(after).toMatchObject({ erasedAt: expect.any(Date) });
  expect(after?.contact).toBeUndefined();
});

describe('the sweep of a source that is in no configuration any more (audit 14)', () => {
  const settings = { expireAfterMs: 14 * day, retentionMs: 400 * day };
  const absentIn = async ({ engine }: UnitContext) => {
    const [absent] = await engine.absent.all();
    return absent ?? expect.fail('no absent source');
  };
  const later = (context: UnitContext['context'], ms: number) => ({
    ...context,
    clock: { ...context.clock, now: () => new Date(Date.now() + ms) },
  });

  test('it ends what was never answered, and removes what its time has ended for, also where work is outstanding', async () => {
    const { knowing, other } = await twoProcesses();
    await asking(knowing, 'asked');
    knowing.vendor.close('waiting', { customer: { email: 'w@example.com' } });
    await plan(eventOf('waiting'), knowing.context);
    await knowing.store.update('waiting.1', (now) => ({
      journey: step(now, 'waiting', new Date(), { dueAt: new Date() }),
      trace: [],
    }));
    await takeAway('calm');
    const absent = await absentIn(other);
    expect(isAbsent(absent.known)).toBe(true);
    await sweep(later(absent.pipeline.context, 15 * day), { ...settings, isGone: true });
    expect((await knowing.store.get('asked.1'))?.state).toBe('expired');
    expect((await knowing.store.get('waiting.1'))?.state).toBe('waiting');
    await sweep(later(absent.pipeline.context, 420 * day), { ...settings, isGone: true });
    expect(await knowing.store.get('asked.1')).toBeUndefined();
    expect(await knowing.store.get('waiting.1')).toBeUndefined();
  });

  test('it keeps outstanding work of a source that another process has', async () => {
    const { knowing, other } = await twoProcesses();
    knowing.vendor.close('waiting', anyone);
    await plan(eventOf('waiting'), knowing.context);
    const absent = await absentIn(other);
    expect(isAbsent(absent.known)).toBe(false);
    await sweep(later(absent.pipeline.context, 420 * day), { ...settings, isGone: isAbsent(absent.known) });
    expect((await knowing.store.get('waiting.1'))?.state).toBe('waiting');
  });

  test('that no answer came is left to whoever has the source again, where its vendor wants to know', async () => {
    const vendor = unitContext().vendor;
    vendor.writesNoAnswer = true;
    const knowing = unitContext({ source: 'calm', vendor });
    await knowing.engine.noteSources();
    const other = unitContext({ source: 'other' });
    await asking(knowing, 'a');
    await sweep(later((await absentIn(other)).pipeline.context, 15 * day), settings);
    expect(await knowing.pipeline.jobs.writeBack.queue.getJobs()).toMatchObject([
      { data: { journeyId: 'a.1', noAnswer: true } },
    ]);
  });
});

describe('a source that is not in the configuration, and of which something waits', () => {
  /** `old` has asked, and the next process has `new` in its configuration. */
  async function renamed(more: { account?: string; source?: string } = {}) {
    const of = (account: string) => Object.assign(unitContext().vendor, { account });
    const old = unitContext({ source: 'old', vendor: of('one') });
    await old.engine.noteSources();
    await asking(old, 'a');
    const now = unitContext({ source: 'new', vendor: of(more.account ?? 'one') });
    return { old, now };
  }
  const absent = 'source old is not in this configuration: 1 of its journeys and 0 of its deliveries wait';

  test('a start tells of it, and of the new source that asks the same people, which begins at once', async () => {
    const { old, now } = await renamed();
    const problem = `${absent}; "new", which is new here, may be the same account, and asks people whom old has asked`;
    const remedy = expect.stringMatching(/put it back.*"was: old".*"closeloop source rename old <new name>"/);
    expect(await now.engine.absences()).toEqual([{ source: 'old', problem, remedy }]);
    now.vendor.close('b', { customer: { email: 'b@example.com' } });
    await now.engine.noteSources();
    expect(await now.pipeline.stages.plan.run(eventOf('b'))).toEqual({ do: 'done' });
    expect(await now.store.get('b.1')).toMatchObject({ state: 'asked' });
    expect(await now.engine.absences()).toMatchObject([{ problem: absent }]);
    expect(await old.store.get('a.1')).toMatchObject({ state: 'asked' });
  });

  test('another account is no new name of it', async () => {
    const { now } = await renamed({ account: 'other' });
    expect(await now.engine.absences()).toMatchObject([{ source: 'old', problem: absent }]);
  });

  test('one of which nothing waits is not told of, nor is a dry run', async () => {
    const empty = unitContext({ source: 'old' });
    await empty.engine.noteSources();
    const dry = unitContext({ source: 'dry', dryRun: true });
    await dry.engine.noteSources();
    await asking(dry, 'a');
    expect(await unitContext({ source: 'new' }).engine.absences()).toEqual([]);
  });

  test('a running loop logs it when it starts', async () => {
    // The first loop on another service forgets what was stored before.
    await (await startLoop(redis, { source: 'first', feedback: service.feedback })).app.close();
    const { old } = await renamed();
    const loop = await startLoop(redis, { source: 'new', vendor: old.vendor, feedback: service.feedback });
    const told = { level: 'warn', fields: { why: expect.stringContaining(absent), remedy: expect.any(String) } };
    expect(loop.told).toContainEqual(expect.objectContaining(told));
  });
});

test('what another version noted of a source is read as far as it can be (audit 18)', async () => {
  await redis.handle.client.hset(knownSourcesKey, { a: 'broken', b: '{"connector":7,"more":1}' });
  const unknown = { connector: 'unknown', writesNoAnswer: false };
  expect(await knownSources(redis.handle.client)).toMatchObject([
    { name: 'a', storedAs: 'a', ...unknown },
    { name: 'b', storedAs: 'b', ...unknown },
  ]);
});
