import { describe, expect, test } from 'vitest';
import { type Config, loadConfig } from '../../../../worker/config/config.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { Heartbeat } from '../../../../worker/operations/processes.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { asDryRun } from '../../../../worker/sources/dry-run.ts';
import { renameSource, storedNames, withStoredNames } from '../../../../worker/sources/stored-names.ts';
import { anyone, asking, eventOf, hour, type UnitContext, useManual } from '../../../support/manual.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const service = useManual();
const { redis, unitContext } = service;
const nothing = () => undefined;

/** A source with a bit of everything: journeys in several states, jobs, a poll, what events told, a person, somebody who was forgotten. */
async function lived(source = 'old', vendor = new ToyVendor()): Promise<UnitContext> {
  const old = unitContext({ source, vendor });
  const { context, store } = old;
  await old.engine.noteSources();
  vendor.close('asked', anyone);
  await plan(eventOf('asked'), context);
  await ask({ journeyId: 'asked.1' }, context);
  vendor.close('waits', { customer: { email: 'waits@example.com' }, personId: 'p7' });
  await plan(eventOf('waits', { snapshot: { customer: 'waits@example.com' } }), context);
  await store.update('waits.1', (now) => ({
    journey: step(now, 'waiting', new Date(), { dueAt: new Date(Date.now() + hour) }),
    trace: ['later'],
  }));
  await context.queueAsk({ id: 'waits.1' }, new Date(Date.now() + hour));
  await context.queueEvent(eventOf('unplanned'));
  await redis.handle.client.hset(`{cl:${source}}:poll`, { since: 1, cursor: 'page 7', doneAt: 2 });
  await context.erasures.forgotten.note(['person:p1'], new Date(), 400 * 24 * hour);
  return old;
}

/** A configuration of these sources, by name what each was before. */
function configOf(sources: Record<string, string | undefined>, vendor = new ToyVendor()): Config {
  const written = Object.entries(sources).map(
    ([name, was]) =>
      `${name}: { connector: toy, secret: good${was === undefined ? '' : `, was: ${was}`}, rules: [{ name: all, campaign: 12, contact: customer.email }] }`,
  );
  const text = `
feedback: { baseUrl: "${service.feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
sources: { ${written.join(', ')} }
`;
  return loadConfig(text, { env: {}, connectors: [vendor.connector] });
}
/** What a start makes of it: by name what each is stored as. */
async function started(config: Config, remember = true): Promise<Record<string, string>> {
  const { sources } = await withStoredNames(config, redis.handle.client, { remember });
  return Object.fromEntries(sources.map(({ name, storedAs }) => [name, storedAs]));
}

describe('a source that was called otherwise before', () => {
  test('it goes on with what is stored by its old name, from then on without "was", too', async () => {
    await lived();
    expect(await started(configOf({ new: 'old', other: undefined }))).toEqual({ new: 'old', other: 'other' });
    expect(await started(configOf({ new: 'old' }))).toEqual({ new: 'old' });
    expect(await started(configOf({ new: undefined }))).toEqual({ new: 'old' });
  });

  test('several processes that start at once come to the same', async () => {
    await lived();
    const all = await Promise.all(Array.from({ length: 5 }, () => started(configOf({ new: 'old' }))));
    expect(all).toEqual(all.map(() => ({ new: 'old' })));
  });

  test('a command that only reads finds the same, and stores nothing', async () => {
    await lived();
    expect(await started(configOf({ new: 'old' }), false)).toEqual({ new: 'old' });
    expect(await storedNames(redis.handle.client)).toEqual(new Map());
  });

  test('a dry run has its own data, and renames nothing in earnest', async () => {
    await lived();
    expect(await started(asDryRun(configOf({ new: 'old' })))).toEqual({ 'dry-run.new': 'dry-run.old' });
    expect(await storedNames(redis.handle.client)).toEqual(new Map());
  });

  test('it begins by itself where nothing is stored by the old name', async () => {
    expect(await started(configOf({ new: 'old' }))).toEqual({ new: 'new' });
    expect(await storedNames(redis.handle.client)).toEqual(new Map());
  });

  test('it may be renamed again, and back', async () => {
    await lived();
    await started(configOf({ new: 'old' }));
    expect(await started(configOf({ newer: 'new' }))).toEqual({ newer: 'old' });
    expect(await started(configOf({ old: 'newer' }))).toEqual({ old: 'old' });
    expect(await started(configOf({ old: undefined }))).toEqual({ old: 'old' });
  });

  test('a process says again what it is stored as, as Redis may have been emptied since', async () => {
    await unitContext({ source: 'new', storedAs: 'old' }).engine.noteSources();
    await unitContext({ source: 'dry', storedAs: 'was-dry', dryRun: true }).engine.noteSources();
    expect(await storedNames(redis.handle.client)).toEqual(new Map([['new', 'old']]));
  });

  test('it is known by its new name, also to a process that does not have it', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', storedAs: 'old', vendor: old.vendor });
    await now.engine.noteSources();
    const other = unitContext({ source: 'other', vendor: old.vendor });
    expect(await other.engine.absences()).toMatchObject([{ source: 'new' }]);
    expect((await other.engine.absent.all()).map(({ known }) => [known.name, known.storedAs])).toEqual([
      ['new', 'old'],
    ]);
  });
});

describe('a rename that can not be', () => {
  test('both names have data: neither is touched, and the message tells what can be done', async () => {
    const old = await lived();
    await asking(unitContext({ source: 'new', vendor: old.vendor }), 'own');
    const refused = /both have data.*a name that is new, with "was: old".*take "was" out/;
    await expect(started(configOf({ new: 'old' }))).rejects.toThrow(refused);
    await expect(started(configOf({ new: 'old' }), false)).rejects.toThrow(refused);
    expect(await started(configOf({ new: undefined }))).toEqual({ new: 'new' });
    expect(await started(configOf({ third: 'old' }))).toEqual({ third: 'old' });
  });

  test('a delivery that waits by the new name is not lost, either', async () => {
    await lived();
    await unitContext({ source: 'new' }).context.queueEvent(eventOf('own'));
    await expect(started(configOf({ new: 'old' }))).rejects.toThrow(/both have data/);
  });

  test('a process runs that began the new name as a source of its own', async () => {
    await lived();
    await unitContext({ source: 'new' }).engine.noteSources();
    const about = () => ({ role: 'all', version: '1', configuration: 'c', dryRun: false });
    const running = new Heartbeat(redis.handle.client, about);
    await running.report();
    await expect(started(configOf({ new: 'old' }))).rejects.toThrow(/with "new" as a source of its own: end each/);
    await running.end();
    expect(await started(configOf({ new: 'old' }))).toEqual({ new: 'old' });
    expect((await unitContext({ source: 'x' }).engine.absent.all()).map(({ known }) => known.storedAs)).toEqual([
      'old',
    ]);
  });

  test('it was of another account', async () => {
    const of = (account: string) => Object.assign(new ToyVendor(), { account });
    await lived('old', of('one'));
    const other = configOf({ new: 'old' }, of('two'));
    await expect(started(other)).rejects.toThrow(/"old" was of toy \(one\), and "new" is of toy \(two\)/);
  });

  test('two sources would have the same data', async () => {
    await lived();
    await started(configOf({ new: 'old' }));
    await expect(started(configOf({ new: undefined, old: undefined }))).rejects.toThrow(
      /"new" and "old" are one and the same/,
    );
    expect(() => configOf({ new: 'old', old: undefined })).toThrow(/sources\.new\.was.*in the configuration/);
    expect(() => configOf({ new: 'No Name' })).toThrow(/sources\.new\.was/);
  });

  test('a command that names a source which Redis does not know is told those it knows', async () => {
    await lived();
    const [target] = configOf({ new: undefined }).sources;
    const rename = async (from: string) =>
      await renameSource(from, target ?? expect.fail('no source'), redis.handle.client);
    await expect(rename('odl')).rejects.toThrow(/no source "odl"; it knows: old/);
    expect(await rename('old')).toBe(true);
    expect(await rename('old')).toBe(false);
  });
});

describe('after a rename', () => {
  test('a grade that comes finds its journey, and what waits is asked under the new name', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', storedAs: 'old', vendor: old.vendor });
    expect(await now.store.lists.counts()).toMatchObject({ asked: 1, waiting: 1 });
    expect(await now.events()).toMatchObject([{ recordId: 'unplanned' }]);
    service.standin.answer({ contact: anyone.customer.email, grade: 5 });
    await now.engine.collecting.stage.run({ campaign: 12 });
    expect(await now.store.get('asked.1')).toMatchObject({ state: 'answered', answer: { grade: 5 } });
  });

  test('a journey is found by the names that its source had', async () => {
    const old = await lived();
    await started(configOf({ new: 'old' }));
    await started(configOf({ newer: 'new' }));
    const { engine } = unitContext({ source: 'newer', storedAs: 'old', vendor: old.vendor });
    const found = await Promise.all(['old', 'new', 'newer', 'nowhere'].map((name) => engine.source(name)));
    expect(found.map((one) => one?.name)).toEqual(['newer', 'newer', 'newer', undefined]);
    await engine.openIngestion();
    expect([...engine.ingestion.routes.keys()].sort()).toEqual(['new', 'newer', 'old']);
  });

  test('a request that was sent before it is found by its marker, and not sent again', async () => {
    service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
    const rule = '{ name: all, campaign: 40, contact: customer.email }';
    const old = unitContext({ source: 'old', rule });
    old.vendor.close('u', anyone);
    await plan(eventOf('u'), old.context);
    service.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'work-then-cut' });
    await ask({ journeyId: 'u.1' }, old.context).catch(nothing);
    expect((await old.store.get('u.1'))?.state).toBe('creating');
    const now = unitContext({ source: 'new', storedAs: 'old', rule, vendor: old.vendor });
    const muchLater = { ...now.context.clock, now: () => new Date(Date.now() + hour), until: () => 0 };
    await ask({ journeyId: 'u.1' }, { ...now.context, clock: muchLater });
    expect(await now.store.get('u.1')).toMatchObject({ state: 'asked', requestId: expect.any(String) });
    expect(await now.trace('u.1')).toMatch(/found by its field/);
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('a process that has the old name still works on the same: nobody is asked twice', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', storedAs: 'old', vendor: old.vendor });
    old.vendor.close('late', { customer: { email: 'late@example.com' } });
    const event = eventOf('late');
    await plan(event, old.context);
    await plan(event, now.context);
    await Promise.all([old, now].map(({ context }) => ask({ journeyId: 'late.1' }, context)));
    await ask({ journeyId: 'late.1' }, now.context);
    expect(await now.store.get('late.1')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests({ contact: 'late@example.com' })).toHaveLength(1);
  });
});
