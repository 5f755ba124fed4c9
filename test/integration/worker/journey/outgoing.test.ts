import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import type { Target } from '../../../../worker/journey/outgoing.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { claimOf } from '../../../support/worker/journey/stores.ts';

const redis = useRedis();

const targets: readonly Target[] = ['one', 'two'].map((name) => ({
  key: `webhook.${name}`,
  events: ['answer.received', 'answer.changed'],
  by: { action: 'send', name },
}));
const records = ['r', 'r.s', 'ünder'];

/** Events as versions of the answer, by target and record: what is due, and what was given up. */
type Lists = Map<string, { due: { version: number; at: number }[]; givenUp: { version: number; at: number }[] }>;

const Step = fc.record({
  record: fc.constantFrom(...records),
  target: fc.constantFrom('webhook.one', 'webhook.two'),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant('answer' as const) },
    { weight: 3, arbitrary: fc.constant('send' as const) },
    fc.constant('give up' as const),
    fc.constant('replay' as const),
  ),
  /** Of a replay: since so many steps ago. */
  ago: fc.nat(12),
});

let sources = 0;

async function opened() {
  let at = 1_000;
  const woken: string[] = [];
  const store = new JourneyStore(redis.handle.client, `outgoing-${++sources}`, {
    now: () => new Date(at),
    seal: testSeal,
    tells: { targets, onStored: async (target, record) => void woken.push(`${target} ${record}`) },
  });
  for (const recordId of records) await store.getOrCreate(claimOf(recordId, 'c', recordId), []);
  const answer = async (record: string, version: number) =>
    await store.update(`${record}.1`, (now: Journey) => ({
      journey: { ...now, answer: { grade: 1, comment: null, seenAt: new Date(at), version } },
      trace: [],
    }));
  const pass = (ms = 1): void => {
    at += ms;
  };
  return { store, answer, woken, now: () => at, pass };
}

test('what is due to a target comes in order for each record, whatever is sent, given up and sent again in between', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { store, answer, woken, now, pass } = await opened();
      const { outgoing } = store;
      const model: Lists = new Map();
      const listsOf = (target: string, record: string) => {
        const lists = model.get(`${target} ${record}`) ?? { due: [], givenUp: [] };
        model.set(`${target} ${record}`, lists);
        return lists;
      };
      let version = 0;
      for (const { record, target, what, ago } of steps) {
        pass();
        const lists = listsOf(target, record);
        if (what === 'answer') {
          version++;
          await answer(record, version);
          for (const { key } of targets) listsOf(key, record).due.push({ version, at: now() });
          expect(woken.splice(0)).toEqual(targets.map(({ key }) => `${key} ${record}`));
        } else if (what === 'send') {
          const event = await outgoing.first(target, record);
          const first = lists.due.shift();
          expect(event?.version).toBe(first?.version);
          if (event) await outgoing.end(target, record, event);
        } else if (what === 'give up') {
          await outgoing.giveUp(target, record);
          lists.givenUp.push(...lists.due.splice(0));
        } else {
          const since = now() - ago;
          let count = 0;
          for (const [key, its] of model) {
            if (!key.startsWith(`${target} `)) continue;
            const again = its.givenUp.filter(({ at }) => at >= since);
            its.givenUp = its.givenUp.filter(({ at }) => at < since);
            its.due.unshift(...again);
            count += again.length;
          }
          expect(await outgoing.replay(target, new Date(since))).toBe(count);
        }
        for (const { key } of targets) {
          const ofTarget = [...model].flatMap(([name, its]) => (name.startsWith(`${key} `) ? its : []));
          const due = ofTarget.flatMap((its) => its.due);
          expect(await outgoing.counts(key)).toEqual({
            due: due.length,
            oldestAt: due.length === 0 ? undefined : new Date(Math.min(...due.map(({ at }) => at))),
            givenUp: ofTarget.flatMap((its) => its.givenUp).length,
          });
        }
      }
    }),
    { numRuns: 40 },
  );
});

test('what was given up for 30 days is forgotten, though more is given up all the time', async () => {
  const { store, answer, pass } = await opened();
  for (let day = 0; day < 40; day += 10) {
    await answer('r', day + 1);
    await store.outgoing.giveUp('webhook.one', 'r');
    pass(10 * 86_400_000);
  }
  await store.outgoing.forgetOld('webhook.one');
  expect((await store.outgoing.counts('webhook.one')).givenUp).toBe(2);
});

test('what is kept for a target that nobody serves ends by itself', async () => {
  const { store, answer } = await opened();
  await answer('r', 1);
  await answer('ünder', 1);
  await store.outgoing.giveUp('webhook.one', 'r');
  const keys = await redis.handle.client.keys(`*${store.source}*outgoing*`);
  expect(keys.length).toBeGreaterThan(4);
  const left = await Promise.all(keys.map((key) => redis.handle.client.pttl(key)));
  expect(left.every((ms) => ms > 29 * 86_400_000)).toBe(true);
});

test('what a target never takes is forgotten some day, also where it is given more without end', async () => {
  const { store, answer, pass } = await opened();
  const { outgoing } = store;
  const one = 'webhook.one';
  const day = 86_400_000;
  for (let version = 1; version <= 8; version++) {
    await answer('r', version);
    await outgoing.giveUp(one, 'r');
    expect((await outgoing.counts(one)).givenUp).toBe(Math.min(version, 5));
    pass(14 * day);
  }
});
