import { describe, expect, test } from 'vitest';
import { bucketOf } from '../../../../../worker/journey/journey-keys.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { begin, erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { sweep } from '../../../../../worker/pipeline/sweep.ts';
import { giveUpWriteBack, writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { eventOf, hour, intentNow, jobsOf, useManual } from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import {
  ago,
  answered,
  asked,
  email,
  eraseOf,
  isErased,
  sentTo as sentToBy,
} from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const sentTo = () => sentToBy(service.standin);

describe('the id of a record', () => {
  const left = (count: string) => [
    expect.stringMatching(new RegExp(`: the ids? of ${count}, in clear in the names of journeys`)),
  ];
  const rows: [what: string, isFree: boolean, ids: string[], kept: unknown[]][] = [
    ['a phone number without its country', true, ['55512345'], left('1 record')],
    ['a name', true, ['Kati Karu', 'kati-karu'], left('2 records')],
    ['a digest that its connector made', true, ['digest-1'], []],
    ['a number of the vendor', false, ['41960'], []],
  ];
  test.each(rows)('that is %s is left in clear as the proof says', async (_what, isFree, ids, kept) => {
    const vendor = new ToyVendor();
    if (isFree) vendor.mayNamePerson = (id) => !id.startsWith('digest');
    const unit = unitContext({ vendor });
    for (const id of ids) {
      unit.vendor.close(id, { customer: { email } });
      await plan(eventOf(id, { receivedAt: ago(1_000) }), unit.context);
    }
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const [proof] = await unit.context.erasures.all();
    expect(proof?.journeys).toBe(ids.length);
    expect(proof?.kept.filter((one) => one.includes('in clear'))).toEqual(kept);
    for (const id of ids) expect(JSON.stringify(proof)).not.toContain(id);
  });
});

describe('what was written on records', () => {
  test('an answer that the vendor took without a word, until it was given up, is taken off (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    unit.vendor.beforeWriteBack = async (items) => {
      unit.vendor.written.push(...items);
      throw new Error('timed out');
    };
    await writeBack({ journeyId: 'a.1' }, unit.context).catch(() => undefined);
    await giveUpWriteBack({ journeyId: 'a.1' }, 'timed out', unit.context);
    expect(unit.vendor.written).toHaveLength(1);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(unit.vendor.forgotten).toEqual(['a']);
    expect(await unit.context.erasures.all()).toMatchObject([{ writtenAnswers: 'none left' }]);
  });

  test('an answer is taken off by the id that the vendor knows, though only the erased snapshot told it', async () => {
    const vendor = new ToyVendor();
    vendor.vendorIds = async (ids) =>
      (await unit.context.snapshots.of(ids)).map((one) => (one === undefined ? undefined : Object(one).sender));
    const unit = unitContext({ vendor });
    await unit.context.snapshots.save('a', ago(2_000), { sender: email, shape: {} });
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    await writeBack({ journeyId: 'a.1' }, unit.context);
    const event = eraseOf({ contacts: [email] });
    // Killed once, after the snapshot was erased.
    vendor.failures.forget.push(new Error('killed'));
    await expect(erase(event, unit.context)).rejects.toThrow('killed');
    expect(await unit.context.snapshots.of(['a'])).toEqual([undefined]);
    await erase(event, unit.context);
    expect(vendor.forgotten).toEqual([email]);
  });

  test('an answer that was written before a merge is taken off both records (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    await writeBack({ journeyId: 'a.1' }, unit.context);
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'r' }), unit.context);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(unit.vendor.forgotten?.toSorted()).toEqual(['a', 'r']);
  });

  test.each([false, true])(
    'that nobody answered is taken off, though it was written while they were forgotten (killed then: %s) (audit trace)',
    async (isKilled) => {
      const vendor = Object.assign(new ToyVendor(), { writesNoAnswer: true });
      const unit = unitContext({ vendor });
      await asked(unit, 'a', { email });
      await unit.store.update('a.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
      vendor.beforeWriteBack = async (items) => {
        await erase(eraseOf({ contacts: [email] }), unit.context);
        vendor.forgotten?.splice(0);
        if (isKilled) {
          vendor.written.push(...items);
          throw new Error('killed');
        }
      };
      await writeBack({ journeyId: 'a.1', noAnswer: true }, unit.context).catch(() => undefined);
      expect(vendor.written).toHaveLength(1);
      if (isKilled) await writeBack({ journeyId: 'a.1', noAnswer: true }, unit.context);
      for (const { data } of await unit.pipeline.jobs.erase.queue.getJobs()) await unit.pipeline.stages.erase.run(data);
      expect(vendor.forgotten).toEqual(['a']);
    },
  );
});

describe('what is told of what stays', () => {
  test('answers that earlier settings wrote elsewhere, and custom fields at the service (audit trace)', async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await answered(unit, 'a.1');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const kept = expect.arrayContaining([
      expect.stringMatching(/^the service: .*custom fields that are not marked as personal data/),
      expect.stringMatching(/^answers that were written by earlier settings/),
    ]);
    expect(await unit.context.erasures.all()).toMatchObject([{ writtenAnswers: 'none left', kept }]);
  });
});

describe('what can not be read', () => {
  test("another record's snapshot is told, and keeps nobody from being erased (audit trace)", async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await unit.context.snapshots.save('t', ago(500), { shape: { mail: 'other@example.com' } });
    await redis.handle.client.hset('{cl:calm}:snapshot:t', 'sealed', 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect([sentTo(), await isErased(unit, 'a.1')]).toEqual([['***'], true]);
    expect(await unit.context.erasures.all()).toMatchObject([{ unreadable: ['the snapshot of calm/t'] }]);
  });

  test('the snapshot of a record of theirs goes (audit trace)', async () => {
    const unit = unitContext();
    const { source, snapshots } = unit.context;
    // As a connector that knows the vendor's ids by its records' snapshots alone.
    source.vendorIds = async (ids) => await Promise.all(ids.map(async (id) => String((await snapshots.of([id]))[0])));
    await asked(unit, 'a', { email });
    await snapshots.save('a', ago(500), { shape: { mail: email } });
    await redis.handle.client.hset('{cl:calm}:snapshot:a', 'sealed', 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await redis.handle.client.hget('{cl:calm}:snapshot:a', 'sealed')).toBe('');
    expect(await isErased(unit, 'a.1')).toBe(true);
  });

  test('the note of when they were asked last goes (audit trace)', async () => {
    const unit = unitContext();
    unit.vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), unit.context);
    const address = unit.context.contacts.addressOf(email);
    const notes = `{cl}:notes:${bucketOf(address, 'notes')}`;
    await redis.handle.client.hset(notes, address, 'garbage');
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect([await isErased(unit, 'a.1'), await redis.handle.client.exists(notes)]).toEqual([true, 0]);
    expect(await unit.context.erasures.all()).toMatchObject([{ journeys: 1 }]);
  });
});

describe('what would stay for good', () => {
  test("a survey's answers that came once the journey was erased do not wait with a stage that is stopped (audit trace)", async () => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    const { requestId = '' } = (await unit.store.get('a.1')) ?? {};
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const receivedAt = new Date();
    const survey = { kind: 'survey', requestId, answers: { q1: 'I am Erika' }, what: 'survey', key: 's' } as const;
    await unit.pipeline.jobs.plan.add([{ id: 'late', data: { ...survey, at: receivedAt, receivedAt } }]);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const [left] = await jobsOf(unit.pipeline.jobs.plan);
    expect(left).toHaveProperty('answers', {});
  });

  test('the contact that was looked for before another was chosen (audit trace)', async () => {
    const { context, store, vendor } = unitContext();
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    const searched = { at: ago(500), intent: intentNow(), contact: email, numAppeals: 0, lastAppeal: null };
    await store.update('a.1', (now) => ({ journey: step({ ...now, searched }, 'received', new Date()), trace: [] }));
    const { state } = vendor.records.get('a') ?? expect.fail('no record');
    vendor.close('a', { customer: { email: 'second@example.com' }, state });
    await plan(eventOf('a', { receivedAt: ago(500) }), context);
    expect(await store.get('a.1')).toMatchObject({ state: 'waiting', contact: { value: 'second@example.com' } });
    await erase(eraseOf({ contacts: [email] }), context);
    expect(JSON.stringify(await store.get('a.1'))).not.toContain(email);
  });

  test('the name of a closing, which is in the words of its vendor (audit trace)', async () => {
    const unit = unitContext();
    const state = { is: 'closed' as const, closing: `closed for ${email}`, closedAt: ago(2_000) };
    await asked(unit, 'a', { email }, { state });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(JSON.stringify(await unit.store.get('a.1'))).not.toContain(email);
    await plan(eventOf('a', { receivedAt: new Date() }), unit.context);
    expect((await unit.store.records.journeysOf('a')).map(({ id }) => id)).toEqual(['a.1']);
  });

  test('a comment that was given elsewhere is not kept with a journey that no contact leads to (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: none, campaign: 15, when: "false", contact: nobody.email }' });
    unit.vendor.close('a', { customer: { email } });
    const graded = { kind: 'external-grade', recordId: 'a', grade: 1, comment: 'I am Erika', what: 'graded' } as const;
    await plan({ ...graded, at: new Date(), key: 'g', receivedAt: ago(1_000) }, unit.context);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const given = (await unit.store.get('a.1'))?.given;
    expect(given).toMatchObject({ grade: 1, comment: null });
    expect(await unit.trace('a.1')).toMatch(/its comment is not kept/);
  });

  test('nor one that was given for the record that theirs was merged into (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 15, contact: customer.email }' });
    const { context, vendor, store } = unit;
    await asked(unit, 'a', { email });
    vendor.close('r', { customer: { email } });
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'r' }), context);
    const graded = { kind: 'external-grade', recordId: 'r', grade: 1, comment: 'I am Erika', what: 'graded' } as const;
    const waiting = { ...graded, at: new Date(), key: 'g', receivedAt: ago(1_000) };
    await erase(eraseOf({ contacts: [email] }), context);
    await plan(waiting, context);
    for (const id of ['a.1', 'r.1']) {
      const journey = await store.get(id);
      expect(journey).toMatchObject({ erasedAt: expect.any(Date) });
      expect(journey).not.toHaveProperty('given');
    }
  });

  test('the digests of those who were forgotten go when their time is up (audit trace)', async () => {
    const { context } = unitContext({ general: 'retention: { journeys: 90d }' });
    await erase(eraseOf({ contacts: [email] }), context);
    const left = await redis.handle.client.pttl('{cl:calm}:erasures:forgotten');
    expect(Math.round(left / 86_400_000)).toBe(90);
  });
});

describe('an unreadable job in the queue', () => {
  const broken: [what: string, data: string][] = [
    ['no JSON', '{"kind":"closed"'],
    ['of another version', '{"kind":"closed-2","snapshot":{"mail":"erika@example.com"}}'],
  ];
  test('what waits in a queue that is stopped is found like any other (audit 4)', async () => {
    const unit = unitContext();
    const { queue } = unit.pipeline.jobs.plan;
    const snapshot = { shape: { customer: { mail: email } } };
    await unit.pipeline.jobs.plan.add([{ id: 'before', data: eventOf('w', { receivedAt: ago(500), snapshot }) }]);
    await queue.pause();
    await unit.pipeline.jobs.plan.add([{ id: 'after', data: eventOf('v', { receivedAt: ago(500), snapshot }) }]);
    await erase(eraseOf({ contacts: [email] }), unit.context);
    const waiting = await jobsOf(unit.pipeline.jobs.plan);
    expect([waiting.length, waiting.filter((one) => 'snapshot' in one)]).toEqual([2, []]);
  });

  test.each(broken)('it keeps no erasure from its end, and is told (%s) (audit 4)', async (_, data) => {
    const unit = unitContext();
    await asked(unit, 'a', { email });
    await unit.pipeline.jobs.plan.add([{ id: 'odd', data: eventOf('odd') }]);
    await redis.handle.client.hset('{cl:calm}:plan:odd', 'data', data);
    await unit.context.snapshots.save('t', ago(500), { shape: { customer: { mail: email } } });
    await erase(eraseOf({ contacts: [email] }), unit.context);
    expect(await isErased(unit.context, 'a.1')).toBe(true);
    expect(await unit.context.snapshots.of(['t'])).toEqual([undefined]);
    expect(await unit.context.erasures.all()).toMatchObject([{ unreadable: ['job odd of stage plan of calm'] }]);
    expect(unit.told.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

describe('what was written on records of a source that this process does not have', () => {
  test('it is taken off by a process that has it, and the proof says so (audit 7)', async () => {
    const knowing = unitContext({ source: 'calm' });
    const other = unitContext({ source: 'other' });
    await knowing.engine.noteSources();
    await other.engine.noteSources();
    await asked(knowing, 'a', { email });
    const answer = { grade: 3, comment: null, seenAt: new Date(), version: 1 };
    await knowing.store.update('a.1', (now) => ({ journey: step(now, 'answered', new Date(), { answer }), trace: [] }));
    await writeBack({ journeyId: 'a.1' }, knowing.context);
    await erase(eraseOf({ contacts: [email] }), other.context);
    const [left] = await knowing.context.erasures.open();
    const kept = expect.arrayContaining([expect.stringContaining(`taken off as the erasure ${left?.id}`)]);
    expect(await other.context.erasures.all()).toMatchObject([{ journeys: 1, kept }]);
    expect(knowing.vendor.forgotten).toEqual([]);
    for (const { data } of await knowing.pipeline.jobs.erase.queue.getJobs())
      await knowing.pipeline.stages.erase.run(data);
    expect(knowing.vendor.forgotten).toEqual(['a']);
    expect(await knowing.context.erasures.all()).toMatchObject([{ writtenAnswers: 'none left' }]);
  });

  test('one that was asked for through a source that is gone is done all the same (audit 3)', async () => {
    const knowing = unitContext({ source: 'calm' });
    const other = unitContext({ source: 'other' });
    await knowing.engine.noteSources();
    await asked(other, 'a', { email });
    const asking = eraseOf({ contacts: [email], receivedAt: ago(hour) });
    await begin(asking, knowing.context);
    const [absent] = await other.engine.absent.all();
    const { context, jobs, stages } = absent?.pipeline ?? expect.fail('no absent source');
    await sweep(context, { expireAfterMs: 1e12, retentionMs: 1e12, isGone: true });
    for (const { data } of await jobs.erase.queue.getJobs()) await stages.erase.run(data);
    expect(await isErased(other.context, 'a.1')).toBe(true);
    expect(sentTo()).toEqual(['***']);
  });
});
