import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changed, type FollowUpDeed } from '../../../../worker/journey/follow-up.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import type { FollowUp, Journey } from '../../../../worker/journey/journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { type AnswerRow, answerPages } from '../../../../worker/reports/answers.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh } = useStores();
const minute = 60_000;

/** A source on a clock that a test sets. */
function openSource() {
  const { store } = fresh();
  const followUps = new FollowUpLists(redis.handle.client, store.source);
  const of = { name: 'shop', store, followUps };
  const update = async (id: string, change: (now: Journey) => Journey | undefined) => {
    const after = await store.update(id, (now) => {
      const journey = change(now);
      return journey && { journey, trace: [] };
    });
    if (after?.followUp || after?.erasedAt) await followUps.relist(id, store);
  };
  return {
    of,
    async answer(record: string, grade: number, at: Date, more: Partial<Journey> = {}) {
      const { journey } = await store.getOrCreate(claimOf(record, 'c', `e ${record}`), []);
      await update(journey.id, (now) => {
        const on = (to: Journey['state']) => (now: Journey) => step(now, to, at);
        const asked =
          now.state === 'received'
            ? (['waiting', 'creating', 'asked'] as const).map(on).reduce((j, f) => f(j), now)
            : now;
        if (asked.state === 'cancelled') return undefined;
        const version = (now.answer?.version ?? 0) + 1;
        const answer = { grade, comment: null, seenAt: at, version };
        return step(asked, 'answered', at, { answer, maxGrade: 5, campaign: 12, ...more });
      });
      return journey.id;
    },
    write: (id: string, at: Date) =>
      update(id, (now) => (now.state === 'answered' ? step(now, 'written', at) : undefined)),
    open: (id: string, at: Date) =>
      update(id, (now) => {
        const followUp: FollowUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: at, dueAt: at };
        return now.answer && now.followUp?.state !== 'open' && now.followUp?.state !== 'taken'
          ? { ...now, followUp }
          : undefined;
      }),
    act: (id: string, deed: FollowUpDeed, at: Date) =>
      update(id, (now) => {
        const change = changed(now.followUp, { ...deed, by: 'Maria', at });
        return change.ok && change.trace.length > 0 ? { ...now, followUp: change.followUp } : undefined;
      }),
    erase: (id: string, at: Date) => update(id, (now) => (now.erasedAt ? undefined : erased(now, at))),
  };
}

async function rowsIn(of: Parameters<typeof answerPages>[0], filter: Parameters<typeof answerPages>[1]) {
  const found: AnswerRow[] = [];
  for await (const page of answerPages(of, filter)) found.push(...page);
  return found;
}
const byId = (rows: readonly AnswerRow[]) => new Map(rows.map((row) => [row.id, row]));

describe('answers by a cursor', () => {
  const deeds = ['answer', 'write', 'open', 'take', 'done', 'reopen', 'run'] as const;
  const Step = fc.record({ deed: fc.constantFrom(...deeds), record: fc.nat(3), grade: fc.nat(5), minutes: fc.nat(90) });

  test('whoever takes each run over the one before has what a run over everything gives', async () => {
    const property = fc.asyncProperty(fc.array(Step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { of, answer, write, open, act } = openSource();
      let ms = Date.UTC(2026, 4, 4);
      let cursor: Date | undefined;
      const warehouse = new Map<string, AnswerRow>();
      const run = async (now: Date) => {
        const changes = await rowsIn(of, { now, changedSince: cursor });
        for (const row of changes) warehouse.set(row.id, row);
        cursor = now;
      };
      for (const { deed, record, grade, minutes } of [...steps, { deed: 'run', record: 0, grade: 0, minutes: 1 }]) {
        ms += minutes * minute;
        const at = new Date(ms);
        const id = `r${record}.1`;
        if (deed === 'run') await run(at);
        if (deed === 'answer') await answer(`r${record}`, grade, at);
        if (deed === 'write') await write(id, at);
        if (deed === 'open') await open(id, at);
        if (deed === 'take' || deed === 'reopen') await act(id, { do: deed }, at);
        if (deed === 'done') await act(id, { do: 'done', outcome: `call ${minutes}` }, at);
      }
      expect(warehouse).toEqual(byId(await rowsIn(of, { now: new Date(ms) })));
    });
    await fc.assert(property, { numRuns: 25 });
  });

  test('have each change once, and nothing that has not changed', async () => {
    const { of, answer, write, open, act } = openSource();
    const at = (minutes: number) => new Date(Date.UTC(2026, 4, 4) + minutes * minute);
    const ids: string[] = [];
    for (const record of ['same', 'regraded', 'opened', 'taken', 'both', 'given-back'])
      ids.push(await answer(record, 2, at(0)));
    const [, , opened = '', taken = '', both = '', givenBack = ''] = ids;
    for (const id of ids) await write(id, at(1));
    await open(taken, at(2));
    await open(both, at(2));
    await open(givenBack, at(2));
    await act(givenBack, { do: 'take' }, at(3));
    await answer('regraded', 5, at(20));
    await act(givenBack, { do: 'reopen' }, at(20));
    await open(opened, at(20));
    await act(taken, { do: 'take' }, at(20));
    await answer('both', 4, at(20));
    await act(both, { do: 'done', outcome: 'Called' }, at(21));
    const changes = await rowsIn(of, { now: at(30), changedSince: at(10) });
    expect(changes.map(({ id }) => id).sort()).toEqual(
      ['both', 'given-back', 'opened', 'regraded', 'taken'].map((one) => `shop/${one}.1`),
    );
    expect(byId(changes).get('shop/both.1')).toMatchObject({ changedAt: at(21), followUp: { outcome: 'Called' } });
    expect(await rowsIn(of, { now: at(60), changedSince: at(30) })).toEqual([]);
  });
});

test('a person who was erased is not there, nor is a test, nor what another campaign or time has', async () => {
  const { of, answer, open, erase } = openSource();
  const at = (hour: number) => new Date(Date.UTC(2026, 4, 4, hour));
  await answer('kept', 2, at(1), { survey: { at: at(1), answers: { 3: true } } });
  const gone = await answer('gone', 1, at(1));
  await open(gone, at(1));
  await erase(gone, at(2));
  await answer('tested', 1, at(1), { test: { contact: { kind: 'email', value: 'us@example.com' } } });
  await answer('other', 1, at(1), { campaign: 13 });
  await answer('later', 1, at(5));
  const now = at(9);
  const ids = async (filter: object) => (await rowsIn(of, { now, ...filter })).map(({ id }) => id).sort();
  expect(await ids({})).toEqual(['shop/kept.1', 'shop/later.1', 'shop/other.1']);
  expect(await ids({ campaign: 12, until: at(5) })).toEqual(['shop/kept.1']);
  expect(await ids({ since: at(5) })).toEqual(['shop/later.1']);
  expect(await ids({ changedSince: at(0), until: at(2), campaign: 13 })).toEqual(['shop/other.1']);
});

test('a record whose id is a digest here has no address', async () => {
  const { of, answer } = openSource();
  await answer('14', 5, new Date());
  const recordUrl = (id: string) => `https://shop.example/orders/${id}`;
  const urls = async (source: object) => (await rowsIn({ ...of, source }, { now: new Date() })).map(({ url }) => url);
  expect(await urls({ recordUrl })).toEqual(['https://shop.example/orders/14']);
  expect(await urls({ recordUrl, vendorIds: async () => ['carl@example.com'] })).toEqual([null]);
});
