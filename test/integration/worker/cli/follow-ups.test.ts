import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { listFollowUps, showFollowUp, stepFollowUp } from '../../../../worker/cli/follow-ups.ts';
import { showJourney } from '../../../../worker/cli/journeys.ts';
import { status } from '../../../../worker/cli/status.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import { changeFollowUp } from '../../../../worker/support/follow-ups.ts';
import { startLoop } from '../../../support/loop.ts';
import { overriding } from '../../../support/manual.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';
import { openFollowUps } from '../../../support/worker/follow-ups.ts';

const { beside, fresh, redis } = useCommands();

/** A source with asked journeys, whose follow-ups are due so many hours from now. */
async function withFollowUps(due: Record<string, number>) {
  const loop = await startLoop(redis, { source: fresh() });
  const { store } = loop;
  const lists = await openFollowUps(loop, redis, due);
  const options = beside(loop);
  const ref = (id: string) => ({ ...options, journey: `${store.source}/${id}.1` });
  const list = async (filter: object = {}) => await printed(() => listFollowUps({ ...options, limit: 50, ...filter }));
  const ids = async (filter: object = {}) =>
    (await list(filter)).rows.map((row) => String(Object(row).followUp).split('/')[1]);
  const listed = async (which: 'open' | 'done') => {
    const found: string[] = [];
    for await (const page of lists.pages(which, { size: 2 })) found.push(...page.map(({ id }) => id));
    return found;
  };
  return { loop, store, lists, options, ref, list, ids, listed };
}

describe('follow-ups list', () => {
  test('has the most overdue first, by whose they are and whether they are overdue, without the words of customers', async () => {
    const { store, list, ids, ref, options } = await withFollowUps({ a: 3, b: -3, c: -50 });
    expect(await ids()).toEqual(['c.1', 'b.1', 'a.1']);
    expect(await ids({ limit: 2 })).toEqual(['c.1', 'b.1']);
    expect(await ids({ overdue: true })).toEqual(['c.1', 'b.1']);
    await printed(() => stepFollowUp({ ...ref('b'), by: 'Maria' }, { do: 'take' }));
    expect(await ids({ mine: 'Maria' })).toEqual(['b.1']);
    expect(await ids({ mine: 'agent' })).toEqual(['c.1', 'a.1']);
    // The agent was known when this one was opened, and the customer has corrected the grade since.
    await store.update(
      'a.1',
      (now) =>
        now.followUp && {
          journey: { ...now, followUp: { ...now.followUp, agent: 'Jaan Kask', openingGrade: 1 } },
          trace: [],
        },
    );
    expect(await ids({ mine: 'Jaan Kask' })).toEqual(['a.1']);
    expect(await ids({ mine: 'agent' })).toEqual(['c.1']);
    const { out } = await list({ json: false });
    expect(out).toMatch(/c\.1 +2 of 5 +unhappy +the agent of the record +2 days overdue +–\n/);
    expect(out).toMatch(/b\.1 +2 of 5 +unhappy +the agent of the record +2 hours overdue +Maria\n/);
    expect(out).toMatch(/a\.1 +2 of 5, was 1 of 5 +unhappy +Jaan Kask +due in 3 hours +–\n/);
    expect(out + (await list()).out).not.toMatch(/too late|@example/);
    const shown = await printed(() => status({ ...options, json: false }));
    expect(stripVTControlCharacters(shown.out)).toContain('follow-ups  3 open · 2 overdue');
  });

  test('takes out what its journey does not confirm, and keeps what an action is about to open', async () => {
    const { store, lists, ids, listed } = await withFollowUps({ a: 1, b: 2, c: 3 });
    await lists.put('open', 'gone.1', new Date());
    await store.update('a.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
    const act = { marker: 'm', rule: 'unhappy', step: 0, name: 'followUp', version: 1, at: new Date() };
    await store.update('b.1', ({ followUp: _, ...rest }) => ({
      journey: { ...rest, acting: { judged: {}, acts: [{ ...act, state: 'wanted' as const }] } },
      trace: [],
    }));
    expect(await ids()).toEqual(['c.1']);
    expect(await listed('open')).toEqual(['b.1', 'c.1']);
  });

  test('moves what was done by a process that was killed before it said so in the list', async () => {
    const { store, ids, listed } = await withFollowUps({ a: 1 });
    const change = { state: 'done', doneBy: 'Maria', doneAt: new Date() } as const;
    await store.update('a.1', (now) =>
      now.followUp ? { journey: { ...now, followUp: { ...now.followUp, ...change } }, trace: [] } : undefined,
    );
    expect(await ids()).toEqual([]);
    expect(await listed('open')).toEqual([]);
    expect(await ids({ done: true })).toEqual(['a.1']);
  });
});

describe('a follow-up', () => {
  test('is taken, done and reopened, each told in the trace, and its words only by "show"', async () => {
    const { loop, store, ids, ref, options } = await withFollowUps({ a: 1 });
    expect(await printed(() => stepFollowUp({ ...ref('a'), by: 'Maria' }, { do: 'take' }))).toMatchObject({
      code: 0,
      rows: [{ state: 'taken', takenBy: 'Maria' }],
    });
    const outcome = 'her dog was ill';
    await printed(() => stepFollowUp({ ...ref('a'), by: 'Maria' }, { do: 'done', outcome }));
    expect(await ids()).toEqual([]);
    expect(await ids({ done: true })).toEqual(['a.1']);
    loop.vendor.recordUrl = (record) => `https://toy.example/records/${record}`;
    const shown = await printed(() => showFollowUp(ref('a')));
    expect(shown.rows).toMatchObject([{ state: 'done', doneBy: 'Maria', outcome, comment: 'much too late' }]);
    const words = await printed(() => showFollowUp({ ...ref('a'), json: false }));
    expect(words.out).toContain('record a · https://toy.example/records/a\n');
    expect(words.out).toContain(`comment much too late\noutcome ${outcome}\n`);
    expect((await printed(() => showJourney({ ...options, ...ref('a') }))).out).not.toMatch(/dog|too late/);
    await printed(() => stepFollowUp({ ...ref('a'), by: 'Jaan' }, { do: 'reopen' }));
    expect(await ids()).toEqual(['a.1']);
    const trace = (await store.trace('a.1')).map(({ text }) => text).slice(-3);
    expect(trace).toEqual(['follow-up taken by Maria', 'follow-up done by Maria', 'follow-up reopened by Jaan']);
  });

  test('can be taken by one person only: the second is told who has it and since when', async () => {
    const { ref } = await withFollowUps({ a: 1 });
    await printed(() => stepFollowUp({ ...ref('a'), by: 'Maria' }, { do: 'take' }));
    const second = () => printed(() => stepFollowUp({ ...ref('a'), by: 'Jaan' }, { do: 'take' }));
    await expect(second()).rejects.toThrow(
      /a\.1: Maria has taken it at 20\d\d-.*\+0[23]:00; to take it over, give it back first/,
    );
    await expect(second()).rejects.toMatchObject({ advice: { kind: 'permanent' } });
    const finish = () => printed(() => stepFollowUp({ ...ref('a'), by: 'Jaan' }, { do: 'done', outcome: 'Called' }));
    await expect(finish()).rejects.toThrow(/Maria has taken it/);
  });

  test('that many take at the same moment is one person’s', async () => {
    const { store, lists } = await withFollowUps({ a: 1 });
    const context = { name: store.source, store, followUps: lists };
    const journey = (await store.get('a.1')) ?? expect.fail('no journey');
    const people = ['Maria', 'Jaan', 'Kati', 'Peeter'];
    const results = await Promise.allSettled(
      people.map((by) => changeFollowUp(journey, { do: 'take', by, at: new Date() }, context)),
    );
    expect(results.filter(({ status: is }) => is === 'fulfilled')).toHaveLength(1);
    const trace = (await store.trace('a.1')).filter(({ text }) => text.startsWith('follow-up taken'));
    expect(trace).toHaveLength(1);
  });

  test('is taken by nobody where its person was erased at the same moment', async () => {
    const { store, lists } = await withFollowUps({ a: 1 });
    const journey = (await store.get('a.1')) ?? expect.fail('no journey');
    const racing = overriding(store, {
      update: async (of, decide, pass) => {
        decide(journey);
        // What was decided is not stored, as the journey has changed since it was read.
        await store.update('a.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
        return await store.update(of, decide, pass);
      },
    });
    const context = { name: store.source, store: racing, followUps: lists };
    const taken = changeFollowUp(journey, { do: 'take', by: 'Maria', at: new Date() }, context);
    await expect(taken).rejects.toThrow('there is no follow-up');
  });

  test('that is reopened while a reader lists it as done is listed as open', async () => {
    const { store, lists, listed } = await withFollowUps({ a: 1 });
    const context = { name: store.source, store, followUps: lists };
    const step = { by: 'Maria', at: new Date() };
    const journey = (await store.get('a.1')) ?? expect.fail('no journey');
    await changeFollowUp(journey, { do: 'done', outcome: 'Called', ...step }, context);
    const meanwhile = [() => changeFollowUp(journey, { do: 'reopen', ...step }, context)];
    await lists.relist('a.1', {
      get: async (id) => {
        const read = await store.get(id);
        await meanwhile.shift()?.();
        return read;
      },
      isCurrent: (read) => store.isCurrent(read),
    });
    expect(await listed('open')).toEqual(['a.1']);
    expect(await listed('done')).toEqual([]);
  });

  test('shows no address of a record that was erased at its connector', async () => {
    const { loop, ref } = await withFollowUps({ a: 1 });
    loop.vendor.recordUrl = (record) => `https://toy.example/records/${record}`;
    loop.vendor.vendorIds = async (ids) => ids.map(() => undefined);
    const { rows } = await printed(() => showFollowUp(ref('a')));
    expect(rows).toMatchObject([{ state: 'open' }]);
    expect(rows[0]).not.toHaveProperty('url');
    expect(rows[0]).not.toHaveProperty('record');
  });

  test('that is not there is an error, as is one of a person who was erased', async () => {
    const { store, ref } = await withFollowUps({ a: 1 });
    await expect(showFollowUp(ref('zz'))).rejects.toThrow(/no journey/);
    await store.update('a.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
    await expect(stepFollowUp({ ...ref('a'), by: 'Maria' }, { do: 'take' })).rejects.toThrow(/there is no follow-up/);
    await expect(showFollowUp(ref('a'))).rejects.toThrow(/there is no follow-up/);
  });
});

test('the pages of a list have each entry once, also many of one instant', async () => {
  const lists = new FollowUpLists(redis.handle.client, fresh());
  const at = new Date();
  const wanted = Array.from({ length: 7 }, (_, i) => `r.${i}`);
  for (const id of wanted) await lists.put('open', id, at);
  const found: string[] = [];
  for await (const page of lists.pages('open', { size: 2 })) found.push(...page.map(({ id }) => id));
  expect(found.toSorted()).toEqual(wanted);
});
