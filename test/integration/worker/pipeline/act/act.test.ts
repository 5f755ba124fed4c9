import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import { erased } from '../../../../../worker/journey/forget.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { act, giveUpAct } from '../../../../../worker/pipeline/act/act.ts';
import { replay } from '../../../../../worker/support/repair.ts';
import { until } from '../../../../support/loop.ts';
import { closedAs, jobsOf, overriding, type UnitContext } from '../../../../support/manual.ts';
import { answered, lost, refused, unhappy, useActing } from '../../../../support/worker/pipeline/acting.ts';

const { asked, standin } = useActing();

describe('an answer that a rule matches', () => {
  test('has its actions done in order, with the text of its note, and each told in the trace', async () => {
    const { unit, vendor, run, trace, get } = await asked();
    await answered(unit, 1);
    expect(await run()).toEqual({ do: 'done' });
    expect(vendor.acted.map(({ name, params, again }) => ({ name, params, again }))).toEqual([
      { name: 'reopen', params: { group: 'Escalations' }, again: false },
      { name: 'note', params: 'Graded 1: no', again: false },
    ]);
    expect(vendor.acted[0]?.closing).toBe((await get())?.closing);
    expect(await get()).toMatchObject({ state: 'written', followUp: { state: 'open', to: 'agent', rule: 'unhappy' } });
    expect(await trace()).toMatch(
      /"unhappy" matches: reopen, note, followUp[\s\S]*follow-up for agent[\s\S]*reopen done[\s\S]*note done/,
    );
  });

  test('has the record read once for its rules and all of its actions', async () => {
    const answers = `[${unhappy.replace('answer.grade <= 2', "answer.grade <= 2 and ticket.store != 'Narva'")}]`;
    const { unit, vendor, run } = await asked({ answers });
    await answered(unit, 1);
    const reads = () => vendor.calls.filter(({ what }) => what === 'read').length;
    const before = reads();
    await run();
    expect(vendor.acted).toHaveLength(2);
    expect(reads() - before).toBe(1);
  });

  const openings: [
    what: string,
    of: { store?: string; to?: string; isAway?: boolean },
    names: object,
    reads: number,
  ][] = [
    ['names the agent of the record', {}, { agent: 'Anna' }, 1],
    ['names nobody where the record has no agent', { store: '' }, {}, 1],
    ['reads no record for a person whom the rule names', { to: 'Maria' }, {}, 0],
    ['does not wait for a vendor that is away', { isAway: true }, {}, 1],
  ];
  test.each(openings)(
    'opens a follow-up that %s',
    async (_, { store = 'Anna', to = 'agent', isAway = false }, names, reads) => {
      const answers = `[{ name: bad, settle: 0, do: [{ followUp: { to: ${to}, due: 4h } }] }]`;
      const { unit, vendor, run, get } = await asked({ answers, parts: { agents: ['ticket.store'] } });
      vendor.close('p', { store });
      await answered(unit, 1);
      if (isAway) vendor.failures.read.push(refused);
      const before = vendor.calls.length;
      await run();
      const { followUp } = (await get()) ?? {};
      expect(followUp).toEqual({
        ...{ state: 'open', rule: 'bad', to, openedAt: expect.any(Date), dueAt: expect.any(Date) },
        ...{ openingGrade: 1, ...names },
      });
      expect(vendor.calls.slice(before).filter(({ what }) => what === 'read')).toHaveLength(reads);
    },
  );

  test('that was corrected before its follow-up was opened leaves no grade of the earlier version with it', async () => {
    const { unit, run, get } = await asked({ answers: '[{ name: bad, settle: 0, do: [{ followUp: {} }] }]' });
    const act = { marker: 'm', rule: 'bad', step: 0, name: 'followUp', version: 1, at: new Date() };
    await answered(unit, 5, { version: 2 });
    await unit.store.update('p.1', (now) => ({
      journey: {
        ...now,
        acting: { judged: { bad: { version: 2, matched: true } }, acts: [{ ...act, state: 'wanted' }] },
      },
      trace: [],
    }));
    await run();
    expect((await get())?.followUp).toMatchObject({ state: 'open' });
    expect((await get())?.followUp).not.toHaveProperty('openingGrade');
  });

  test('opens no second follow-up: the first one keeps its time, also in the list', async () => {
    const answers = `[{ name: bad, when: answer.grade <= 2, settle: 0, do: [{ followUp: { due: 4h } }] },
      { name: worst, when: answer.grade <= 1, settle: 0, do: [{ followUp: { to: Maria, due: 8h } }] }]`;
    const { unit, run, get } = await asked({ answers });
    await answered(unit, 1);
    await run();
    const { followUp } = (await get()) ?? {};
    expect(followUp).toMatchObject({ rule: 'bad', to: 'agent' });
    const page = await unit.context.followUps.pages('open').next();
    expect(page.value).toEqual([{ id: 'p.1', at: followUp?.dueAt }]);
  });

  test('has them done once, however often the job runs', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    await run();
    await run();
    expect(vendor.acted).toHaveLength(2);
  });

  test('that changes for the worse again has nothing repeated; for the better, nothing undone', async () => {
    const { unit, vendor, run, trace } = await asked({ general: 'policy: { actions: { perRecord: 4 } }' });
    await answered(unit, 1);
    await run();
    await answered(unit, 2, { version: 2 });
    await run();
    expect(await trace()).toContain('still matches: its actions are not repeated');
    await answered(unit, 9, { version: 3 });
    await run();
    expect(await trace()).toContain('matches no more: nothing is undone');
    expect(vendor.acted).toHaveLength(2);
    await answered(unit, 1, { version: 4 });
    await run();
    expect(vendor.acted).toHaveLength(4);
    expect(new Set(vendor.acted.map(({ marker }) => marker)).size).toBe(4);
  });

  test('and that is corrected before it has settled leads to nothing', async () => {
    const { unit, vendor, run } = await asked({ answers: `[${unhappy.replace('settle: 0', 'settle: 1h')}]` });
    await answered(unit, 1);
    expect(await run()).toMatchObject({ do: 'wait' });
    await answered(unit, 9, { version: 2, ago: 2 * 3_600_000 });
    expect(await run()).toEqual({ do: 'done' });
    expect(vendor.acted).toEqual([]);
  });

  test('and that was corrected in time, but not collected, leads to nothing', async () => {
    const settle = unhappy.replace('settle: 0', 'settle: 1m');
    const { unit, vendor, run, get } = await asked({ answers: `[${settle}]` });
    const request = Number((await get())?.requestId);
    standin().answer({ request, grade: 1 });
    await answered(unit, 1, { ago: 60_000, comment: null });
    standin().answer({ request, grade: 5 });
    await run();
    expect(vendor.acted).toEqual([]);
    expect((await get())?.acting).toBeUndefined();
    // It was no correction after all, or the customer has thought better of it.
    standin().answer({ request, grade: 1 });
    await run();
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });

  test('has them done once by two processes at the same time', async () => {
    const { vendor, unit, run } = await asked();
    await answered(unit, 1);
    await Promise.all([run(), run(), run()]);
    await run();
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });

  test('has them done once where the vendor takes longer than a killed process would be waited for', async () => {
    const { vendor, unit, job, get } = await asked();
    await answered(unit, 1);
    const { promise: vendorIsDone, resolve: vendorEnds } = Promise.withResolvers<void>();
    vendor.beforeActed = () => vendorIsDone;
    const context = { ...unit.context, searchAfterMs: 3_000 };
    const first = act(job, context);
    const begunAt = async () => (await get())?.acting?.acts.find(({ state }) => state === 'begun')?.at.getTime() ?? 0;
    await until(async () => (await begunAt()) > 0);
    const before = await begunAt();
    await until(async () => (await begunAt()) > before);
    // The customer corrects the answer meanwhile: its job finds the actions of the first version under way.
    await answered(unit, 2, { version: 2 });
    expect(await act(job, context)).toMatchObject({ do: 'wait' });
    vendorEnds();
    await first;
    await act(job, context);
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });

  test('is judged by the record as well, as it is then', async () => {
    const answers = "[{ name: here, when: ticket.store = 'Tallinn', settle: 0, do: [{ tag: [unhappy] }] }]";
    const { unit, vendor, run } = await asked({ answers });
    vendor.close('p', { store: 'Narva' });
    await answered(unit, 1);
    await run();
    expect(vendor.acted).toEqual([]);
  });

  test('of a person who was forgotten leads to nothing', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    await unit.store.update('p.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
    await run();
    expect(vendor.acted).toEqual([]);
  });
});

describe('an action whose response was lost', () => {
  test('is done once more with a word that it may have been done, after the time in which it may still be carried out', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    await run();
    expect(vendor.acted.map(({ name, again }) => [name, again])).toEqual([
      ['reopen', false],
      ['note', false],
      ['reopen', true],
    ]);
  });

  test('keeps the closing that the record had first: whoever closed it again is left alone', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    vendor.close('p', closedAs('a later closing'));
    await run();
    const [first, second] = vendor.acted.filter(({ name }) => name === 'reopen');
    expect(second?.closing).toBe(first?.closing);
    expect(first?.closing).toBe((await get())?.closing);
  });

  test('and one that was refused is tried as if for the first time', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(refused);
    await expect(run()).rejects.toThrow('wait');
    await run();
    expect(vendor.acted.map(({ again }) => again)).toEqual([false, false, false]);
  });
});

describe('a person who is forgotten meanwhile', () => {
  const forgotten = (unit: UnitContext) =>
    unit.store.update('p.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));

  test('has no action begun, although it was decided on just before', async () => {
    const { unit, vendor } = await asked();
    await answered(unit, 1);
    const { store } = unit.context;
    const racing = overriding(store, {
      update: async (of, decide, pass) => {
        const before = await store.get('p.1');
        const begins = before && decide(before)?.journey.acting?.acts.some(({ state }) => state === 'begun');
        // What was decided is not stored, as the journey has changed since it was read.
        if (begins) await forgotten(unit);
        return await store.update(of, decide, pass);
      },
    });
    await act({ journeyId: 'p.1' }, { ...unit.context, store: racing });
    expect((await store.get('p.1'))?.erasedAt).toBeDefined();
    expect(vendor.acted).toEqual([]);
  });

  test('has no action begun where the erasure was requested while the record was read', async () => {
    const { unit, vendor } = await asked();
    await answered(unit, 1);
    const { read, erasures } = unit.context;
    const slow: typeof read = async (...about) => {
      const reading = await read(...about);
      await erasures.forgotten.note(['requested everybody'], new Date(), 3_600_000);
      return reading;
    };
    await act({ journeyId: 'p.1' }, { ...unit.context, read: slow });
    expect(vendor.acted).toEqual([]);
  });

  test.each([false, true])(
    'has what was done during the erasure taken off again; after a kill: %s',
    async (isKilled) => {
      const { unit, run } = await asked();
      await answered(unit, 1);
      const doing: typeof unit.context.act = async (requests) => {
        await forgotten(unit);
        if (isKilled) throw lost;
        return await unit.context.act(requests);
      };
      await act({ journeyId: 'p.1' }, { ...unit.context, act: doing }).catch(() => undefined);
      await run();
      const open = await unit.context.erasures.open();
      expect(open.map(({ what }) => what)).toEqual(['an answer was being written while its person was forgotten']);
    },
  );
});

describe('an action that can not be done', () => {
  test.each([
    [
      'as the record takes nothing any more',
      { ok: false, why: 'closed', message: 'it is archived' } as const,
      'it is archived',
    ],
    [
      'as the vendor refuses it',
      { ok: false, why: 'error', error: new CloseloopError('no such group', { kind: 'permanent' }) } as const,
      'no such group',
    ],
  ])('%s is parked with its reason, and the next ones are done', async (_, result, why) => {
    const { unit, vendor, run, get, trace } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(result);
    expect(await run()).toEqual({ do: 'done' });
    expect((await get())?.acting?.acts.map(({ state }) => state)).toEqual(['parked', 'done', 'done']);
    expect(await trace()).toContain(`reopen is parked: ${why}`);
  });

  test.each([
    ['$number(answer.comment)', 'parked'],
    ['[answer.grade, 1]', 'parked'],
    ['answer.answers.q1', 'done'],
    ['answer.grade', 'done'],
  ])('as its text is %s is %s, and the other ones are done', async (note, state) => {
    const answers = `[{ name: bad, settle: 0, do: [{ note: '${note}' }, { tag: [unhappy] }] }]`;
    const { unit, vendor, run, get } = await asked({ answers });
    await answered(unit, 1);
    expect(await run()).toEqual({ do: 'done' });
    expect((await get())?.acting?.acts.map((one) => one.state)).toEqual([state, 'done']);
    expect(vendor.acted.map(({ name, params }) => [name, params])).toEqual([
      ...(note === 'answer.grade' ? [['note', '1']] : []),
      ['tag', ['unhappy']],
    ]);
  });

  test('as a proxy may have answered is not given up at the first attempt', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    const doubtful = new CloseloopError('a page', { kind: 'permanent', doubtful: true });
    vendor.actResults.push({ ok: false, why: 'error', error: doubtful });
    await expect(run()).rejects.toThrow('a page');
    expect(await run()).toEqual({ do: 'done' });
    expect((await get())?.acting?.acts.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  });

  test('holds back the ones behind it while nobody knows whether it was done', async () => {
    const { unit, vendor } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost, refused);
    const run = () => act({ journeyId: 'p.1' }, { ...unit.context, searchAfterMs: 3_600_000 });
    await expect(run()).rejects.toThrow('no answer');
    expect(await run()).toMatchObject({ do: 'wait' });
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });

  test('and is taken up again by a person is looked for first, where it was begun', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    await giveUpAct({ journeyId: 'p.1' }, 'for a week', unit.context);
    await replay((await get()) ?? expect.fail('no journey'), unit.context);
    await run();
    expect(vendor.acted.map(({ name, again }) => [name, again])).toEqual([
      ['reopen', false],
      ['note', false],
      ['reopen', true],
    ]);
  });

  test('is taken up again also where the command was killed before it had queued that', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    vendor.actResults.push({ ok: false, why: 'closed', message: 'it is archived' });
    await run();
    const { queue } = unit.pipeline.jobs.act;
    await queue.obliterate({ force: true });
    const journey = async () => (await get()) ?? expect.fail('no journey');
    const killed = { ...unit.context, queueAct: () => Promise.reject(new Error('killed')) };
    await expect(replay(await journey(), killed)).rejects.toThrow('killed');
    expect(await replay(await journey(), unit.context)).toBe('its actions are tried again');
    expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ journeyId: 'p.1', version: 1 }]);
  });

  test('beyond the number that a record may have in a day is parked', async () => {
    const { unit, run, get } = await asked({ general: 'policy: { actions: { perRecord: 1 } }' });
    await answered(unit, 1);
    await run();
    expect((await get())?.acting?.acts.map(({ state }) => state)).toEqual(['done', 'parked', 'done']);
  });

  test('beyond that number leaves an action that has begun its slot, also one behind it', async () => {
    const { unit, vendor, run, get } = await asked({ general: 'policy: { actions: { perRecord: 1 } }' });
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    // A person takes up the other one, in the order in which a rule of an earlier version had them.
    await unit.store.update('p.1', (now) => {
      const [begun, note, ...rest] = now.acting?.acts ?? [];
      if (!begun || !note || !now.acting) return undefined;
      return {
        journey: { ...now, acting: { ...now.acting, acts: [{ ...note, state: 'wanted' }, begun, ...rest] } },
        trace: [],
      };
    });
    await run();
    expect((await get())?.acting?.acts.map(({ name, state }) => [name, state])).toEqual([
      ['note', 'parked'],
      ['reopen', 'done'],
      ['followUp', 'done'],
    ]);
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'reopen']);
  });

  test('of a rule that the configuration no longer has is parked', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    await act({ journeyId: 'p.1' }, { ...unit.context, answerRules: [] });
    expect((await get())?.acting?.acts.map(({ state }) => state)).toEqual(['parked', 'done', 'done']);
  });
});

test('a condition that fails keeps no other rule from acting, and is told', async () => {
  const broken = '{ name: broken, when: $number(ticket.store) > 1, settle: 0, do: [{ tag: [x] }] }';
  const { unit, vendor, run, trace } = await asked({ answers: `[${broken}, ${unhappy}]` });
  await answered(unit, 1);
  expect(await run()).toEqual({ do: 'done' });
  expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  expect(await trace()).toContain('answer rule "broken" could not be judged');
});

describe('what an answer leads to', () => {
  test('is stored twice: before the vendor is called, and with what came of that', async () => {
    const { unit, vendor } = await asked({ answers: `[${unhappy.replace(', { followUp: { due: 4h } }', '')}]` });
    await answered(unit, 1);
    const { store } = unit.context;
    const stored: string[][] = [];
    const watched = overriding(store, {
      update: async (...args) => {
        const after = await store.update(...args);
        stored.push(after?.acting?.acts.map(({ state }) => state) ?? []);
        return after;
      },
    });
    await act({ journeyId: 'p.1' }, { ...unit.context, store: watched });
    expect(vendor.acted).toHaveLength(2);
    expect(stored).toEqual([
      ['begun', 'begun'],
      ['done', 'done'],
    ]);
  });

  test('is looked at again where a person has taken up more of it meanwhile', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    const { read, store } = unit.context;
    const later: typeof read = async (...about) => {
      const reading = await read(...about);
      const more = {
        marker: 'x',
        rule: 'unhappy',
        step: 1,
        name: 'note',
        version: 1,
        state: 'wanted' as const,
        at: new Date(),
      };
      await store.update('p.1', (now) => ({ journey: { ...now, acting: { judged: {}, acts: [more] } }, trace: [] }));
      return reading;
    };
    expect(await act({ journeyId: 'p.1' }, { ...unit.context, read: later })).toEqual({ do: 'wait', delayMs: 0 });
    expect(await run()).toEqual({ do: 'done' });
    expect(vendor.acted.map(({ marker }) => marker).at(-1)).toBe('x');
    expect(vendor.acted).toHaveLength(3);
  });
});

test('in test mode actions are stored, and none is done', async () => {
  const { unit, vendor, run, get } = await asked({
    rule: '{ name: all, campaign: 12, contact: customer.email, test: { email: test@example.com } }',
  });
  await unit.store.update('p.1', (now) => ({
    journey: step(now, 'tested', new Date(), { answer: { grade: 1, comment: null, seenAt: new Date(), version: 1 } }),
    trace: [],
  }));
  await run();
  expect((await get())?.acting?.acts.map(({ state }) => state)).toEqual(['withheld', 'withheld', 'withheld']);
  expect(vendor.acted).toEqual([]);
});

test('what many answers lead to is queued as one job, if it is due at the same time', async () => {
  const { unit } = await asked();
  const { queueAct, clock } = unit.context;
  const at = clock.now();
  await Promise.all(['p.1', 'q.1', 'r.1'].map((id) => queueAct(id, 1, at)));
  const jobs = await unit.pipeline.jobs.act.queue.getJobs();
  expect(jobs.map(({ data }) => data)).toEqual([['p.1', 'q.1', 'r.1'].map((journeyId) => ({ journeyId, version: 1 }))]);
});
