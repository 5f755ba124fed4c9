import { describe, expect, test } from 'vitest';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import type { ExternalGradeJob, PlanJob, SurveyJob } from '../../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { remedies } from '../../../../../worker/pipeline/stages.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { until } from '../../../../support/loop.ts';
import {
  afterReading,
  eraseOf,
  eventOf,
  hour,
  jobsOf,
  overriding,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { waysToErase } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const email = 'erika@example.com';
const erika = { customer: { email }, personId: 'p-7' };
async function all<T>(some: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of some) found.push(one);
  return found;
}
const ago = (ms: number) => new Date(Date.now() - ms);

async function asked({ context, vendor }: UnitContext, id: string, more: object = {}): Promise<void> {
  vendor.close(id, more);
  await plan(eventOf(id), context);
  await ask({ journeyId: `${id}.1` }, context);
}

describe('the snapshot of a record that never had a journey', () => {
  const ways = waysToErase.filter(([by]) => by !== 'the record');
  test.each(ways)('it is forgotten with %s, and does not come back from before', async (_, who) => {
    const { context } = unitContext();
    const snapshot = { state: 'closed', personId: 'p-7', shape: { customer: { mail: email } } };
    const [first, second] = [ago(2_000), ago(1_000)];
    await context.snapshots.save('t', first, snapshot);
    await context.snapshots.save('u', first, { state: 'closed', personId: 'p-8', shape: { mail: 'x@example.com' } });
    await erase(eraseOf(who), context);
    await context.snapshots.save('t', second, snapshot);
    const [gone, other] = await context.snapshots.of(['t', 'u']);
    expect([gone, other === undefined]).toEqual([undefined, 'everybody' in who]);
  });

  test('it is listed no longer than it is kept', async () => {
    const { context } = unitContext();
    const { client } = redis.handle;
    await context.snapshots.save('old', ago(1_000), { mail: email });
    await client.zadd('{cl:calm}:snapshots-alone', Date.now() - 1, 'old');
    await context.snapshots.save('new', ago(1_000), { mail: email });
    expect(await all(context.snapshots.alone())).toEqual(['new']);
  });
});

describe('events that wait to be planned', () => {
  const graded: ExternalGradeJob = {
    kind: 'external-grade',
    recordId: 'a',
    grade: 2,
    comment: 'Frau Muster was rude',
    snapshot: { personId: 'p-7', mail: email },
    at: ago(1_000),
    key: 'graded',
    what: 'graded',
    receivedAt: ago(1_000),
  };
  const { recordId: _, grade: _1, comment: _2, snapshot: _3, ...happened } = graded;
  const survey = (requestId: string): SurveyJob => ({
    ...happened,
    kind: 'survey',
    requestId,
    answers: { q1: 'Frau Muster again' },
  });
  const snapshot = { shape: { customer: { mail: email } } };

  async function waiting(unit: UnitContext) {
    const { plan } = unit.pipeline.jobs;
    const at = ago(1_000);
    await asked(unit, 'a', erika);
    const { requestId = '' } = (await unit.context.store.get('a.1')) ?? {};
    const jobs: PlanJob[] = [
      graded,
      survey(requestId),
      eventOf('unheard', { at, receivedAt: at, snapshot }),
      eventOf('other', { at, receivedAt: at, snapshot: { shape: { mail: 'other@example.com' } } }),
      eventOf('since', { at: new Date(Date.now() + hour), receivedAt: new Date(Date.now() + hour), snapshot }),
    ];
    await plan.add(jobs.map((data, i) => ({ id: `job-${i}`, data, ...(i % 2 === 0 && { delayMs: 3_600_000 }) })));
    const held = async () => await jobsOf(plan);
    return { jobs, held };
  }

  test('they lose what they tell of a person who is erased, and nothing else', async () => {
    const unit = unitContext();
    const { held } = await waiting(unit);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const events = await held();
    const about = (one: PlanJob) => ('recordId' in one ? one.recordId : one.kind);
    const texts = new Map(events.map((one) => [about(one), JSON.stringify(one)]));
    expect(events).toHaveLength(5);
    for (const one of ['a', 'survey', 'unheard']) expect(texts.get(one)).not.toMatch(/erika|Muster|p-7/);
    expect(texts.get('other')).toContain('other@example.com');
    expect(texts.get('since')).toContain(email);
  });

  test('they ask nobody about it, also where a worker has taken one up before', async () => {
    const unit = unitContext();
    const { jobs, held } = await waiting(unit);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    for (const event of [...jobs, ...(await held())]) {
      if (event.kind === 'closed' && event.recordId === 'unheard') await plan(event, unit.context);
      if (event.kind === 'external-grade') await plan(event, unit.context);
    }
    expect(await unit.context.snapshots.of(['a', 'unheard'])).toEqual([undefined, undefined]);
    expect(await unit.context.store.get('a.1')).not.toHaveProperty('given');
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('they lose it all when everybody of the source is forgotten', async () => {
    const unit = unitContext();
    const { held } = await waiting(unit);
    await erase(eraseOf({ everybody: true, receivedAt: new Date(Date.now() + 2 * hour) }), unit.context);
    expect(JSON.stringify(await held())).not.toMatch(/example\.com|Muster/);
  });
});

describe('a person who is erased while their closing is being planned', () => {
  test.each(waysToErase)('it asks nobody and keeps nothing (by %s)', async (_, who) => {
    const { context, vendor, store } = unitContext();
    vendor.close('x', erika);
    const received = { at: ago(1_000), receivedAt: ago(1_000) };
    const racing = afterReading(context, () => erase(eraseOf(who), context));
    await plan(eventOf('x', received), racing);
    const after = await store.get('x.1');
    expect(after).toMatchObject({ state: 'cancelled', erasedAt: expect.any(Date) });
    expect(JSON.stringify(after)).not.toMatch(/erika|p-7/i);
    await ask({ journeyId: 'x.1' }, context);
    expect(service.standin.requests()).toEqual([]);
  });

  const skipped = '{ name: none, when: "false", campaign: 12, contact: customer.email }';
  const alone = { customer: { email } };
  test.each<[who: string, record: object, isErased: boolean]>([
    ['nothing but an address is known', alone, true],
    ['the vendor knows by another id, as many share the address', { ...alone, personId: 'p-8' }, false],
  ])('a skipped one loses what it is known by, if of its person %s', async (_, record, isErased) => {
    const { context, vendor, store } = unitContext({ rule: skipped });
    vendor.close('x', record);
    const racing = afterReading(context, () => erase(eraseOf({ contacts: ['Erika@Example.com'] }), context));
    await plan(eventOf('x', { at: ago(1_000), receivedAt: ago(1_000) }), racing);
    const after = await store.get('x.1');
    expect([after?.state, after?.erasedAt !== undefined, after?.alsoKnownAs === undefined]).toEqual([
      'skipped',
      isErased,
      isErased,
    ]);
    const found = await store.queries.knownBy({ contact: { kind: 'email', value: email } }, () => undefined);
    expect(found.map(({ id }) => id)).toEqual(isErased ? [] : ['x.1']);
  });

  test.each<
    [when: string, rule: string | undefined, takesUp: (event: PlanJob, context: SourceContext) => Promise<unknown>]
  >([
    ['its job is repeated', skipped, plan],
    ['its job is repeated', undefined, plan],
    ['its customer is to be asked', undefined, (_, context) => ask({ journeyId: 'x.1' }, context)],
  ])('it keeps nothing either where its worker was killed just after planning: %s', async (_, rule, takesUp) => {
    const { context, vendor, store } = unitContext(rule === undefined ? {} : { rule });
    vendor.close('x', erika);
    const { forgotten } = context.erasures;
    const { since } = forgotten;
    const dying = afterReading(context, async () => {
      await erase(eraseOf({ personIds: ['p-7'] }), context);
      forgotten.since = () => Promise.reject(new Error('killed'));
    });
    const event = eventOf('x', { receivedAt: ago(1_000) });
    await expect(plan(event, dying)).rejects.toThrow('killed');
    expect(await store.get('x.1')).toMatchObject({ personId: 'p-7' });
    forgotten.since = since;
    await takesUp(event, context);
    const after = await store.get('x.1');
    expect(after).toMatchObject({ erasedAt: expect.any(Date) });
    expect(JSON.stringify(after)).not.toMatch(/erika|p-7/i);
    expect(service.standin.requests()).toEqual([]);
  });

  test('it is asked about what it closes later', async () => {
    const unit = unitContext();
    const receivedAt = ago(1_000);
    await erase(eraseOf({ contacts: [email], receivedAt }), unit.context);
    // An older one that comes late changes nothing.
    await erase(eraseOf({ contacts: [email], receivedAt: ago(9_000), key: 'older' }), unit.context);
    await asked(unit, 'y', erika);
    expect(await unit.store.get('y.1')).toMatchObject({ state: 'asked' });
    // All that came in before it was done is forgotten.
    const later = new Date(receivedAt.getTime() + 1);
    expect(await unit.context.erasures.forgotten.since(later, [`contact:${email}`])).toHaveLength(1);
  });
});

describe('an answer that is written while its person is masked', () => {
  test.each([false, true])('it is taken off again, and the proof says so (others were written: %s)', async (isMore) => {
    const vendor = new ToyVendor();
    const unit = unitContext({ vendor });
    const { context, store } = unit;
    const answer = async (id: string) => {
      const seen = { grade: 3, comment: null, seenAt: new Date(), version: 1 };
      await store.update(id, (now) => ({ journey: step(now, 'answered', new Date(), { answer: seen }), trace: [] }));
      await writeBack({ journeyId: id }, context);
    };
    await asked(unit, 'm', erika);
    await asked(unit, 'n', erika);
    if (isMore) await answer('n.1');
    const racing: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        mask: async (contact) => {
          await answer('m.1');
          return await context.feedback.mask(contact);
        },
      }),
    };
    await erase(eraseOf({ contacts: [email] }), racing);
    expect((await store.get('m.1'))?.erasedAt).toBeInstanceOf(Date);
    expect(vendor.forgotten?.toSorted()).toEqual(isMore ? ['m', 'n'] : ['m']);
    expect(await context.erasures.all()).toMatchObject([{ writtenAnswers: 'none left' }]);
  });
});

describe('a journey that can not be read', () => {
  async function broken(unit: UnitContext): Promise<void> {
    await asked(unit, 'a', erika);
    await asked(unit, 'broken', erika);
    await asked(unit, 'z');
    await redis.handle.client.set('{cl:calm}:journey:broken.1', '9 asked broken');
  }
  const ways: [what: string, who: object][] = [
    ['everybody', { everybody: true }],
    ['a contact', { contacts: [email] }],
    ['a person', { personIds: ['p-7'] }],
    ['a record', { recordIds: ['a', 'broken'] }],
  ];
  test.each(ways)('it keeps nobody else from being erased, and the proof names it (%s)', async (_, who) => {
    const unit = unitContext();
    await broken(unit);
    expect(await erase(eraseOf(who), unit.context)).toEqual({ do: 'done' });
    expect(await unit.context.store.get('a.1')).toMatchObject({ erasedAt: expect.any(Date) });
    expect(await unit.context.erasures.all()).toMatchObject([{ unreadable: ['calm/broken.1'] }]);
    expect(unit.told.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { unreadable: ['calm/broken.1'] } },
    ]);
  });

  test('it is left out of a list, and the log names it', async () => {
    const unit = unitContext();
    await broken(unit);
    const listed = (await all(unit.context.store.queries.newest(['asked']))).map(({ id }) => id);
    expect(listed.toSorted()).toEqual(['a.1', 'z.1']);
    expect(unit.told.at(-1)).toMatchObject({ level: 'warn', fields: { journey: 'calm/broken.1' } });
  });
});

describe('the proof of an erasure', () => {
  /** The first call dies; then it works. */
  function dyingOnce<A extends unknown[], R>(work: (...args: A) => Promise<R>, when: 'before' | 'after') {
    let isFirst = true;
    return async (...args: A): Promise<R> => {
      const dies = isFirst;
      isFirst = false;
      if (dies && when === 'before') throw new Error('killed');
      const result = await work(...args);
      if (dies) throw new Error('killed');
      return result;
    };
  }
  const deaths: [where: string, dying: (context: SourceContext) => SourceContext][] = [
    [
      'when the person was masked',
      (context) => {
        const { contacts } = context;
        const forgetAsked = dyingOnce(
          (...args: Parameters<typeof contacts.forgetAsked>) => contacts.forgetAsked(...args),
          'before',
        );
        return { ...context, contacts: overriding(contacts, { forgetAsked }) };
      },
    ],
    [
      'when the journeys were erased',
      (context) => {
        const { erasures } = context;
        const end = dyingOnce((...args: Parameters<typeof erasures.end>) => erasures.end(...args), 'before');
        return { ...context, erasures: overriding(erasures, { end }) };
      },
    ],
  ];
  test.each(deaths)('it counts also what an attempt did whose process died %s', async (_, dying) => {
    const unit = unitContext();
    await asked(unit, 'a', erika);
    await asked(unit, 'b', { ...erika, customer: { email } });
    const context = dying(unit.context);
    const event = eraseOf({ contacts: [email] });
    await expect(erase(event, context)).rejects.toThrow('killed');
    expect(await context.erasures.all()).toEqual([]);
    await erase(event, context);
    expect(await context.erasures.all()).toMatchObject([{ journeys: 2, contacts: 1, requestsMasked: 2 }]);
    const left = await redis.handle.client.keys('{cl:calm}:erasure:*');
    expect([left, await context.erasures.open()]).toEqual([[], []]);
  });

  test('it stays as it was when the event comes twice', async () => {
    const unit = unitContext();
    await asked(unit, 'a', erika);
    for (let i = 0; i < 2; i++) await erase(eraseOf({ personIds: ['p-7'] }), unit.context);
    expect(await unit.context.erasures.all()).toMatchObject([{ journeys: 1, contacts: 1, requestsMasked: 1 }]);
  });
});

describe('an alert of work that was given up', () => {
  const general = `alerts: { url: "http://127.0.0.1:9/", secrets: ["whsec_${Buffer.alloc(32, 1).toString('base64')}"] }`;
  const alerted = async () =>
    (await redis.handle.client.hvals('{cl}:alerts:what')).map((text): string => JSON.parse(text).remedy);

  const rows: [what: string, remedy: string, expected: RegExp][] = [
    ['a closing', remedies.plan(eventOf('a')), /journeys replay/],
    ['a reopening', remedies.plan(eventOf('a', { kind: 'changed' })), /events replay/],
    ['asking', remedies.ask(), /journeys replay.*journeys resolve/],
    ['writing back', remedies.writeBack(), /journeys replay/],
    ['an erasure', remedies.erase(), /contact erasures retry/],
  ];
  test.each(rows)('it names what helps with %s', (_, remedy, expected) => expect(remedy).toMatch(expected));

  test('it tells to have a person erased again, not to replay journeys', async () => {
    const unit = unitContext({ general });
    await asked(unit, 'a', erika);
    service.standin.faults.add({ method: 'POST', path: '/mask$', status: 422, body: { detail: 'No.' } });
    const { jobs, stages } = unit.pipeline;
    await jobs.erase.add([{ id: 'erase', data: eraseOf({ contacts: [email] }) }]);
    stages.erase.start();
    const [remedy] = await until(async () => (await alerted()).length > 0 && (await alerted()));
    expect(remedy).toMatch(/closeloop contact erasures/);
    expect(remedy).not.toMatch(/journeys replay/);
  });
});
