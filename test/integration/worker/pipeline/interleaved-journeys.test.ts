import { describe, expect, test } from 'vitest';
import type { Reservation } from '../../../../worker/journey/contacts.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../worker/pipeline/clock.ts';
import { erase } from '../../../../worker/pipeline/erase/erase.ts';
import type { RecordJob, SurveyJob } from '../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../worker/pipeline/source-pipeline.ts';
import { sweep } from '../../../../worker/pipeline/sweep.ts';
import { writeBack } from '../../../../worker/pipeline/write-back/write-back.ts';
import {
  afterReading,
  anyone,
  asking,
  closedAs,
  eraseOf,
  eventOf,
  goesAhead,
  gradedElsewhere,
  hasAsked,
  hour,
  later,
  open,
  overriding,
  slowCampaign,
  useManual,
} from '../../../support/manual.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const service = useManual();
const { unitContext, redis } = service;
const create = { method: 'POST', path: '/api/appeals/$' };

describe('a record that is reopened while its customer is being asked', () => {
  const upsets: [what: string, event: Partial<RecordJob>, record: object][] = [
    ['reopened', { kind: 'changed' }, open],
    ['spam', { kind: 'changed' }, { state: { is: 'out', why: 'spam' } }],
    ['merged', { kind: 'changed', mergedInto: 'other' }, open],
  ];
  test.each(upsets)(
    'its request is cancelled once it is known, though the record was %s during a read',
    async (_, event, record) => {
      slowCampaign(service.standin);
      const unit = unitContext(later);
      const { context, store, vendor } = unit;
      vendor.close('r', anyone);
      await plan(eventOf('r'), context);
      vendor.close('r', { ...anyone, ...record });
      const ahead = async () => {
        if ((await store.get('r.1'))?.state === 'waiting') await goesAhead(context, 'r.1');
      };
      const racing: SourceContext = {
        ...afterReading(context, ahead),
        store: overriding(store, {
          records: overriding(store.records, {
            journeysOf: async (id: string) => {
              const journeys = await store.records.journeysOf(id);
              await ahead();
              return journeys;
            },
          }),
        }),
      };
      const changed = eventOf('r', event);
      expect(await plan(changed, racing)).toMatchObject({ do: 'wait' });
      const request = await context.feedback.create({
        campaign: 112,
        contact: { kind: 'email', value: 'erika@example.com' },
        customFields: {},
      });
      await hasAsked(context, 'r.1', request.id);
      expect(await plan(changed, context)).toEqual({ do: 'done' });
      if (event.mergedInto === undefined) {
        expect(await store.get('r.1')).toMatchObject({ state: 'cancelled' });
        expect(service.standin.requests().map(({ status }) => status)).toEqual(['Cancelled']);
      } else {
        expect(await store.get('r.1')).toMatchObject({ state: 'asked', currentId: 'other' });
      }
    },
  );

  test('its request is cancelled, though it came to be between two looks at the journey', async () => {
    slowCampaign(service.standin);
    const unit = unitContext(later);
    const { context, store, vendor } = unit;
    vendor.close('r', anyone);
    await plan(eventOf('r'), context);
    vendor.close('r', { ...anyone, ...open });
    const racing = afterReading(context, async () => {
      const contact = { kind: 'email', value: 'erika@example.com' } as const;
      const { id: requestId } = await context.feedback.create({ campaign: 112, contact, customFields: {} });
      await goesAhead(context, 'r.1');
      await hasAsked(context, 'r.1', requestId);
    });
    await plan(eventOf('r', { kind: 'changed' }), racing);
    expect(await store.get('r.1')).toMatchObject({ state: 'cancelled' });
    expect(service.standin.requests().map(({ status }) => status)).toEqual(['Cancelled']);
  });

  test('its trace says that it is too late where the service refuses to cancel in whatever way', async () => {
    for (const status of [403, 409, 410, 422]) {
      const unit = unitContext();
      const id = `r${status}`;
      await asking(unit, id);
      unit.vendor.close(id, { ...anyone, ...open });
      service.standin.faults.add({ method: 'POST', path: '/cancel$', status, body: { detail: 'No.' } });
      expect(await plan(eventOf(id, { kind: 'changed' }), unit.context)).toEqual({ do: 'done' });
      expect(await unit.store.get(`${id}.1`)).toMatchObject({ state: 'asked' });
      expect(await unit.trace(`${id}.1`)).toMatch(/too late/);
    }
  });
});

describe('an erasure', () => {
  test('it comes again for a journey that began to ask meanwhile, and forgets that one too', async () => {
    const { context, store, vendor } = unitContext();
    vendor.close('e', anyone);
    await plan(eventOf('e'), context);
    const racing: SourceContext = {
      ...context,
      snapshots: {
        ...context.snapshots,
        isUsed: async () => {
          if ((await store.get('e.1'))?.state === 'waiting') await goesAhead(context, 'e.1');
          return false;
        },
      },
    };
    racing.sources = async () => [racing];
    await erase(eraseOf({ recordIds: ['e'] }), racing);
    expect(await context.erasures.open()).toMatchObject([{ held: [expect.stringMatching(/asking at this moment/)] }]);
    expect(await context.erasures.all()).toEqual([]);
    const contact = { kind: 'email', value: 'erika@example.com' } as const;
    await hasAsked(context, 'e.1', (await context.feedback.create({ campaign: 12, contact, customFields: {} })).id);
    expect(await erase(eraseOf({ recordIds: ['e'] }), racing)).toEqual({ do: 'done' });
    expect(await store.get('e.1')).toMatchObject({ erasedAt: expect.any(Date) });
    expect(await context.erasures.all()).toMatchObject([{ journeys: 1, contacts: 1, requestsMasked: 1 }]);
  });

  test('it forgets the snapshot of a record that has no journey', async () => {
    const { context } = unitContext();
    await context.snapshots.save('t', new Date(Date.now() - 1_000), { mail: 'erika@example.com' });
    await erase(eraseOf({ recordIds: ['t'] }), context);
    expect(JSON.stringify(await context.snapshots.of(['t']))).not.toContain('erika');
  });

  test('it masks the person though the service refuses to cancel their request', async () => {
    const unit = unitContext();
    await asking(unit, 'e');
    service.standin.faults.add({ method: 'POST', path: '/cancel$', status: 422, body: { detail: 'No.' } });
    expect(await erase(eraseOf({ contacts: ['erika@example.com'] }), unit.context)).toEqual({ do: 'done' });
    expect(await unit.context.erasures.all()).toMatchObject([{ requestsMasked: 1 }]);
  });
});

describe('what is told of a record', () => {
  test('it is kept also when the closing has a journey, the newest by its time, and not after an erasure', async () => {
    const { context, store, vendor } = unitContext();
    vendor.close('n', { ...anyone, ...closedAs('one') });
    const at = (ms: number) => new Date(Date.now() + ms);
    await plan(eventOf('n', { closing: 'one', at: at(0), snapshot: { store: 'Tartu' } }), context);
    expect(await store.get('n.1')).toMatchObject({ state: 'waiting' });
    await plan(eventOf('n', { closing: 'one', at: at(1), snapshot: { store: 'Narva' } }), context);
    expect(await context.snapshots.of(['n'])).toEqual([{ store: 'Narva' }]);
    await store.update('n.1', (now) => ({ journey: { ...now, erasedAt: new Date() }, trace: [] }));
    await plan(eventOf('n', { closing: 'one', at: at(2), snapshot: { store: 'Valga' } }), context);
    expect(await context.snapshots.of(['n'])).toEqual([{ store: 'Narva' }]);
  });
});

describe('a grade that was given elsewhere', () => {
  test('the newest is what the service has in the end, though an older one overtook it', async () => {
    const rule = '{ name: all, campaign: 15, contact: ticket.id }';
    const unit = unitContext({ rule });
    const { context, store, vendor } = unit;
    vendor.close('g');
    await plan(eventOf('g'), context);
    await ask({ journeyId: 'g.1' }, context);
    const slow: SourceContext = {
      ...context,
      feedback: {
        ...context.feedback,
        grade: async (id, grade) => {
          await plan(gradedElsewhere('g', 2_000, 5), context);
          await context.feedback.grade(id, grade);
        },
      },
    };
    const first = await plan(gradedElsewhere('g', 1_000, 1), slow);
    if (first.do === 'wait') await plan(gradedElsewhere('g', 1_000, 1), context);
    expect(service.standin.requests()).toMatchObject([{ grade: 5 }]);
    expect(await store.get('g.1')).toMatchObject({ given: { grade: 5, delivered: true } });
  });
});

test('a grade for a journey that is to ask much later waits until then, and does not come every second', async () => {
  const { context, vendor } = unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, delay: 3h }' });
  vendor.close('d', anyone);
  await plan(eventOf('d'), context);
  const { at, key, what, receivedAt } = eventOf('d');
  const graded = { kind: 'external-grade', recordId: 'd', grade: 1, comment: null, at, key, what, receivedAt } as const;
  const result = await plan(graded, context);
  expect(result.do === 'wait' ? result.delayMs : 0).toBeGreaterThan(2 * hour);
});

describe('answers to a survey', () => {
  const survey = (requestId: string, receivedAt = new Date()): SurveyJob => ({
    kind: 'survey',
    requestId,
    answers: { q1: 'yes' },
    at: new Date(),
    key: 'survey',
    what: 'survey',
    receivedAt,
  });
  test('they wait for a journey that does not know its request yet, and not for ever', async () => {
    const unit = unitContext();
    const { context, store, vendor } = unit;
    vendor.close('s', anyone);
    await plan(eventOf('s'), context);
    await goesAhead(context, 's.1');
    expect(await plan(survey('4711'), context)).toMatchObject({ do: 'wait' });
    await hasAsked(context, 's.1', '4711');
    expect(await plan(survey('4711'), context)).toEqual({ do: 'done' });
    expect(await store.get('s.1')).toMatchObject({ state: 'answered', survey: { answers: { q1: 'yes' } } });
    expect(await plan(survey('4712', new Date(Date.now() - 25 * hour)), context)).toEqual({ do: 'done' });
  });
});

describe('"no answer"', () => {
  test('it leaves a journey alone whose person was forgotten while it was being written', async () => {
    const vendor = new ToyVendor();
    vendor.writesNoAnswer = true;
    const unit = unitContext({ vendor });
    const { context, store } = unit;
    await asking(unit, 'f');
    await store.update('f.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
    vendor.beforeWriteBack = async () => {
      await store.update('f.1', (now) => {
        const answered = step(now, 'answered', new Date());
        return { journey: { ...step(answered, 'written', new Date()), erasedAt: new Date() }, trace: [] };
      });
    };
    await writeBack({ journeyId: 'f.1', noAnswer: true }, context);
    expect(await store.get('f.1')).toMatchObject({ state: 'written' });
  });

  test('it does not stay on the record when the answer came while it was being written', async () => {
    const vendor = new ToyVendor();
    vendor.writesNoAnswer = true;
    const unit = unitContext({ vendor });
    const { context, store, pipeline } = unit;
    await asking(unit, 'l');
    await store.update('l.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
    let isFirst = true;
    vendor.beforeWriteBack = async () => {
      if (!isFirst) return;
      isFirst = false;
      // The answer is collected and written by others before this call of ours gets through.
      await store.update('l.1', (now) => {
        const answer = { grade: 4, comment: null, seenAt: new Date(), version: 1 };
        return { journey: step(now, 'answered', new Date(), { answer }), trace: [] };
      });
      await writeBack({ journeyId: 'l.1' }, context);
      expect(await store.get('l.1')).toMatchObject({ state: 'written' });
    };
    await writeBack({ journeyId: 'l.1', noAnswer: true }, context);
    for (const { data } of await pipeline.jobs.writeBack.queue.getJobs()) await writeBack(data, context);
    expect(vendor.written.at(-1)).toMatchObject({ status: 'answered', grade: 4 });
    expect(await store.get('l.1')).toMatchObject({ state: 'written' });
  });
});

describe('an attempt to ask', () => {
  test('it is not counted among the unknown ones when the service refused it', async () => {
    const unit = unitContext();
    const { store, vendor } = unit;
    // Each time when somebody may find out whether the service answers again.
    const context: SourceContext = { ...unit.context, untilService: async () => 0 };
    vendor.close('a', anyone);
    await plan(eventOf('a'), context);
    service.standin.faults.add({ ...create, status: 429, body: { detail: 'Wait.' }, times: 9 });
    for (let i = 0; i < 9; i++) await ask({ journeyId: 'a.1' }, context).catch(() => undefined);
    service.standin.faults.add({ ...create, then: 'cut' });
    for (let i = 0; i < 4 && (await store.get('a.1'))?.state !== 'asked'; i++) {
      await store.update('a.1', (now) =>
        now.intent
          ? { journey: { ...now, intent: { ...now.intent, searchAfter: new Date(0) } }, trace: [] }
          : undefined,
      );
      await ask({ journeyId: 'a.1' }, context);
    }
    expect(await store.get('a.1')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it leaves no note of having asked the person when it is cancelled before it is sent', async () => {
    const unit = unitContext();
    const { context, store, vendor } = unit;
    vendor.close('c', anyone);
    await plan(eventOf('c'), context);
    const racing: SourceContext = {
      ...context,
      contacts: overriding(context.contacts, {
        reserve: async (request: Reservation) => {
          const held = await context.contacts.reserve(request);
          await store.update('c.1', (now) =>
            now.state === 'waiting' ? { journey: step(now, 'cancelled', new Date()), trace: [] } : undefined,
          );
          return held;
        },
      }),
    };
    await ask({ journeyId: 'c.1' }, racing);
    expect(await store.get('c.1')).toMatchObject({ state: 'cancelled' });
    expect(service.standin.requests()).toEqual([]);
    const keys = await redis.handle.client.keys('{cl}:notes:*');
    expect(keys).toEqual([]);
  });

  test('it leaves no note when its record is reopened after an attempt that came to nothing', async () => {
    const unit = unitContext();
    const { context, store, vendor } = unit;
    vendor.close('n', anyone);
    await plan(eventOf('n'), context);
    service.standin.faults.add({ ...create, then: 'cut' });
    await ask({ journeyId: 'n.1' }, context);
    await store.update('n.1', (now) =>
      now.intent ? { journey: { ...now, intent: { ...now.intent, searchAfter: new Date(0) } }, trace: [] } : undefined,
    );
    await ask({ journeyId: 'n.1' }, context);
    expect(await store.get('n.1')).toMatchObject({ state: 'waiting' });
    vendor.close('n', { ...anyone, ...open });
    await ask({ journeyId: 'n.1' }, context);
    expect(await store.get('n.1')).toMatchObject({ state: 'cancelled' });
    expect(await redis.handle.client.keys('{cl}:notes:*')).toEqual([]);
  });
});

describe('a record whose earlier journeys are removed', () => {
  // Its journeys are numbered from 1 again.
  const ways: [how: string, campaign: number, fault: boolean][] = [
    ['by the note of its contact', 12, false],
    ['by the note of its contact, with the marker field', 40, false],
    ['by the marker field after an unknown outcome', 40, true],
  ];
  test.each(ways)('its new closing asks, and takes no old request for its own %s', async (_, campaign, fault) => {
    service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
    const { context, store, vendor } = unitContext({
      rule: `{ name: all, campaign: ${campaign}, contact: customer.email }`,
    });
    vendor.close('o', closedAs('one', new Date(Date.now() - hour)));
    await plan(eventOf('o'), context);
    await ask({ journeyId: 'o.1' }, context);
    const first = (await store.get('o.1')) ?? expect.fail('no journey');
    expect(first.state).toBe('asked');
    await store.forget(first);

    const muchLater = new Date(Date.now() + 1_000 * hour);
    service.standin.moveClock({ now: muchLater });
    vendor.close('o', closedAs('two', muchLater));
    const clock = { ...liveClock, now: () => new Date(muchLater.getTime() + 1_000), until: () => 0 };
    const then: SourceContext = { ...context, clock };
    await plan(eventOf('o'), then);
    if (fault) service.standin.faults.add({ ...create, then: 'cut' });
    for (let i = 0; i < 4 && (await store.get('o.1'))?.state !== 'asked'; i++) await ask({ journeyId: 'o.1' }, then);
    const second = await store.get('o.1');
    expect(second).toMatchObject({ state: 'asked', closing: 'two' });
    expect(second?.requestId).not.toBe(first.requestId);
    expect(service.standin.requests({ contact: 'o@example.com' })).toHaveLength(2);
  });
});

describe('a journey that is planned again though its record has been closed again since', () => {
  test('it ends, and leaves the later one alone', async () => {
    const unit = unitContext();
    const { context, store, vendor, events: queued } = unit;
    vendor.close('p', { ...closedAs('one'), customer: {} });
    await plan(eventOf('p'), context);
    vendor.close('p', { ...anyone, ...closedAs('two') });
    await plan(eventOf('p'), context);
    await ask({ journeyId: 'p.2' }, context);
    expect([(await store.get('p.1'))?.state, (await store.get('p.2'))?.state]).toEqual(['skipped', 'asked']);
    const longAgo = new Date(Date.now() - hour);
    await store.update('p.1', (now) => ({ journey: step(now, 'received', longAgo), trace: [] }));
    await sweep(context, { expireAfterMs: 1e12, retentionMs: 1e12 });
    const again = await queued();
    expect(again).toHaveLength(1);
    for (const event of again) await plan({ ...event, at: new Date(), receivedAt: new Date() }, context);
    expect(await store.get('p.1')).toMatchObject({ state: 'cancelled', why: expect.stringMatching(/closed again/) });
    expect(await store.get('p.2')).toMatchObject({ state: 'asked' });
  });
});
