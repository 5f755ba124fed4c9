import { describe, expect, test } from 'vitest';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import {
  anyone,
  asking,
  closedAs,
  eventOf,
  gradedElsewhere,
  later,
  open,
  overriding,
  slowCampaign,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const create = { method: 'POST', path: '/api/appeals/$' };

async function stateOf({ store }: SourceContext, id: string): Promise<Journey> {
  return (await store.get(id)) ?? expect.fail(`no journey ${id}`);
}
/** Nothing of it can be waited for any more. */
async function toItsEnd(context: SourceContext, id: string): Promise<void> {
  while ((await stateOf(context, id)).state === 'creating' || (await stateOf(context, id)).state === 'waiting') {
    await ask({ journeyId: id }, context);
  }
}

function contextOf({ engine }: Pick<UnitContext, 'engine'>, source: string): SourceContext {
  return engine.pipelines.get(source)?.context ?? expect.fail(`no source ${source}`);
}

/** Two of which each goes on from a look for a request only when the other has looked as well. */
function lookingTogether(one: SourceContext, other: SourceContext): [SourceContext, SourceContext] {
  let left = 2;
  const { promise: looked, resolve: all } = Promise.withResolvers<void>();
  const together = (context: SourceContext): SourceContext => ({
    ...context,
    limitedSearches: async (look) => {
      const found = await look();
      if (--left === 0) all();
      await looked;
      return found;
    },
  });
  return [together(one), together(other)];
}

describe('one request that may be of two journeys of one person', () => {
  /** Both are in `creating`; the service got one of the two. */
  async function unknown({ engine, vendor }: UnitContext, sources: readonly [string, string], got: 'a' | 'b') {
    for (const [i, record] of ['a', 'b'].entries()) {
      const context = contextOf({ engine }, sources[i] ?? '');
      vendor.close(record, anyone);
      await plan(eventOf(record), context);
      service.standin.faults.add({ ...create, then: record === got ? 'work-then-cut' : 'cut' });
      await ask({ journeyId: `${record}.1` }, context);
      expect(await stateOf(context, `${record}.1`)).toMatchObject({ state: 'creating' });
    }
    expect(service.standin.requests()).toHaveLength(1);
  }

  const rows: [what: string, sources: [string, string], got: 'a' | 'b'][] = [
    ['of one source, the first of which asked', ['calm', 'calm'], 'a'],
    ['of one source, the second of which asked', ['calm', 'calm'], 'b'],
    ['of two sources, the first of which asked', ['calm', 'still'], 'a'],
    ['of two sources, the second of which asked', ['calm', 'still'], 'b'],
  ];
  test.each(rows)('it is taken by one alone, though both find it at once (%s)', async (_, sources, got) => {
    const unit = unitContext({ others: ['still'] });
    await unknown(unit, sources, got);
    const [one, other] = lookingTogether(contextOf(unit, sources[0]), contextOf(unit, sources[1]));
    await Promise.all([ask({ journeyId: 'a.1' }, one), ask({ journeyId: 'b.1' }, other)]);
    await toItsEnd(one, 'a.1');
    await toItsEnd(other, 'b.1');
    const ends = [await stateOf(one, 'a.1'), await stateOf(other, 'b.1')];
    const asked = ends.flatMap(({ requestId }) => requestId ?? []);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.toSorted()).toEqual(
      service.standin
        .requests()
        .map(({ id }) => String(id))
        .toSorted(),
    );
    // Who asked nobody says why a person has to look.
    for (const { state, why } of ends) expect(state === 'asked' || (state === 'parked' && why)).toBeTruthy();
  });

  test('it stays with the journey that has it, whoever comes late', async () => {
    const unit = unitContext();
    const { context } = unit;
    await unknown(unit, ['calm', 'calm'], 'a');
    await toItsEnd(context, 'a.1');
    const { requestId = '' } = await stateOf(context, 'a.1');
    const after = await context.store.update('b.1', ({ intent: _, ...now }) => ({
      journey: step(now, 'asked', new Date(), { requestId }),
      trace: ['asked'],
    }));
    expect(after).toMatchObject({ id: 'b.1', state: 'creating' });
    expect(await context.store.requests.journeyIdsOf([requestId])).toEqual(['a.1']);
  });

  test('it is left to a person where it names a journey and another has it', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 40, contact: customer.email }' });
    service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
    const { context } = unit;
    await unknown(unit, ['calm', 'calm'], 'a');
    const requestId = String(service.standin.requests()[0]?.id);
    await context.store.update('b.1', (now) => ({ journey: step(now, 'asked', new Date(), { requestId }), trace: [] }));
    await toItsEnd(context, 'a.1');
    expect(await stateOf(context, 'a.1')).toMatchObject({
      state: 'parked',
      why: expect.stringMatching(/names this journey, and belongs to another/),
    });
  });

  test('its own journey is not left in the middle when another has taken it', async () => {
    const { context, vendor } = unitContext();
    for (const id of ['a', 'b']) {
      vendor.close(id, anyone);
      await plan(eventOf(id), context);
    }
    const robbed: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        create: async (request) => {
          const made = await context.feedback.create(request);
          await context.store.update('b.1', (now) => ({
            journey: step(now, 'asked', new Date(), { requestId: made.id }),
            trace: [],
          }));
          return made;
        },
      }),
    };
    expect(await ask({ journeyId: 'a.1' }, robbed)).toMatchObject({ do: 'wait' });
    await context.store.update('a.1', (now) => ({
      journey: { ...now, ...(now.intent && { intent: { ...now.intent, searchAfter: new Date(0) } }) },
      trace: [],
    }));
    await toItsEnd(context, 'a.1');
    expect(await stateOf(context, 'a.1')).toMatchObject({ state: 'parked', why: expect.stringMatching(/counters/) });
    expect(service.standin.requests()).toHaveLength(1);
  });
});

describe('a record that another was merged into', () => {
  /** The service keeps requests of `later` as `Scheduled`; those of `soon` are sent at once. */
  const slow = {
    rule: `{ name: soon, when: 'ticket.store = "Soon"', campaign: 12, contact: customer.email }, ${later.rule}`,
    operations: later.operations,
  };
  async function merged(first: object, second: object) {
    const unit = unitContext(slow);
    slowCampaign(service.standin);
    const { context } = unit;
    const closes = async (id: string, more: object) => {
      unit.vendor.close(id, { customer: { email: `${id}@example.com` }, ...more });
      await plan(eventOf(id), context);
    };
    await closes('gone', first);
    await ask({ journeyId: 'gone.1' }, context);
    await closes('here', second);
    await ask({ journeyId: 'here.1' }, context);
    await plan(eventOf('gone', { kind: 'changed', mergedInto: 'here' }), context);
    const reopen = async () => {
      unit.vendor.close('here', open);
      await plan(eventOf('here', { kind: 'changed' }), context);
    };
    const closeAgain = async () => {
      await closes('here', { ...second, ...closedAs('again') });
      await ask({ journeyId: 'here.2' }, context);
    };
    const status = (email: string) => service.standin.requests({ contact: email }).map((one) => one.status);
    return { context, reopen, closeAgain, status };
  }

  test('when it is reopened it takes back the request of that one too, and asks when it is closed again', async () => {
    const { context, reopen, closeAgain, status } = await merged({}, {});
    await reopen();
    for (const id of ['gone.1', 'here.1']) expect(await stateOf(context, id)).toMatchObject({ state: 'cancelled' });
    expect([status('gone@example.com'), status('here@example.com')]).toEqual([['Cancelled'], ['Cancelled']]);
    await closeAgain();
    expect(await stateOf(context, 'here.2')).toMatchObject({ state: 'asked' });
  });

  test('it takes it back though it has asked nobody itself', async () => {
    const { context, reopen, closeAgain } = await merged({}, { customer: {} });
    expect(await stateOf(context, 'here.1')).toMatchObject({ state: 'skipped' });
    await reopen();
    expect(await stateOf(context, 'gone.1')).toMatchObject({ state: 'cancelled' });
    expect(await context.store.records.historyOf('here')).toMatchObject({ asked: undefined });
    await closeAgain();
  });

  test('it never asks again when that one has been sent, though its own could be taken back', async () => {
    const { context, reopen, closeAgain, status } = await merged({ store: 'Soon' }, {});
    await reopen();
    expect(await stateOf(context, 'gone.1')).toMatchObject({ state: 'asked' });
    expect(await stateOf(context, 'here.1')).toMatchObject({ state: 'cancelled' });
    await closeAgain();
    expect(await stateOf(context, 'here.2')).toMatchObject({
      state: 'skipped',
      why: expect.stringMatching(/asked already: journey calm\/gone\.1/),
    });
    expect(status('here@example.com')).toEqual(['Cancelled']);
  });
});

describe('merges that come in another order, or are old', () => {
  test('an answer goes to the last record, though the later merge is told first', async () => {
    const unit = unitContext();
    const { context, store } = unit;
    await asking(unit, 'a');
    await plan(eventOf('b', { kind: 'changed', mergedInto: 'c' }), context);
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'b' }), context);
    expect((await store.get('a.1'))?.currentId).toBe('c');
    expect(await store.records.historyOf('c')).toMatchObject({ asked: 'a.1' });
  });

  test('merges that name each other end', async () => {
    const unit = unitContext();
    const { context, store } = unit;
    await asking(unit, 'a');
    await plan(eventOf('b', { kind: 'changed', mergedInto: 'a' }), context);
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'b' }), context);
    expect((await store.get('a.1'))?.currentId).toBe('b');
  });

  test('that the merged one asked is known as long as its journey, though those of the other are removed', async () => {
    const unit = unitContext();
    const { context, vendor, store } = unit;
    vendor.close('b', { customer: {} });
    await plan(eventOf('b'), context);
    await asking(unit, 'a');
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'b' }), context);
    expect(await store.forget((await store.get('b.1')) ?? expect.fail('no journey'))).toBe(true);
    vendor.close('b', { ...anyone, ...closedAs('again') });
    await plan(eventOf('b'), context);
    const [mine, theirs] = (await store.records.journeysOf('b')).map(({ id, state, why }) => [id, state, why]);
    expect(mine).toEqual(['b.1', 'skipped', expect.stringMatching(/asked already: journey calm\/a\.1/)]);
    expect(theirs?.slice(0, 2)).toEqual(['a.1', 'asked']);
  });
});

describe('a grade that was given elsewhere', () => {
  test('the newest is what the service has, though the worker of an older one died when that had overtaken it', async () => {
    const { context, vendor } = unitContext({ rule: '{ name: all, campaign: 15, contact: ticket.id }' });
    vendor.close('g');
    await plan(eventOf('g'), context);
    await ask({ journeyId: 'g.1' }, context);
    const dying: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        grade: async (id, grade) => {
          await plan(gradedElsewhere('g', 2_000, 5), context);
          await context.feedback.grade(id, grade);
          throw new Error('killed');
        },
      }),
    };
    await expect(plan(gradedElsewhere('g', 1_000, 1), dying)).rejects.toThrow('killed');
    expect(service.standin.requests()).toMatchObject([{ grade: 1 }]);
    await plan(gradedElsewhere('g', 1_000, 1), context);
    expect(service.standin.requests()).toMatchObject([{ grade: 5 }]);
    expect(await stateOf(context, 'g.1')).toMatchObject({ given: { grade: 5, delivered: true } });
  });
});
