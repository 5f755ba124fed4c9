import assert from 'node:assert/strict';
import type { PollPage, Source } from '../../../core/connector/contract.ts';
import { answer, assertNothingPersonal, type Bench, closeOne, needed, openPorts, reopen, type Tests } from './bench.ts';
import { recordEvents } from './record-events.ts';
import { type ConnectorSample, secrets } from './sample.ts';

/** More pages than any test fills: a poll that is never done would go on for ever. */
const mostPages = 40;

/** `poll`: what changed since. */
export function sweeps({ pollPage }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  test('it finds every closing since an instant, and none from before', async () => {
    const early = await closeOne(bench());
    await settled(bench());
    const since = now(bench());
    const ids = [await closeOne(bench()), await closeOne(bench())];
    await settled(bench());
    const found = closingsIn(await sweep(bench().source, { since }));
    assert.deepEqual(new Set(found.map(({ recordId }) => recordId)), new Set(ids));
    assert.ok(!found.some(({ recordId }) => recordId === early));
    // Many vendors count in seconds.
    const second = since.getTime() - since.getMilliseconds();
    for (const { at } of found)
      assert.ok(at.getTime() >= second, `${at.toISOString()} is before ${since.toISOString()}`);
    assertNothingPersonal(found);
  });

  test('it finds every closing of more than one page, each once, though all are of one second', async () => {
    const { vendor, source } = bench();
    const count = needed(pollPage, 'pollPage') + 1;
    const since = now(bench());
    const closeAtOnce = needed(vendor.closeAtOnce, 'closeAtOnce').bind(vendor);
    const ids = [await closeOne(bench()), ...(await closeAtOnce(count)), await closeOne(bench())];
    await settled(bench());
    const found = closingsIn(await sweep(source, { since }));
    const missing = ids.filter((id) => !found.some(({ recordId }) => recordId === id));
    assert.deepEqual(missing, [], `${missing.length} of ${ids.length} closings were not found`);
    assert.equal(new Set(found.map(({ key }) => key)).size, ids.length, 'two closings have one key, or one has two');
  });

  test('it finds what happens while it polls, then or the next time', async () => {
    const { vendor } = bench();
    const since = now(bench());
    const ids = [await closeOne(bench())];
    await settled(bench());
    const { ports } = openPorts(vendor.ports);
    const { source } = reopen(bench(), {
      ports: {
        fetch: async (...call) => {
          const response = await ports.fetch(...call);
          if (ids.length < 2) ids.push(await closeOne(bench()));
          return response;
        },
      },
    });
    const pages = await sweep(source, { since });
    await settled(bench());
    const cursor = pages.at(-1)?.cursor ?? assert.fail('no page');
    const found = closingsIn([...pages, ...(await sweep(bench().source, { cursor }))]);
    assert.deepEqual(new Set(found.map(({ recordId }) => recordId)), new Set(ids));
  });

  test('it gives a page that comes again the same keys, and two closings different ones', async () => {
    const { vendor, source } = bench();
    const since = now(bench());
    const id = await closeOne(bench());
    await settled(bench());
    const keys = closingsIn(await sweep(source, { since })).map(({ key }) => key);
    assert.equal(keys.length, 1);
    assert.deepEqual(
      closingsIn(await sweep(reopen(bench()).source, { since })).map(({ key }) => key),
      keys,
    );
    await vendor.reopen(id);
    await vendor.closeAgain(id, secrets[0]);
    await settled(bench());
    const later = closingsIn(await sweep(source, { since })).map(({ key }) => key);
    assert.ok(later.some((key) => !keys.includes(key)));
  });

  test('it goes on from a cursor in another process, as often as it is asked', async () => {
    const since = now(bench());
    await closeOne(bench());
    await settled(bench());
    const cursor = (await sweep(bench().source, { since })).at(-1)?.cursor ?? assert.fail('no page');
    assert.ok(cursor.length > 0 && cursor.length <= 2_000);
    const id = await closeOne(bench());
    await settled(bench());
    const found = closingsIn(await sweep(reopen(bench()).source, { cursor }));
    assert.ok(found.some(({ recordId }) => recordId === id));
    const again = closingsIn(await sweep(reopen(bench()).source, { cursor }));
    assert.deepEqual(
      again.map(({ key }) => key),
      found.map(({ key }) => key),
    );
  });

  test('it takes our own write for no new closing', async () => {
    const { source } = bench();
    const since = now(bench());
    const id = await closeOne(bench());
    await settled(bench());
    const pages = await sweep(source, { since });
    const keys = closingsIn(pages).map(({ key }) => key);
    await source.writeBack([answer(id)]);
    await settled(bench());
    const cursor = pages.at(-1)?.cursor ?? assert.fail('no page');
    for (const { key } of closingsIn(await sweep(source, { cursor }))) assert.ok(keys.includes(key));
  });

  test('it leaves the quota to those for whom a person waits', async () => {
    const { source, asked } = bench();
    const since = now(bench());
    await closeOne(bench());
    await settled(bench());
    // The first time it may have to get itself a token.
    await sweep(source, { since });
    asked.takes.length = 0;
    await sweep(source, { since });
    assert.ok(asked.takes.length > 0);
    assert.deepEqual(
      asked.takes.filter((urgency) => urgency !== 'background'),
      [],
    );
  });
}

/** Every page from there on. */
async function sweep(source: Source, from: { cursor: string } | { since: Date }): Promise<PollPage[]> {
  const poll = source.poll ?? assert.fail('the source has no poll');
  const pages: PollPage[] = [];
  for (let at = from; pages.length < mostPages; ) {
    const page = await poll.call(source, at);
    assert.ok(!Number.isNaN(page.reached.getTime()));
    pages.push(page);
    if (page.done) return pages;
    at = { cursor: page.cursor };
  }
  return assert.fail(`the poll was not done after ${mostPages} pages`);
}

function closingsIn(pages: readonly PollPage[]) {
  return recordEvents(pages.flatMap(({ events }) => events)).filter(({ kind }) => kind === 'closed');
}

function now({ vendor }: Bench): Date {
  return vendor.now?.() ?? new Date();
}

async function settled({ vendor }: Bench): Promise<void> {
  await vendor.settle?.();
}
